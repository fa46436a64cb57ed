package oracle

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// minimiser reduces a failing program by leaving out steps for as long as it still fails in the same way.
type minimiser struct {
	// fails plays a program. It returns nil if the program does not fail.
	fails func(context.Context, program) *failure
	// parallel is how many candidates are tried at a time, budget how long all of it may take.
	parallel int
	budget   time.Duration
}

// reduce returns the shortest failing program that it found, and its failure.
func (m *minimiser) reduce(ctx context.Context, p program, found *failure) (program, *failure) {
	ctx, cancel := context.WithTimeout(ctx, m.budget)
	defer cancel()
	for size := max(1, len(p)/2); ctx.Err() == nil; {
		shorter, again := m.firstFailing(ctx, without(p, size), found.invariant)
		switch {
		case again != nil:
			p, found = shorter, again
			size = min(size, max(1, len(p)/2))
		case size > 1:
			size = (size + 1) / 2
		default:
			shorter, again = m.firstFailing(ctx, withFewerSettings(p), found.invariant)
			if again == nil {
				return p, found
			}
			p, found = shorter, again
		}
	}
	return p, found
}

// without returns the programs that lack so many steps in a row, the late ones first.
func without(p program, size int) []program {
	var shorter []program
	for from := (len(p) - 1) / size * size; from >= 0; from -= size {
		rest := slices.Delete(slices.Clone(p), from, min(from+size, len(p)))
		if len(rest) > 0 && rest[len(rest)-1].isAct() {
			rest = append(rest, step{verb: verbRest})
		}
		if len(rest) > 0 && len(rest) < len(p) {
			shorter = append(shorter, rest)
		}
	}
	return shorter
}

// withFewerSettings returns the programs that lack one setting.
func withFewerSettings(p program) []program {
	var shorter []program
	for n, s := range p {
		if s.verb == verbScale || s.verb == verbScaleApp {
			continue // they are nothing without their number
		}
		for i := range s.settings {
			rest := slices.Clone(p)
			rest[n].settings = slices.Delete(slices.Clone(s.settings), i, i+1)
			shorter = append(shorter, rest)
		}
	}
	return shorter
}

// firstFailing plays candidates, several at a time, and returns the first one in the list that fails.
func (m *minimiser) firstFailing(ctx context.Context, candidates []program, invariant string) (program, *failure) {
	for batch := range slices.Chunk(candidates, m.parallel) {
		found := make([]*failure, len(batch))
		var running sync.WaitGroup
		for i, candidate := range batch {
			running.Go(func() { found[i] = m.fails(ctx, candidate) })
		}
		running.Wait()
		for i := range batch {
			if found[i] != nil && found[i].invariant == invariant && ctx.Err() == nil {
				return batch[i], found[i]
			}
		}
	}
	return nil, nil
}

// failureOf plays a program and returns its failure, if it is one.
func (w *world) failureOf(ctx context.Context, p program) *failure {
	r, err := w.newRun(ctx, p)
	if err != nil {
		return nil
	}
	defer r.end(context.WithoutCancel(ctx))
	found, _ := errors.AsType[*failure](r.play(ctx))
	return found
}
