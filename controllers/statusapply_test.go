package controllers

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// statusHeldBy returns an entry of a manager that wrote these fields of the status by an Update.
func statusHeldBy(manager, fields string) metav1.ManagedFieldsEntry {
	entry := ownedFields(manager, byUpdate, fields)
	entry.Subresource = "status"
	return entry
}

// TestTransitionOfContestedCondition: the time of a transition stays as long as somebody else holds the status of the
// condition, since none takes place, and is that of the operator's own transition for all other conditions.
func TestTransitionOfContestedCondition(t *testing.T) {
	earlier, now := metav1.NewTime(start.Add(-time.Hour)), metav1.NewTime(start)
	app := newApp()
	app.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: trueStatus, LastTransitionTime: earlier},
		{Type: v1alpha1.ConditionSynced, Status: trueStatus, LastTransitionTime: earlier},
	}
	status := &v1alpha1.ApplicationStatus{Conditions: []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: falseStatus, LastTransitionTime: now},
		{Type: v1alpha1.ConditionSynced, Status: falseStatus, Reason: v1alpha1.ReasonFieldConflict, LastTransitionTime: now},
		{Type: v1alpha1.ConditionStalled, Status: trueStatus, LastTransitionTime: now},
	}}
	reportContested(app, status, []ownership.Conflict{
		{Field: `.status.conditions[type="Ready"].status`, Manager: "by-hand", Operation: byUpdate},
		{Field: `.status.conditions[type="Synced"].message`, Manager: "by-hand", Operation: byUpdate},
		{Field: `.status.conditions[type="Stalled"].status`, Manager: "by-hand", Operation: byUpdate},
	})
	for conditionType, want := range map[string]metav1.Time{v1alpha1.ConditionReady: earlier, v1alpha1.ConditionSynced: now, v1alpha1.ConditionStalled: now} {
		if got := condition(t, *status, conditionType).LastTransitionTime; !got.Equal(&want) {
			t.Errorf("%s: transition at %s, want %s", conditionType, got, want)
		}
	}
	if got := condition(t, *status, v1alpha1.ConditionSynced).Reason; got != v1alpha1.ReasonFieldConflict {
		t.Errorf("Synced says %s: what is wrong with the children matters more", got)
	}
}

// TestContestedStatusIsOthersOwn: a condition of another controller, and what it needs to have one, is no contest.
func TestContestedStatusIsOthersOwn(t *testing.T) {
	r, _, _ := newReconciler(t)
	app := newApp()
	app.Status.Phase = v1alpha1.PhaseRunning
	app.Status.Conditions = []metav1.Condition{
		{Type: "Audited", Status: trueStatus, Reason: "ByHand"}, {Type: v1alpha1.ConditionStalled, Status: trueStatus, Reason: "MadeUp"},
	}
	app.ManagedFields = []metav1.ManagedFieldsEntry{statusHeldBy("by-hand", `{"f:status":{"f:phase":{},"f:conditions":{
		"k:{\"type\":\"Audited\"}":{".":{},"f:reason":{},"f:status":{},"f:type":{}},
		"k:{\"type\":\"Stalled\"}":{".":{},"f:reason":{},"f:status":{},"f:type":{}}}}}`)}
	intent, err := r.newStatusIntent(app, &v1alpha1.ApplicationStatus{Phase: v1alpha1.PhaseFailed})
	if err != nil {
		t.Fatal(err)
	}
	contested, err := contestedStatus(app, intent)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, c := range contested {
		fields = append(fields, c.Field)
	}
	if len(fields) != 2 || fields[0] != ".status.conditions[type=\"Stalled\"]" || fields[1] != ".status.phase" {
		t.Errorf("contested are %v, want the condition Stalled as a whole, and the phase", fields)
	}
}

// TestReclaimStatus: who owns the status is put right first, by one patch that fits the version it was made for, and all else
// waits for the event that this brings.
func TestReclaimStatus(t *testing.T) {
	surprise := errors.New("surprise")
	for _, c := range []struct {
		name     string
		answer   error
		returned error
	}{
		{"accepted", nil, nil},
		{"gone", answered(404, metav1.StatusReasonNotFound, "gone"), nil},
		{"changed meanwhile", staleVersion(), nil},
		{"failed", surprise, surprise},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			app := newApp()
			app.Status.Phase = v1alpha1.PhaseRunning
			app.ManagedFields = []metav1.ManagedFieldsEntry{statusHeldBy(ownership.BeforeFirstApply, `{"f:status":{"f:phase":{}}}`)}
			s.has(app, newDeployment(), newService())
			s.fails["patch Application"] = c.answer
			if err := reconcileWeb(t, r); !errors.Is(err, c.returned) {
				t.Errorf("returned %v", err)
			}
			if !s.asked("patch Application") || s.asked("apply status") {
				t.Errorf("requests %v", s.requests)
			}
			patch := patchOperations(t, s.patches["patch Application"])
			if string(patch["/metadata/resourceVersion"]) != `"100"` || len(patch) != 2 {
				t.Errorf("patch %s", s.patches["patch Application"])
			}
			if c.answer != nil {
				return
			}
			s.requests = nil
			if err := reconcileWeb(t, r); err != nil || len(s.requests) > 0 {
				t.Errorf("on an old cache: %v, requests %v", err, s.requests)
			}
		})
	}
}
