package transition_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

const (
	defaulted    = "RollingUpdate 25% 25%"
	recreate     = "{strategy: {type: Recreate}, " + selector + "}"
	rolling      = "{strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, " + selector + "}"
	noStrategy   = "{" + selector + "}"
	surge        = ".spec.strategy.rollingUpdate.maxSurge"
	strategyType = ".spec.strategy.type"
)

// strategy returns the live strategy in one line.
func (s *realServer) strategy() string {
	s.t.Helper()
	strategy := s.live().Spec.Strategy
	if strategy.RollingUpdate == nil {
		return string(strategy.Type)
	}
	return fmt.Sprintf("%s %s %s", strategy.Type, strategy.RollingUpdate.MaxSurge, strategy.RollingUpdate.MaxUnavailable)
}

func (s *realServer) expectStrategy(want string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.strategy()); diff != "" {
		s.t.Errorf("strategy (-want +got):\n%s", diff)
	}
}

// TestStrategyOnServer is FR-20: a running Deployment moves between strategies, in place, by unforced applies.
func TestStrategyOnServer(t *testing.T) {
	fresh := startServer(t)
	for name, crashing := range map[string]bool{"without a crash": false, "with a crash after each step": true} {
		t.Run("FR-20 "+name, func(t *testing.T) {
			s := fresh(t)
			s.must(nil, s.apply(v1alpha1.FieldManager, noStrategy, false))
			s.expectStrategy(defaulted)
			uid := s.live().UID
			if err := s.apply(v1alpha1.FieldManager, recreate, false); !apierrors.IsInvalid(err) {
				t.Fatalf("a plain apply would do: %v", err)
			}
			for _, c := range []struct{ wanted, strategy string }{
				{recreate, "Recreate"}, {rolling, "RollingUpdate 1 0"}, {recreate, "Recreate"}, {noStrategy, defaulted},
				{recreate, "Recreate"}, {recreate, "Recreate"}, {"{strategy: {type: RollingUpdate}, " + image2 + "}", defaulted},
			} {
				s.reach(c.wanted, v1alpha1.ConflictAbort, crashing)
				s.expectStrategy(c.strategy)
			}
			if got := s.live().UID; got != uid {
				t.Error("it is another Deployment")
			}
		})
	}

	t.Run("a leftover is shared, then dropped, and whatever else changes comes with the last step", func(t *testing.T) {
		s := fresh(t)
		s.must(nil, s.apply(v1alpha1.FieldManager, noStrategy, false))
		plan := s.plan("{strategy: {type: Recreate}, "+image2+"}", v1alpha1.ConflictAbort)
		if got := steps(plan); got != "operator operator" {
			t.Fatalf("steps are %q", got)
		}
		s.send(plan.Steps[0])
		s.expectStrategy(defaulted)
		s.send(plan.Steps[1])
		s.expectStrategy("Recreate")
		if got := s.live().Spec.Template.Spec.Containers[0].Image; got != "nginx:2" {
			t.Errorf("image is %s", got)
		}
	})

	t.Run("FR-20 another manager's Recreate does not trouble an intent without a strategy", func(t *testing.T) {
		s := fresh(t)
		s.must(nil, s.apply(v1alpha1.FieldManager, noStrategy, false))
		s.edit("ops", "{strategy: {type: Recreate, rollingUpdate: null}}")
		s.reach("{"+image2+"}", v1alpha1.ConflictAbort, false)
		s.expectStrategy("Recreate")
	})

	for name, wanted := range map[string]string{"yielded": "RollingUpdate", "not wanted": ""} {
		t.Run("the parameters of a strategy whose type is "+name, func(t *testing.T) {
			s := fresh(t)
			intent := "{strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, " + image2 + "}"
			if wanted != "" {
				intent = "{strategy: {type: " + wanted + ", rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, " + image2 + "}"
			}
			s.must(nil, s.apply(v1alpha1.FieldManager, rolling, false))
			s.edit("ops", "{strategy: {type: Recreate, rollingUpdate: null}}")
			plan := s.plan(intent, v1alpha1.ConflictYield)
			if len(plan.Conflicts) != 1 || plan.Conflicts[0].Field != strategyType || plan.Conflicts[0].Manager != "ops" {
				t.Errorf("conflicts are %v", plan.Conflicts)
			}
			s.send(plan.Steps...)
			s.expectStrategy("Recreate")
			if got := s.live().Spec.Template.Spec.Containers[0].Image; got != "nginx:2" {
				t.Errorf("image is %s", got)
			}
			s.forget("ops")
			s.reach(intent, v1alpha1.ConflictYield, false)
			s.expectStrategy("RollingUpdate 1 0")
		})
	}

	for name, hold := range map[string]func(s *realServer){
		"an Update": func(s *realServer) { s.edit("ops", "{strategy: {rollingUpdate: {maxSurge: 3}}}") },
		"Apply": func(s *realServer) {
			s.must(nil, s.apply("ops", "{strategy: {rollingUpdate: {maxSurge: 3}}}", true))
		},
	} {
		t.Run("a leftover that somebody holds by "+name, func(t *testing.T) {
			s := fresh(t)
			s.must(nil, s.apply(v1alpha1.FieldManager, noStrategy, false))
			hold(s)
			wanted := "{strategy: {type: Recreate}, " + image2 + "}"

			plan := s.plan(wanted, v1alpha1.ConflictAbort)
			if got := conflicts(plan); !plan.Blocked || len(plan.Steps) > 0 || got != surge+"=ops" {
				t.Errorf("under Abort: blocked %t, steps %q, conflicts %q", plan.Blocked, steps(plan), got)
			}
			plan = s.plan(wanted, v1alpha1.ConflictYield)
			if got := conflicts(plan); plan.Blocked || got != surge+"=ops" {
				t.Errorf("under Yield: blocked %t, conflicts %q", plan.Blocked, got)
			}
			s.reach(wanted, v1alpha1.ConflictYield, false)
			s.expectStrategy("RollingUpdate 3 25%")
			if got := s.live().Spec.Template.Spec.Containers[0].Image; got != "nginx:2" {
				t.Errorf("the rest did not come: image is %s", got)
			}
			if managed, err := ownership.Parse(s.live().ManagedFields); err != nil || managed.Fields(operator).Has(mustPath(t, strategyType)) {
				t.Errorf("the type did not yield (%v)", err)
			}

			// The holder lets go: of the field, or of its claim alone.
			if name == "Apply" {
				s.must(nil, s.apply("ops", "{}", false))
			} else {
				s.forget("ops")
			}
			s.reach(wanted, v1alpha1.ConflictYield, false)
			s.expectStrategy("Recreate")
		})
	}

	t.Run("a leftover that is shared with somebody is not the operator's to drop", func(t *testing.T) {
		s := fresh(t)
		s.must(nil, s.apply(v1alpha1.FieldManager, rolling, false))
		s.must(nil, s.apply("ops", "{strategy: {rollingUpdate: {maxSurge: 1}}}", false))
		plan := s.plan(recreate, v1alpha1.ConflictAbort)
		if got := conflicts(plan); !plan.Blocked || got != surge+"=ops" {
			t.Errorf("blocked %t, conflicts %q", plan.Blocked, got)
		}
	})
}
