package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// appliedDeployment returns a Deployment of which the operator owns something, but by far not all that it wants.
func appliedDeployment() *appsv1.Deployment {
	return newDeployment(func(d *appsv1.Deployment) {
		d.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: v1alpha1.FieldManager, Operation: byApply, APIVersion: "apps/v1",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:app":{}}}}`),
		}}
	})
}

// TestApplyIsBoundToTheUID: a child that is deleted between the look at it and the apply must not come back by mistake.
func TestApplyIsBoundToTheUID(t *testing.T) {
	r, s, _ := newReconciler(t)
	s.has(appliedDeployment())
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "apply Deployment", "apply Service", "apply status")
	if got := s.uids["apply Deployment"]; got != "child-uid" {
		t.Errorf("a Deployment that exists was applied with uid %q", got)
	}
	if got := s.uids["apply Service"]; got != "" {
		t.Errorf("a Service that does not exist was applied with uid %q", got)
	}
}

// withReplicas makes the operator the owner of a count.
func withReplicas(d *appsv1.Deployment) {
	d.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: v1alpha1.FieldManager, Operation: byApply, APIVersion: "apps/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
	}}
}

// TestPinnedStep: a step that repeats a live value is bound to the version that it was read at, and only such a step is.
func TestPinnedStep(t *testing.T) {
	r, s, _ := newReconciler(t)
	live := newDeployment(withReplicas)
	s.has(live)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "hand over Deployment", "apply Deployment", "apply Service", "apply status")
	if got := s.versions["hand over Deployment"]; got != live.ResourceVersion {
		t.Errorf("the hand-over was bound to version %q, want %q", got, live.ResourceVersion)
	}
	if got := s.versions["apply Deployment"]; got != "" {
		t.Errorf("the intent was bound to version %q: a conflict is all that may stop it", got)
	}
}

// TestPinnedStepRefused: 409 is not always a lost race. A race is tried again; a denial is told, too.
func TestPinnedStepRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		reason string
	}{
		"somebody was faster":            {answer: answered(409, metav1.StatusReasonConflict, "the object has been modified")},
		"somebody has taken the field":   {answer: fieldConflict()},
		"a webhook denies it in its way": {answer: answered(409, metav1.StatusReasonConflict, `admission webhook "locks.example.com" denied the request: locked`), reason: v1alpha1.ReasonForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			s.has(newDeployment(withReplicas))
			s.fails["hand over Deployment"] = c.answer
			if err := reconcileWeb(t, r); err == nil {
				t.Error("it is not tried again")
			}
			if s.asked("apply Deployment") {
				t.Error("the plan is carried on")
			}
			if told := s.asked("apply status"); told != (c.reason != "") {
				t.Fatalf("the status is written: %t", told)
			}
			if c.reason == "" {
				return
			}
			if got := condition(t, s.status, "Synced").Reason; got != c.reason {
				t.Errorf("Synced: %s", got)
			}
		})
	}
}

// TestApplyOnOldCache: what was just applied is not applied again before the cache shows it.
func TestApplyOnOldCache(t *testing.T) {
	r, s, _ := newReconciler(t)
	s.has(appliedDeployment())
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	before := len(s.requests)
	// The cache catches up with the Application, which may have changed once more, but not with the Deployment.
	s.cached["Application"].SetResourceVersion("5000")
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	for _, request := range s.requests[before:] {
		if request != "apply Service" { // of which the cache knows nothing at all
			t.Errorf("%s on an old cache", request)
		}
	}
	// Now it shows the Deployment, too.
	s.cached["Deployment"].SetResourceVersion("5000")
	before = len(s.requests)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	if len(s.requests) == before {
		t.Error("nothing is done any more, although the cache has caught up")
	}
}

// TestNoApplyThatMustFail: what the managedFields tell beforehand is not tried out. The apply of the server itself is for
// the suites to see.
func TestNoApplyThatMustFail(t *testing.T) {
	r, s, _ := newReconciler(t)
	s.cached["Application"].(*v1alpha1.Application).Spec.Replicas = new(int32(1))
	live := newDeployment()
	live.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kubectl", Operation: byUpdate, Subresource: "scale", APIVersion: "apps/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
	}}
	s.has(live)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "apply Service", "apply status")
	want := []v1alpha1.FieldConflict{{
		Kind: "Deployment", Name: "web", Field: ".spec.replicas", Manager: "kubectl", Operation: byUpdate, Subresource: "scale", APIVersion: "apps/v1",
	}}
	if diff := cmp.Diff(want, s.status.Conflicts); diff != "" {
		t.Errorf("status.conflicts (-want +got):\n%s", diff)
	}
	if got := condition(t, s.status, "Synced").Reason; got != v1alpha1.ReasonFieldConflict {
		t.Errorf("Synced: %s", got)
	}
	if s.status.DeploymentStatus == nil {
		t.Error("the Deployment is not reported, although it is this Application's")
	}
}

// TestNoApplyToWhatIsGoing: the next is created once this one is gone.
func TestNoApplyToWhatIsGoing(t *testing.T) {
	r, s, events := newReconciler(t)
	live := newDeployment()
	live.DeletionTimestamp, live.Finalizers = &metav1.Time{Time: start}, []string{"example.com/guard"}
	s.has(live)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "apply Service", "apply status")
	if got := condition(t, s.status, "Synced"); got.Status != metav1.ConditionFalse || got.Reason != v1alpha1.ReasonTerminating {
		t.Errorf("Synced: %+v", got)
	}
	if len(events.events) > 0 {
		t.Errorf("Events %v", events.events)
	}
}

// TestApplyOutcome: what one apply that was accepted came to.
func TestApplyOutcome(t *testing.T) {
	before, same, newer := newDeployment(), newDeployment(), newDeployment()
	newer.ResourceVersion = "201"
	for _, c := range []struct {
		before, answer client.Object
		want           outcome
	}{{nil, newer, outcomeCreated}, {before, same, outcomeUnchanged}, {before, newer, outcomeConfigured}} {
		if got := applyOutcome(c.before, c.answer, nil); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
