package oracle

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReduce(t *testing.T) {
	// It takes both acts, in this order, and of the first only the image.
	fails := func(_ context.Context, p program) *failure {
		create := slices.IndexFunc(p, func(s step) bool { _, found := s.settings.get("image"); return s.verb == verbCreate && found })
		wipe := slices.IndexFunc(p, func(s step) bool { return s.verb == verbWipe })
		switch {
		case create >= 0 && wipe > create:
			return &failure{invariant: "I2"}
		case wipe >= 0:
			return &failure{invariant: "I6"} // another failure than the one to be reduced
		default:
			return nil
		}
	}
	text := "edit cpu=1\nrest\ncreate cpu=1 image=a memory=1\nrest\nedit cpu=2\nscale kubectl replicas=2\nrest\nwipe Deployment\ndrop Service\nrest\n"
	p, err := parseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	m := &minimiser{fails: fails, parallel: 3, budget: time.Minute}
	shortest, found := m.reduce(t.Context(), p, &failure{invariant: "I2"})
	if diff := cmp.Diff("create image=a\nwipe Deployment\nrest\n", shortest.String()); diff != "" || found.invariant != "I2" {
		t.Errorf("%v, -want +got:\n%s", found, diff)
	}
	if p.String() != strings.TrimLeft(text, "\n") {
		t.Errorf("the program itself was changed:\n%s", p)
	}
}
