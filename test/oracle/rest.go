package oracle

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// silence is how long the operator must not send anything for the world to count as at rest.
	silence = 400 * time.Millisecond
	// longSilence is the same where silence is what is judged. It is longer than the operator's longest back-off.
	longSilence = 1200 * time.Millisecond
	// interruptions is how often the long silence may be broken by what a busy machine held up.
	interruptions = 3
	// stuck is the silence after which a state that is not as expected will never be.
	stuck = 6 * time.Second
	// afterOutage takes the place of stuck for as long after an API server's outage: clients back off from it.
	afterOutage = 15 * time.Second
	// restWithin bounds the wait for rest.
	restWithin = time.Minute
	// pollEvery is how often the wait looks.
	pollEvery = 25 * time.Millisecond
)

// rest waits until everything is as expected and the operator is silent, then judges its writes since the last rest.
// Strictly, it also makes sure that the silence lasts.
func (r *run) rest(ctx context.Context, strictly bool) error {
	broken := 0
	for broken < interruptions {
		if err := r.settleAndJudge(ctx); err != nil {
			return err
		}
		silent := true
		if strictly {
			restarts := r.world.restarts.Load()
			var err error
			if silent, err = r.staysSilent(ctx); err != nil {
				return err
			}
			if restarts != r.world.restarts.Load() {
				continue // for the sake of another program; what the operator sends then tells nothing
			}
		}
		if silent {
			r.notes = append(r.notes, string(verbRest))
			return nil
		}
		broken++
	}
	all, err := r.world.requests.in(r.namespace)
	if err != nil {
		return err
	}
	return &failure{invariant: "I3", text: "the operator goes on at rest: " + all[len(all)-1].String()}
}

func (r *run) settleAndJudge(ctx context.Context) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	all, err := r.world.requests.in(r.namespace)
	if err != nil {
		return err
	}
	if problems := append(r.judgeWrites(all[r.judged:]), checkTransitionTimes(r.recent(appKind))...); len(problems) > 0 {
		return problems[0]
	}
	r.judged, r.rested = len(all), r.world.history.newest(r.namespace)
	return nil
}

// settle waits for the expected state and for silence.
func (r *run) settle(ctx context.Context) error {
	started := time.Now()
	quietSince, heard := started, -1
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		problems, sent, quiet, err := r.look(ctx, &heard, &quietSince)
		switch {
		case err != nil:
			return err
		case len(problems) == 0 && quiet >= silence:
			if upToDate, err := r.upToDate(ctx); upToDate || err != nil {
				return err
			}
		case len(problems) > 0 && quiet >= r.world.patience():
			return problems[0]
		case len(problems) > 0 && time.Since(started) > restWithin:
			return problems[0]
		case time.Since(started) > restWithin:
			return &failure{invariant: "I3", text: fmt.Sprintf("the operator does not come to rest: %d requests in all", sent)}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
}

// upToDate reports whether what was judged is what the API server has: after an outage the watches may be behind.
func (r *run) upToDate(ctx context.Context) (bool, error) {
	r.world.order.RLock()
	defer r.world.order.RUnlock()
	if err := r.world.ok(); err != nil {
		return false, err
	}
	for kind := range watched {
		if !r.world.history.isWatching(kind) {
			return false, nil
		}
		seen, live := "", r.identity(kind)
		if latest := r.world.history.latest(r.namespace, kind); latest != nil {
			seen = latest.GetResourceVersion()
		}
		if err := client.IgnoreNotFound(r.world.Client.Get(ctx, client.ObjectKeyFromObject(live), live)); err != nil {
			return false, err
		}
		if live.GetResourceVersion() != seen {
			return false, nil
		}
	}
	return true, nil
}

// patience is how long nothing must happen before a state that is not as expected counts as final.
func (w *world) patience() time.Duration {
	w.order.RLock()
	defer w.order.RUnlock()
	if time.Since(w.back) < afterOutage {
		return afterOutage
	}
	return stuck
}

// look judges what is there now. Quiet is how long nothing has happened in the namespace, on anybody's part.
func (r *run) look(ctx context.Context, heard *int, quietSince *time.Time) (problems []*failure, sent int, quiet time.Duration, err error) {
	// While the operator or the API server is being restarted, silence means nothing.
	if !r.world.order.TryRLock() {
		r.world.order.RLock()
		*quietSince = time.Now()
	}
	defer r.world.order.RUnlock()
	if err := r.world.ok(); err != nil {
		return nil, 0, 0, err
	}
	if err := r.collectGarbage(ctx, r.world.history.scene(r.namespace)); err != nil {
		return nil, 0, 0, err
	}
	if err := r.world.OperatorFailure(); err != nil {
		return nil, 0, 0, &failure{invariant: "crash", text: err.Error()}
	}
	all, err := r.world.requests.in(r.namespace)
	if err != nil {
		return nil, 0, 0, err
	}
	now := len(all) + int(r.world.history.newest(r.namespace)) // either grows with whatever happens
	if now != *heard {
		*heard, *quietSince = now, time.Now()
	}
	return r.checkScene(r.world.history.scene(r.namespace)), len(all), time.Since(*quietSince), nil
}

// staysSilent reports whether the operator sends nothing more: not even what comes after its longest back-off.
func (r *run) staysSilent(ctx context.Context) (bool, error) {
	for deadline := time.Now().Add(longSilence); time.Now().Before(deadline); {
		all, err := r.world.requests.in(r.namespace)
		if err != nil || len(all) > r.judged {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	return true, nil
}

// restartAtRest restarts the operator while there is nothing for it to do.
func (r *run) restartAtRest(ctx context.Context, s step) error {
	before := r.judged
	if err := r.act(ctx, s); err != nil {
		return err
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	return r.judgeRestart(before)
}

// judgeRestart judges what the operator sent to this namespace since it was at rest before a restart. What the API server
// refuses is no write: a refusal is not remembered anywhere but in the status, and only trying can tell that it stands.
func (r *run) judgeRestart(before int) error {
	all, err := r.world.requests.in(r.namespace)
	if err != nil {
		return err
	}
	for _, request := range all[before:] {
		if request.writes() {
			return &failure{invariant: "I7", text: "a write after a restart at rest: " + request.String()}
		}
	}
	return nil
}
