package controllers

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

func ownedFields(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: v1alpha1.SchemeGroupVersion.String(), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

const finalizerField = `{"f:metadata":{"f:finalizers":{"v:\"application.mycompany.io/orphan\"":{}}}}`

// orphaning returns an Application that orphans its children and has the finalizer for that.
func orphaning() *v1alpha1.Application {
	app := newApp()
	app.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
	app.Finalizers = []string{v1alpha1.Finalizer}
	app.ManagedFields = []metav1.ManagedFieldsEntry{ownedFields(v1alpha1.FieldManagerFinalizer, byApply, finalizerField)}
	return app
}

// TestFinalizerIsApplied exactly when the operator's own part of the record, or the list, is not as wanted.
func TestFinalizerIsApplied(t *testing.T) {
	old := ownedFields(v1alpha1.FieldManagerFinalizer, byApply, finalizerField)
	old.APIVersion = "application.mycompany.io/v1alpha0"
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.Application)
		want   bool
	}{
		{"as wanted", func(*v1alpha1.Application) {}, false},
		{"not there", func(app *v1alpha1.Application) { app.Finalizers, app.ManagedFields = nil, nil }, true},
		{"there, but by somebody else", func(app *v1alpha1.Application) { app.ManagedFields[0].Manager = "backup" }, true},
		{"on record, but not there", func(app *v1alpha1.Application) { app.Finalizers = nil }, true},
		{"applied at another version", func(app *v1alpha1.Application) { app.ManagedFields[0] = old }, true},
		{"not wanted any more", func(app *v1alpha1.Application) { app.Spec.DeletionPolicy = "" }, true},
		{"neither wanted nor there", func(app *v1alpha1.Application) {
			app.Spec.DeletionPolicy, app.Finalizers, app.ManagedFields = v1alpha1.DeletionDelete, nil, nil
		}, false},
		{"another's, and not wanted", func(app *v1alpha1.Application) {
			app.Spec.DeletionPolicy, app.ManagedFields[0].Manager = "", "backup"
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			app := orphaning()
			c.change(app)
			if err := r.syncFinalizer(t.Context(), app); err != nil {
				t.Fatal(err)
			}
			if got := s.asked("apply Application"); got != c.want {
				t.Errorf("requests %v", s.requests)
			}
		})
	}
}

// TestFinalizerComesFirst: what follows in the same reconcile goes by the version that the finalizer made.
func TestFinalizerComesFirst(t *testing.T) {
	r, s, _ := newReconciler(t)
	app := orphaning()
	app.Finalizers, app.ManagedFields = nil, nil
	s.has(app)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "apply Application", "apply Deployment", "apply Service", "apply status")
	if s.uids["apply Application"] != appUID {
		t.Errorf("the finalizer was applied to uid %q: another Application of the name might get it", s.uids["apply Application"])
	}
	if got := s.versions["apply status"]; got != "1001" {
		t.Errorf("the status was applied at version %q, want that of the finalizer", got)
	}
}

// TestFinalizerKeepsFromActingOnOldCache: between the finalizer and its event, nothing is decided.
func TestFinalizerKeepsFromActingOnOldCache(t *testing.T) {
	r, s, _ := newReconciler(t)
	app := orphaning()
	app.Finalizers, app.ManagedFields = nil, nil
	s.has(app)
	s.fails["apply Deployment"] = answered(503, "ServiceUnavailable", "later")
	if err := reconcileWeb(t, r); err == nil {
		t.Fatal("no error")
	}
	s.requests = nil
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s)
}

// TestFinalizerOfApplicationThatIsGone: its children are none of the operator's business any more.
func TestFinalizerOfApplicationThatIsGone(t *testing.T) {
	for name, answer := range map[string]error{"gone": answered(404, metav1.StatusReasonNotFound, "gone"), "another one": uidMismatch()} {
		r, s, _ := newReconciler(t)
		app := orphaning()
		app.Finalizers, app.ManagedFields = nil, nil
		s.has(app)
		s.fails["apply Application"] = answer
		if err := reconcileWeb(t, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		expectRequests(t, s, "apply Application")
	}
}

func TestDropFinalizer(t *testing.T) {
	surprise := errors.New("surprise")
	for _, c := range []struct{ answer, want error }{
		{nil, nil}, {answered(404, metav1.StatusReasonNotFound, "gone"), errApplicationGone}, {surprise, surprise},
	} {
		r, s, _ := newReconciler(t)
		s.fails["patch Application"] = c.answer
		app := orphaning()
		app.Finalizers = []string{"example.com/backup", v1alpha1.Finalizer}
		if err := r.dropFinalizer(t.Context(), app); !errors.Is(err, c.want) {
			t.Errorf("answered %v: returned %v", c.answer, err)
		}
		want := `[{"op":"test","path":"/metadata/finalizers/1","value":"application.mycompany.io/orphan"},` +
			`{"op":"remove","path":"/metadata/finalizers/1"},{"op":"replace","path":"/metadata/resourceVersion","value":"100"}]`
		if diff := cmp.Diff(want, s.patches["patch Application"]); diff != "" {
			t.Errorf("patch (-want +got):\n%s", diff)
		}
	}
}

// TestFinalizeOfOthers: without the operator's finalizer, nothing is left to do.
func TestFinalizeOfOthers(t *testing.T) {
	r, s, _ := newReconciler(t)
	app := orphaning()
	app.Finalizers, app.DeletionTimestamp = []string{"example.com/backup"}, &metav1.Time{Time: start}
	s.has(app, newDeployment(), newService())
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s)
}

