package transition_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
)

const (
	selector = `selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: "nginx:1"}]}}`
	image2   = `selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: "nginx:2"}]}}`
	path     = ".spec.replicas"
	image    = `.spec.template.spec.containers[name="app"].image`
)

type planTest struct {
	name   string
	world  func(s *server)
	wanted string
	policy v1alpha1.ConflictPolicy

	steps     string // manager of each step
	blocked   bool
	conflicts string // field=manager of each conflict
	replicas  *int32
	owners    map[string][]string
	// lowest is the least number of replicas that may be seen on the way. The API server's default would be 1.
	lowest int32
}

var planTests = []planTest{
	{
		name:   "as wanted",
		world:  func(s *server) { s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}") },
		wanted: "{replicas: 3, " + selector + "}",
		steps:  "", replicas: ptr.To[int32](3), owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
	{
		name:   "one apply",
		world:  func(s *server) { s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}") },
		wanted: "{replicas: 5, " + image2 + "}",
		steps:  "operator", replicas: ptr.To[int32](5), owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
	{
		name:   "replicas are let go of at their live value",
		world:  func(s *server) { s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}") },
		wanted: "{" + selector + "}",
		steps:  "handover operator", replicas: ptr.To[int32](3), lowest: 3,
		owners: map[string][]string{path: {v1alpha1.FieldManagerHandover}},
	},
	{
		name: "replicas that another manager shares are just let go of",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.apply("scaler", "{replicas: 3}")
		},
		wanted: "{" + selector + "}",
		steps:  "operator", replicas: ptr.To[int32](3), lowest: 3,
		owners: map[string][]string{path: {"scaler"}},
	},
	{
		name: "a crash after the first step of letting go",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.apply(v1alpha1.FieldManagerHandover, "{replicas: 3}")
		},
		wanted: "{" + selector + "}",
		steps:  "operator", replicas: ptr.To[int32](3), lowest: 3,
		owners: map[string][]string{path: {v1alpha1.FieldManagerHandover}},
	},
	{
		name: "replicas that nobody took come back",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{"+selector+"}")
			s.apply(v1alpha1.FieldManagerHandover, "{replicas: 3}")
		},
		wanted: "{replicas: 5, " + selector + "}",
		steps:  "handover operator handover", replicas: ptr.To[int32](5), lowest: 3,
		owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
	{
		name: "replicas come back at the value that they have",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{"+selector+"}")
			s.apply(v1alpha1.FieldManagerHandover, "{replicas: 3}")
		},
		wanted: "{replicas: 3, " + selector + "}",
		steps:  "operator handover", replicas: ptr.To[int32](3), lowest: 3,
		owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
	{
		name: "a crash before the last step of coming back",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 5, "+selector+"}")
			s.apply(v1alpha1.FieldManagerHandover, "{replicas: 5}")
		},
		wanted: "{replicas: 5, " + selector + "}",
		steps:  "handover", replicas: ptr.To[int32](5), lowest: 5,
		owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
	{
		name: "replicas that somebody took do not come back",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{"+selector+"}")
			s.apply(v1alpha1.FieldManagerHandover, "{replicas: 3}")
			s.update("kubectl", "{replicas: 4}")
		},
		wanted: "{replicas: 5, " + selector + "}",
		steps:  "", blocked: true, conflicts: path + "=kubectl", replicas: ptr.To[int32](4), lowest: 4,
		owners: map[string][]string{path: {"kubectl"}},
	},
	{
		name: "Abort applies nothing",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.update("kubectl", "{replicas: 4}")
		},
		wanted: "{replicas: 3, " + image2 + "}",
		steps:  "", blocked: true, conflicts: path + "=kubectl", replicas: ptr.To[int32](4),
		owners: map[string][]string{path: {"kubectl"}, image: {v1alpha1.FieldManager}},
	},
	{
		name: "Yield applies the rest",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.update("kubectl", "{replicas: 4}")
		},
		wanted: "{replicas: 3, " + image2 + "}", policy: v1alpha1.ConflictYield,
		steps: "operator", conflicts: path + "=kubectl", replicas: ptr.To[int32](4), lowest: 3,
		owners: map[string][]string{path: {"kubectl"}, image: {v1alpha1.FieldManager}},
	},
	{
		name: "Yield gives up a share, too",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.apply("scaler", "{replicas: 3}")
		},
		wanted: "{replicas: 5, " + selector + "}", policy: v1alpha1.ConflictYield,
		steps: "operator", conflicts: path + "=scaler", replicas: ptr.To[int32](3), lowest: 3,
		owners: map[string][]string{path: {"scaler"}},
	},
	{
		name: "Yield at rest sends nothing",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{"+selector+"}")
			s.force("gitops", "{replicas: 4}")
		},
		wanted: "{replicas: 3, " + selector + "}", policy: v1alpha1.ConflictYield,
		steps: "", conflicts: path + "=gitops", replicas: ptr.To[int32](4),
		owners: map[string][]string{path: {"gitops"}},
	},
	{
		name: "what somebody scaled to zero stays",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.scaleToZero()
		},
		wanted: "{replicas: 3, " + image2 + "}",
		steps:  "", blocked: true, conflicts: path + "=", replicas: ptr.To[int32](0),
		owners: map[string][]string{path: nil, image: {v1alpha1.FieldManager}},
	},
	{
		name: "Yield applies the rest of what somebody scaled to zero",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.scaleToZero()
		},
		wanted: "{replicas: 3, " + image2 + "}", policy: v1alpha1.ConflictYield,
		steps: "operator", conflicts: path + "=", replicas: ptr.To[int32](0),
		owners: map[string][]string{path: nil, image: {v1alpha1.FieldManager}},
	},
	{
		name: "a spec that wants zero agrees with whoever scaled to it",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.scaleToZero()
		},
		wanted: "{replicas: 0, " + selector + "}",
		steps:  "operator", replicas: ptr.To[int32](0), owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
	{
		name: "a spec without a count leaves it to whoever scaled to zero",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.scaleToZero()
		},
		wanted: "{" + image2 + "}",
		steps:  "operator", replicas: ptr.To[int32](0), owners: map[string][]string{path: nil},
	},
	{
		name: "any other count without an owner is anybody's",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
			s.count(4)
		},
		wanted: "{replicas: 3, " + selector + "}",
		steps:  "operator", replicas: ptr.To[int32](3), owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
	{
		name:   "a zero of the operator's own is no scale to zero",
		world:  func(s *server) { s.apply(v1alpha1.FieldManager, "{replicas: 0, "+selector+"}") },
		wanted: "{replicas: 3, " + selector + "}",
		steps:  "operator", replicas: ptr.To[int32](3), owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
	{
		name: "a zero that was handed over is no scale to zero",
		world: func(s *server) {
			s.apply(v1alpha1.FieldManager, "{"+selector+"}")
			s.apply(v1alpha1.FieldManagerHandover, "{replicas: 0}")
		},
		wanted: "{replicas: 3, " + selector + "}",
		steps:  "handover operator handover", replicas: ptr.To[int32](3), owners: map[string][]string{path: {v1alpha1.FieldManager}},
	},
}

