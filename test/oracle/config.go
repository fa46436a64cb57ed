package oracle

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// config says what to play.
type config struct {
	// programs is how many, each with so many steps. The first has this seed, each further one the next.
	programs, steps int
	seed            uint64
	// parallel is how many programs share a world at a time, worldEvery how many it sees before a new one is made: the
	// audit log and the namespaces pile up.
	parallel, worldEvery int
	// enough failures end the run, each of which is reduced within that time.
	enough       int
	reduceWithin time.Duration
	// replay is a program to be played instead of all others.
	replay string
	// output receives the operator's log.
	output io.Writer
}

// readConfig reads ORACLE_PROGRAMS, ORACLE_STEPS, ORACLE_SEED and ORACLE_PARALLEL, which are numbers; ORACLE_REDUCE,
// the time to spend on reducing each failure; ORACLE_REPLAY, a file with the only program to play; and ORACLE_LOG,
// a file for the operator's log.
func readConfig() (config, error) {
	c := config{programs: 24, steps: 30, seed: 1, parallel: 16, worldEvery: 120, enough: 3, reduceWithin: 2 * time.Minute}
	for _, one := range []struct {
		name string
		to   *int
	}{{"ORACLE_PROGRAMS", &c.programs}, {"ORACLE_STEPS", &c.steps}, {"ORACLE_PARALLEL", &c.parallel}} {
		if text := os.Getenv(one.name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return c, fmt.Errorf("%s is %q: it must be a positive number", one.name, text)
			}
			*one.to = n
		}
	}
	if text := os.Getenv("ORACLE_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return c, fmt.Errorf("ORACLE_SEED is %q: it must be a number", text)
		}
		c.seed = seed
	}
	if text := os.Getenv("ORACLE_REDUCE"); text != "" {
		budget, err := time.ParseDuration(text)
		if err != nil {
			return c, fmt.Errorf("ORACLE_REDUCE is %q: it must be a duration, such as 5m: %w", text, err)
		}
		c.reduceWithin = budget
	}
	c.replay = os.Getenv("ORACLE_REPLAY")
	if name := os.Getenv("ORACLE_LOG"); name != "" {
		file, err := os.Create(name)
		if err != nil {
			return c, fmt.Errorf("ORACLE_LOG: %w", err)
		}
		c.output = file
	}
	return c, nil
}