func TestFinalizeOfApplicationThatIsGone(t *testing.T) {
	r, s, _ := newReconciler(t)
	app := orphaning()
	app.DeletionTimestamp = &metav1.Time{Time: start}
	s.has(app, newDeployment(), newService())
	s.fails["apply Application"] = answered(404, metav1.StatusReasonNotFound, "gone")
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "patch Deployment", "patch Service", "apply Application")
}

// TestFailureIsReported: what keeps the operator from the children is all that can be said, and what was said of them stays.
func TestFailureIsReported(t *testing.T) {
	earlier := metav1.NewTime(start.Add(-time.Hour).Truncate(time.Second))
	app := orphaning()
	app.Finalizers, app.ManagedFields = nil, nil
	app.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionAvailable, Status: trueStatus, Reason: "MinimumReplicasAvailable", LastTransitionTime: earlier},
		{Type: v1alpha1.ConditionReady, Status: falseStatus, Reason: v1alpha1.ReasonProgressing, LastTransitionTime: earlier},
	}
	for _, c := range []struct {
		name     string
		answer   error
		status   error
		reported bool
		returned []error
		told     bool
	}{
		{"refused", deniedByRBAC(), nil, true, []error{deniedByRBAC()}, true},
		{"refused, and the cache is behind", deniedByRBAC(), uidMismatch(), true, []error{deniedByRBAC()}, false},
		{"refused, and so is the status", deniedByRBAC(), overQuota(), true, []error{deniedByRBAC(), overQuota()}, false},
		{"passing", answered(503, "ServiceUnavailable", "later"), nil, false, []error{answered(503, "ServiceUnavailable", "later")}, false},
		{"a version that was dropped", answered(500, "", "request to convert CR to an invalid group/version: g/v1alpha0"), nil, false, []error{errDroppedVersion}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, events := newReconciler(t)
			s.has(app.DeepCopy())
			s.fails["apply Application"], s.fails["apply status"] = c.answer, c.status
			err := reconcileWeb(t, r)
			for _, want := range c.returned {
				if err == nil || !strings.Contains(err.Error(), want.Error()) {
					t.Errorf("returned %v, want %v", err, want)
				}
			}
			if errors.Is(err, errCacheBehind) {
				t.Errorf("returned %v: that is nothing to try again for", err)
			}
			if s.asked("apply status") != c.reported || s.asked("apply Deployment") {
				t.Errorf("requests %v", s.requests)
			}
			if (len(events.events) == 1) != c.told {
				t.Errorf("Events %v", events.events)
			}
			if !c.reported {
				return
			}
			if s.status.Phase != v1alpha1.PhaseFailed || s.status.ObservedGeneration != app.Generation || !strings.HasPrefix(s.status.Message, "The operator cannot go on: ") {
				t.Errorf("phase %s of generation %d: %s", s.status.Phase, s.status.ObservedGeneration, s.status.Message)
			}
			for conditionType, want := range map[string]metav1.ConditionStatus{
				v1alpha1.ConditionReady: falseStatus, v1alpha1.ConditionSynced: falseStatus, v1alpha1.ConditionStalled: trueStatus, v1alpha1.ConditionAvailable: trueStatus,
			} {
				got := condition(t, s.status, conditionType)
				isNew := conditionType == v1alpha1.ConditionSynced || conditionType == v1alpha1.ConditionStalled
				if got.Status != want || got.LastTransitionTime.Equal(&earlier) == isNew {
					t.Errorf("condition %+v, want %s", got, want)
				}
			}
		})
	}
}

// patchOperations reads a JSON patch: the value at each path.
func patchOperations(t *testing.T, patch string) map[string]json.RawMessage {
	t.Helper()
	var operations []struct {
		Path  string
		Value json.RawMessage
	}
	if err := json.Unmarshal([]byte(patch), &operations); err != nil {
		t.Fatalf("patch %s: %v", patch, err)
	}
	values := map[string]json.RawMessage{}
	for _, operation := range operations {
		values[operation.Path] = operation.Value
	}
	return values
}