func TestPlan(t *testing.T) {
	for _, c := range planTests {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			c.world(s)
			plan := planned(t, c.wanted, s.live(), c.policy)
			if got := steps(plan); got != c.steps {
				t.Errorf("steps are %q, want %q (difference: %s)", got, c.steps, plan.Difference)
			}
			if plan.Blocked != c.blocked {
				t.Errorf("blocked: %t", plan.Blocked)
			}
			if got := conflicts(plan); got != c.conflicts {
				t.Errorf("conflicts are %q, want %q", got, c.conflicts)
			}
			play(t, s, plan, c.lowest)
			if diff := cmp.Diff(c.replicas, s.live().Spec.Replicas); diff != "" {
				t.Errorf("replicas (-want +got):\n%s", diff)
			}
			for field, want := range c.owners {
				if diff := cmp.Diff(want, s.owners(field)); diff != "" {
					t.Errorf("owners of %s (-want +got):\n%s", field, diff)
				}
			}
			expectRest(t, s, c)
		})
	}
}

// expectRest: what a plan leads to needs no further plan, and no plan is needed again after a crash at any step.
func expectRest(t *testing.T, s *server, c planTest) {
	t.Helper()
	again := planned(t, c.wanted, s.live(), c.policy)
	if len(again.Steps) > 0 {
		t.Errorf("at rest there are steps %q (difference: %s)", steps(again), again.Difference)
	}
}

