package controllers

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

var replicasConflict = ownership.Conflict{Field: ".spec.replicas", Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale"}

// outcomeCase is one thing that can have come of a child, and what the Synced condition has to say of it.
type outcomeCase struct {
	name    string
	result  childResult
	reason  string // empty: the child is as wanted
	stalled bool
}

// outcomeCases has every outcome that a status can be derived from.
var outcomeCases = []outcomeCase{
	{name: "created", result: childResult{outcome: outcomeCreated}},
	{name: "configured", result: childResult{outcome: outcomeConfigured}},
	{name: "unchanged", result: childResult{outcome: outcomeUnchanged}},
	{name: "deleted", result: childResult{outcome: outcomeDeleted}},
	{name: "unwanted", result: childResult{outcome: outcomeUnwanted}},
	{name: "paused", result: childResult{outcome: outcomePaused}, reason: v1alpha1.ReasonPaused},
	{name: "paused over a conflict", result: childResult{outcome: outcomePaused, conflicts: []ownership.Conflict{replicasConflict}}, reason: v1alpha1.ReasonPaused},
	{name: "terminating", result: childResult{outcome: outcomeTerminating, message: "is going"}, reason: v1alpha1.ReasonTerminating},
	{name: "refused", result: childResult{outcome: outcomeRefused, message: "is somebody else's"}, reason: v1alpha1.ReasonResourceExists, stalled: true},
	{name: "conflict", result: childResult{outcome: outcomeConflict, conflicts: []ownership.Conflict{replicasConflict}}, reason: v1alpha1.ReasonFieldConflict, stalled: true},
	{name: "server failed", result: childResult{outcome: outcomeRejected, failure: failureServer, message: "webhook down"}, reason: v1alpha1.ReasonApplyFailed},
	{name: "invalid", result: childResult{outcome: outcomeRejected, failure: failureInvalid, message: "no such field"}, reason: v1alpha1.ReasonInvalid, stalled: true},
	{name: "forbidden", result: childResult{outcome: outcomeRejected, failure: failureForbidden, message: "quota"}, reason: v1alpha1.ReasonForbidden, stalled: true},
}

// of returns a copy of the result for a child of that kind.
func (c *outcomeCase) of(kind string) *childResult {
	result := c.result
	result.kind, result.name = kind, "web"
	return &result
}

func TestSyncedState(t *testing.T) {
	_, fine := unchangedResults()
	for _, c := range outcomeCases {
		t.Run(c.name, func(t *testing.T) {
			for _, results := range [][]*childResult{{c.of("Deployment"), fine}, {fine, c.of("Service")}} {
				got := syncedState(newApp(), results...)
				want := state{status: trueStatus, reason: v1alpha1.ReasonSynced}
				if c.reason != "" {
					want = state{status: falseStatus, reason: c.reason, stalled: c.stalled}
				}
				if got.status != want.status || got.reason != want.reason || got.stalled != want.stalled {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if !strings.Contains(got.message, c.result.message) || got.message == "" {
					t.Errorf("message %q, want %q in it", got.message, c.result.message)
				}
				if synced := results[0].synced() && results[1].synced(); synced != got.isTrue() {
					t.Errorf("synced() is %t, the condition %s", synced, got.status)
				}
			}
		})
	}
}

// TestSyncedStateOfTwo: what people have to act upon stands in front, whichever child it is about, and neither child's
// message is lost.
func TestSyncedStateOfTwo(t *testing.T) {
	worstFirst := []string{"forbidden", "invalid", "server failed", "conflict", "refused", "terminating", "paused", "unchanged"}
	byName := map[string]*outcomeCase{}
	for i := range outcomeCases {
		byName[outcomeCases[i].name] = &outcomeCases[i]
	}
	for i, name := range worstFirst {
		for _, other := range worstFirst[i:] {
			worse, lesser := byName[name], byName[other]
			for _, results := range [][]*childResult{
				{worse.of("Deployment"), lesser.of("Service")},
				{lesser.of("Deployment"), worse.of("Service")},
			} {
				got := syncedState(newApp(), results...)
				if want := worse.reason; want != "" && got.reason != want {
					t.Errorf("%s and %s: reason %s, want %s", name, other, got.reason, want)
				}
				if want := worse.stalled || lesser.stalled; got.stalled != want {
					t.Errorf("%s and %s: stalled %t, want %t", name, other, got.stalled, want)
				}
				for _, c := range []*outcomeCase{worse, lesser} {
					if !strings.Contains(got.message, c.result.message) {
						t.Errorf("%s and %s: the message lacks %q: %s", name, other, c.result.message, got.message)
					}
				}
			}
		}
	}
}

func TestSyncedStateWhilePaused(t *testing.T) {
	paused := newApp()
	paused.Spec.Paused = true
	deployment, service := unchangedResults()
	if got := syncedState(paused, deployment, service); got.status != trueStatus || got.reason != v1alpha1.ReasonPaused || !strings.Contains(got.message, "spec.paused") {
		t.Errorf("paused, all as wanted: %+v", got)
	}
	deployment.outcome, deployment.intent = outcomePaused, &ownership.Intent{}
	if got := syncedState(paused, deployment, service); got.status != falseStatus || got.reason != v1alpha1.ReasonPaused || !strings.Contains(got.message, "differs from the spec") {
		t.Errorf("paused, a child differs: %+v", got)
	}
	service.outcome = outcomePaused
	if got := syncedState(paused, deployment, service); !strings.Contains(got.message, "Service web is no longer wanted and is not deleted") {
		t.Errorf("paused, a child is not wanted: %+v", got)
	}
	service.live = nil
	if got := syncedState(paused, deployment, service); !strings.Contains(got.message, "Service web does not exist and is not created") {
		t.Errorf("paused, a child is not there: %+v", got)
	}
	deployment.conflicts = []ownership.Conflict{replicasConflict}
	if got := syncedState(paused, deployment, service); got.stalled || !strings.Contains(got.message, `.spec.replicas is owned by "kubectl"`) {
		t.Errorf("paused, and a conflict waits: %+v", got)
	}
}

func TestReadyStateKeepsUnknown(t *testing.T) {
	work := observeRollout(newDeployment())
	if got := readyState(state{status: unknown, reason: "Why", message: "m"}, work); got.status != unknown || got.reason != "Why" || got.message != "m" {
		t.Errorf("got %+v: what is not known is not false", got)
	}
	if got := readyState(state{status: falseStatus, reason: "Why", message: "m"}, work); got.status != falseStatus {
		t.Errorf("got %+v", got)
	}
}
