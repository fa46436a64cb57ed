package oracle

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// named is a program and where it comes from.
type named struct {
	origin  string
	program program
}

// defeat is a program that failed.
type defeat struct {
	named
	failure *failure
}

// session plays programs in one world, several at a time.
type session struct {
	world    *world
	parallel int
	// enough ends the session: more failures rarely tell more.
	enough int

	mu      sync.Mutex
	resting []resting
	defeats []defeat
	errs    []error
}

// resting is a program that came to its end and now waits for a restart of the operator, which must not make it write.
type resting struct {
	named
	run *run
}

// playAll plays until all programs are through or enough of them have failed.
func (s *session) playAll(ctx context.Context, all []named) {
	waiting := make(chan named)
	var running sync.WaitGroup
	for range s.parallel {
		running.Go(func() {
			for one := range waiting {
				s.playOne(ctx, one)
			}
		})
	}
	for _, one := range all {
		if s.over() {
			break
		}
		waiting <- one
	}
	close(waiting)
	running.Wait()
	s.restart(ctx, s.takeResting(1))
}

func (s *session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.defeats) >= s.enough || len(s.errs) > 0
}

func (s *session) playOne(ctx context.Context, one named) {
	r, err := s.world.newRun(ctx, one.program)
	if err == nil {
		err = r.play(ctx)
	}
	if err != nil {
		s.record(one, err)
		if r != nil {
			r.end(ctx)
		}
		return
	}
	s.mu.Lock()
	s.resting = append(s.resting, resting{one, r})
	s.mu.Unlock()
	s.restart(ctx, s.takeResting(s.parallel))
}

func (s *session) record(one named, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch found, ok := errors.AsType[*failure](err); {
	case ok:
		s.defeats = append(s.defeats, defeat{one, found})
	case !errors.Is(err, errBroken):
		s.errs = append(s.errs, err)
	}
}

// takeResting returns the programs at rest, once there are so many.
func (s *session) takeResting(atLeast int) []resting {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.resting) < atLeast {
		return nil
	}
	taken := s.resting
	s.resting = nil
	return taken
}

// restart restarts the operator once for many programs at rest, and ends them.
func (s *session) restart(ctx context.Context, all []resting) {
	if len(all) == 0 {
		return
	}
	if err := s.world.restart(ctx, true); err != nil {
		s.record(all[0].named, err)
		return
	}
	var running sync.WaitGroup
	for _, one := range all {
		running.Go(func() {
			defer one.run.end(ctx)
			before := one.run.judged
			err := one.run.settle(ctx)
			if err == nil {
				err = one.run.judgeRestart(before)
			}
			if err != nil {
				one.program = append(slices.Clone(one.program), step{verb: verbRestart})
				s.record(one.named, one.run.withJournal(err))
			}
		})
	}
	running.Wait()
}
