package oracle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/dynamic"

	"mycompany.io/application-operator/test/harness"
)

// world is one API server with one operator, in which programs run side by side.
type world struct {
	*harness.Environment
	history  *history
	requests *requests

	// order is held for reading by whoever acts or listens for silence, and for writing by whoever restarts the operator
	// or the API server: that concerns all programs, so none of them is in the middle of something then.
	order sync.RWMutex
	// restarts counts the turns of order's writers, each at its beginning and at its end.
	restarts atomic.Int64
	// back is when the API server came back from its last outage.
	back time.Time
	// broken is what made the world unfit for more: without an operator every program fails.
	broken error
	end    context.CancelFunc
}

// errBroken is why a program was not played to its end: another one broke the world.
var errBroken = errors.New("the world is broken")

// operatorFlags make retries so frequent that none can be overlooked while silence is awaited.
var operatorFlags = []string{
	"--min-backoff=100ms",
	"--max-backoff=1s",
	"--max-concurrent-reconciles=8",
	"--kube-api-qps=1000",
	"--kube-api-burst=1000",
}

// newWorld starts a world. stop ends it.
func newWorld(ctx context.Context, output io.Writer) (*world, error) {
	environment, err := harness.Start(ctx, harness.Options{Output: output})
	if err != nil {
		return nil, err
	}
	w := &world{Environment: environment, requests: newRequests(environment.Audit()), end: func() {}}
	client, err := dynamic.NewForConfig(environment.Config())
	if err == nil {
		err = environment.StartOperator(ctx, operatorFlags...)
	}
	if err != nil {
		return nil, errors.Join(err, w.stop())
	}
	watching, end := context.WithCancel(ctx)
	w.end = end
	w.history = newHistory(client)
	w.history.start(watching)
	return w, nil
}

func (w *world) stop() error {
	w.end()
	if w.history != nil {
		w.history.running.Wait()
	}
	return errors.Join(w.StopOperator(), w.Stop())
}

// restart restarts the operator, gracefully or not, while nobody acts.
func (w *world) restart(ctx context.Context, gracefully bool) error {
	return w.alone(func() error {
		if !gracefully {
			w.KillOperator()
		} else if err := w.StopOperator(); err != nil {
			return err
		}
		if err := w.StartOperator(ctx, operatorFlags...); err != nil {
			return err
		}
		// What it sends because it was restarted then tells apart from what it sends later.
		return w.AwaitEverythingSeen(ctx)
	})
}

// outage takes the API server away for a moment, while nobody acts.
func (w *world) outage(ctx context.Context) error {
	return w.alone(func() error {
		if err := w.StopAPIServer(); err != nil {
			return fmt.Errorf("stopping the API server: %w", err)
		}
		err := w.StartAPIServer(ctx)
		w.back = time.Now()
		return err
	})
}

// alone does what concerns all programs, while none of them is in the middle of something.
func (w *world) alone(do func() error) error {
	w.order.Lock()
	defer w.order.Unlock()
	w.restarts.Add(1)
	defer w.restarts.Add(1)
	if w.broken != nil {
		return errBroken
	}
	if w.broken = do(); w.broken != nil {
		return &failure{invariant: "crash", text: w.broken.Error()}
	}
	return nil
}

// ok returns errBroken if there is no point in going on. The caller holds order.
func (w *world) ok() error {
	if w.broken != nil {
		return errBroken
	}
	return nil
}