// TestCrash plays each plan anew after each of its steps, as an operator does that crashed there.
func TestCrash(t *testing.T) {
	for _, c := range planTests {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			c.world(s)
			for range 10 {
				plan := planned(t, c.wanted, s.live(), c.policy)
				if len(plan.Steps) == 0 {
					break
				}
				plan.Steps = plan.Steps[:1]
				play(t, s, plan, c.lowest)
			}
			if diff := cmp.Diff(c.replicas, s.live().Spec.Replicas); diff != "" {
				t.Errorf("replicas (-want +got):\n%s", diff)
			}
			for field, want := range c.owners {
				if diff := cmp.Diff(want, s.owners(field)); diff != "" {
					t.Errorf("owners of %s (-want +got):\n%s", field, diff)
				}
			}
			expectRest(t, s, c)
		})
	}
}

// TestScaledToZeroOnWipedRecord: where nobody owns anything, a count of 0 says nothing of who set it.
func TestScaledToZeroOnWipedRecord(t *testing.T) {
	s := newServer(t)
	s.apply(v1alpha1.FieldManager, "{replicas: 3, "+selector+"}")
	s.scaleToZero()
	live := s.live()
	live.ManagedFields = nil
	plan := planned(t, "{replicas: 3, "+selector+"}", live, v1alpha1.ConflictAbort)
	if got, want := conflicts(plan), path+"="+ownership.BeforeFirstApply; got != want {
		t.Errorf("conflicts %q, want %q", got, want)
	}
}

func TestPlanForNothing(t *testing.T) {
	plan, err := transition.For(types, intent(t, "{replicas: 3, "+selector+"}"), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := steps(plan); got != "operator" || plan.Blocked {
		t.Errorf("steps are %q, blocked %t", got, plan.Blocked)
	}
}

// play applies the steps, unforced, and looks at the replicas after each.
func play(t *testing.T, s *server, plan *transition.Plan, lowest int32) {
	t.Helper()
	for n, step := range plan.Steps {
		if err := s.manager.Apply(step.Object(), step.Manager().Name, false); err != nil {
			t.Fatalf("step %d of %q: %v", n+1, steps(plan), err)
		}
		if lowest > 0 && ptr.Deref(s.live().Spec.Replicas, 1) < lowest {
			t.Errorf("after step %d of %q there are %d replicas", n+1, steps(plan), ptr.Deref(s.live().Spec.Replicas, 1))
		}
	}
}

// planned returns the plan for the world of a test.
func planned(t *testing.T, wanted string, live ownership.Object, policy v1alpha1.ConflictPolicy) *transition.Plan {
	t.Helper()
	plan, err := transition.For(types, intent(t, wanted), live, policy)
	if err != nil {
		t.Fatal(err)
	}
	for n, step := range plan.Steps {
		if want := repeatsLive(plan, n); step.Pinned != want {
			t.Errorf("step %d of %q: pinned is %t, want %t", n+1, steps(plan), step.Pinned, want)
		}
	}
	return plan
}

// repeatsLive tells whether a step holds live values: what the hand-over manager shares, and whatever the operator applies
// on the way to its intent.
func repeatsLive(plan *transition.Plan, n int) bool {
	if plan.Steps[n].Manager() == handover {
		return !plan.Steps[n].Fields().Empty()
	}
	return slices.ContainsFunc(plan.Steps[n+1:], func(later transition.Step) bool { return later.Manager() == operator })
}

func steps(plan *transition.Plan) string {
	var names []string
	for _, step := range plan.Steps {
		switch step.Manager() {
		case operator:
			names = append(names, "operator")
		case handover:
			names = append(names, "handover")
		default:
			names = append(names, step.Manager().String())
		}
	}
	return strings.Join(names, " ")
}

func conflicts(plan *transition.Plan) string {
	var list []string
	for _, c := range plan.Conflicts {
		list = append(list, fmt.Sprintf("%s=%s", c.Field, c.Manager))
	}
	return strings.Join(list, " ")
}
