package controllers

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// TestReportFailureTwice: a status that differed at each report of one failure would be a write, and that an event, and
// that the next report.
func TestReportFailureTwice(t *testing.T) {
	r, s, _ := newReconciler(t)
	app := newApp()
	ofDeployment := v1alpha1.FieldConflict{Kind: "Deployment", Name: "web", Field: ".spec.replicas", Manager: "kubectl"}
	app.Status = v1alpha1.ApplicationStatus{Phase: v1alpha1.PhaseRunning, Conflicts: []v1alpha1.FieldConflict{ofDeployment}}
	dashboard := metav1.ManagedFieldsEntry{
		Manager: "dashboard", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status",
		APIVersion: v1alpha1.SchemeGroupVersion.String(), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:phase":{}}}`),
	}
	// report returns the status that is applied while others hold fields of the status that the operator applied before.
	report := func(others ...metav1.ManagedFieldsEntry) v1alpha1.ApplicationStatus {
		t.Helper()
		own := app.Status.DeepCopy()
		own.Phase = ""
		intent, err := r.newStatusIntent(app, own)
		if err != nil {
			t.Fatal(err)
		}
		app.ManagedFields = others
		recordOwner(t, app, intent)
		cause := deniedByRBAC()
		if err := r.reportFailure(t.Context(), app, cause); !errors.Is(err, cause) {
			t.Fatalf("returned %v", err)
		}
		app.Status = asStored(t, s.status)
		app.Status.Phase = v1alpha1.PhaseRunning
		return app.Status
	}

	first := report(dashboard)
	if len(first.Conflicts) != 2 || first.Conflicts[0] != ofDeployment || first.Conflicts[1].Field != ".status.phase" {
		t.Fatalf("conflicts %v, want that of the Deployment and one of .status.phase", first.Conflicts)
	}
	if diff := cmp.Diff(first, report(dashboard)); diff != "" {
		t.Errorf("reports of one failure differ (-first +second):\n%s", diff)
	}
	app.Status.Phase = ""
	if released := report(); len(released.Conflicts) != 1 || released.Conflicts[0] != ofDeployment {
		t.Errorf("once nobody else holds the status, its conflicts are %v", released.Conflicts)
	}
}
