package controllers

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// unexposed makes the Application want no Service any more, while there is one.
func unexposed(s *server) {
	for _, app := range []client.Object{s.cached["Application"], s.stored["Application"]} {
		app.(*v1alpha1.Application).Spec.Expose = ""
	}
	s.has(newService())
}

func TestPrune(t *testing.T) {
	r, s, _ := newReconciler(t)
	unexposed(s)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "apply Deployment", "delete Service", "apply status")
	if s.status.ServiceStatus != nil || condition(t, s.status, "Synced").Status != metav1.ConditionTrue {
		t.Errorf("status %+v", s.status)
	}
	// The cache still shows the Service, as if it had not been deleted.
	app := s.cached["Application"].(*v1alpha1.Application)
	result := r.syncChild(t.Context(), app, serviceChild, r.wants.of(r.childTypes, app))
	if !result.deferred() || len(s.requests) != 3 {
		t.Errorf("%s on an old cache, and wrote %v", result.outcome, s.requests[3:])
	}
}

func TestPruneErrors(t *testing.T) {
	for _, c := range []struct {
		name     string
		err      error
		returned bool
		synced   string // empty: no status
		stalled  bool
	}{
		{"gone already", apierrors.NewNotFound(namespaces, "web"), false, v1alpha1.ReasonSynced, false},
		{"changed meanwhile", staleVersion(), true, "", false},
		{"forbidden", deniedByRBAC(), true, v1alpha1.ReasonForbidden, true},
		{"webhook", webhookFailed(1), true, v1alpha1.ReasonApplyFailed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			unexposed(s)
			s.fails["delete Service"] = c.err
			err := reconcileWeb(t, r)
			if (err != nil) != c.returned || errors.Is(err, reconcile.TerminalError(nil)) {
				t.Errorf("returned %v", err)
			}
			if s.asked("apply status") != (c.synced != "") {
				t.Fatalf("requests %v", s.requests)
			}
			if c.synced == "" {
				return
			}
			if got := condition(t, s.status, "Synced"); got.Reason != c.synced {
				t.Errorf("Synced: %s, want %s", got.Reason, c.synced)
			}
			if got := apimeta.IsStatusConditionTrue(s.status.Conditions, "Stalled"); got != c.stalled {
				t.Errorf("Stalled: %t, want %t", got, c.stalled)
			}
			if there := s.status.ServiceStatus != nil; there != c.returned {
				t.Errorf("a Service is reported: %t, although it is there: %t", there, c.returned)
			}
		})
	}
}

// TestPruneLeavesAlone what it need not or must not delete.
func TestPruneLeavesAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*server)
		synced string
	}{
		{"somebody else's", func(s *server) { s.cached["Service"].SetOwnerReferences(nil) }, v1alpha1.ReasonSynced},
		{"going", func(s *server) { s.cached["Service"].SetDeletionTimestamp(&metav1.Time{Time: start}) }, v1alpha1.ReasonSynced},
		{"not there", func(s *server) { delete(s.cached, "Service"); delete(s.stored, "Service") }, v1alpha1.ReasonSynced},
		{"paused", func(s *server) { s.cached["Application"].(*v1alpha1.Application).Spec.Paused = true }, v1alpha1.ReasonPaused},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			unexposed(s)
			c.change(s)
			if err := reconcileWeb(t, r); err != nil {
				t.Fatal(err)
			}
			if s.asked("delete Service") {
				t.Error("it was deleted")
			}
			if got := condition(t, s.status, "Synced").Reason; got != c.synced {
				t.Errorf("Synced: %s, want %s", got, c.synced)
			}
		})
	}
}

// TestPruneAsksTheServerOnce: a Service that lost its label is not in the cache. It is looked for when a spec is new;
// after that no Application without a Service costs a request.
func TestPruneAsksTheServerOnce(t *testing.T) {
	observed := func(s *server, generation int64) {
		app := s.cached["Application"].(*v1alpha1.Application)
		app.Generation, app.Status.ObservedGeneration = 7, generation
		app.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSynced, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSynced}}
	}
	r, s, _ := newReconciler(t)
	unexposed(s)
	delete(s.cached, "Service")
	observed(s, 7)
	s.fails["stored Service"] = errors.New("the server was asked")
	if err := reconcileWeb(t, r); err != nil {
		t.Errorf("the spec is not new: %v", err)
	}

	r, s, _ = newReconciler(t)
	unexposed(s)
	delete(s.cached, "Service")
	observed(s, 6)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	if !s.asked("delete Service") {
		t.Errorf("requests %v: the Service is left behind", s.requests)
	}
}

// TestPaused: nothing is written to the children, and the status says so.
func TestPaused(t *testing.T) {
	r, s, _ := newReconciler(t)
	s.cached["Application"].(*v1alpha1.Application).Spec.Paused = true
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "apply status")
	if got := condition(t, s.status, "Synced"); got.Status != metav1.ConditionFalse || got.Reason != v1alpha1.ReasonPaused || !strings.Contains(got.Message, "spec.paused") {
		t.Errorf("Synced: %+v", got)
	}
}
