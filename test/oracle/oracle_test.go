package oracle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrograms replays the programs in testdata, each of which failed once, and then plays random ones.
func TestPrograms(t *testing.T) {
	c, err := readConfig()
	if err != nil {
		t.Fatal(err)
	}
	if c.replay != "" {
		playInWorld(t, c, readPrograms(t, c.replay))
		return
	}
	all := readPrograms(t, "testdata/*.program")
	for n := range c.programs {
		seed := c.seed + uint64(n)
		all = append(all, named{fmt.Sprintf("seed %d", seed), generate(seed, c.steps)})
	}
	t.Logf("%d programs in testdata, %d of %d steps from seed %d on", len(all)-c.programs, c.programs, c.steps, c.seed)
	for len(all) > 0 && !t.Failed() {
		n := min(len(all), c.worldEvery)
		playInWorld(t, c, all[:n])
		all = all[n:]
	}
}

func readPrograms(t *testing.T, pattern string) []named {
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all []named
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parseProgram(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, named{file, p})
	}
	return all
}

func playInWorld(t *testing.T, c config, all []named) {
	ctx := context.WithoutCancel(t.Context())
	w, err := newWorld(ctx, c.output)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	}()
	started := time.Now()
	s := &session{world: w, parallel: c.parallel, enough: c.enough}
	s.playAll(ctx, all)
	t.Logf("%d programs, %d failures, %s", len(all), len(s.defeats), time.Since(started).Round(100*time.Millisecond))
	for _, err := range s.errs {
		t.Error(err)
	}
	for _, one := range s.defeats {
		report(t, c, w, one)
	}
}

// report reduces a failing program and prints it as testdata has it.
func report(t *testing.T, c config, w *world, one defeat) {
	m := &minimiser{fails: w.failureOf, parallel: c.parallel, budget: c.reduceWithin}
	shortest, found := m.reduce(t.Context(), one.program, one.failure)
	t.Errorf("%s failed: %v\n%s\nReduced from %d steps to %d, it fails so: %v\n%s\n%s",
		one.origin, one.failure, indent(one.failure.journal), len(one.program), len(shortest), found, shortest, indent(found.journal))
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
