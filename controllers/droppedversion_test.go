package controllers

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

func TestDroppedVersion(t *testing.T) {
	dropped := answered(http.StatusInternalServerError, "", "request to convert CR to an invalid group/version: application.mycompany.io/v1alpha0")
	r, s, recorder := newReconciler(t)
	app := newApp()
	app.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: "Update", APIVersion: "application.mycompany.io/v1alpha1"},
		{Manager: "gitops", Operation: "Apply", APIVersion: "application.mycompany.io/v1alpha0"},
	}
	s.has(app)
	s.fails["apply status"] = dropped

	err := reconcileWeb(t, r)
	if !errors.Is(err, errDroppedVersion) || !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got %v: no retry can help", err)
	}
	if !s.asked("apply Deployment") || !s.asked("apply Service") {
		t.Errorf("requests %v: the children are none of it", s.requests)
	}
	if len(recorder.events) != 1 || !strings.Contains(recorder.events[0], v1alpha1.ReasonVersionDropped) {
		t.Fatalf("Events %v", recorder.events)
	}
	for _, part := range []string{"Application web", `entry number 1, of "gitops" (Apply) at application.mycompany.io/v1alpha0`, dropped.ErrStatus.Message} {
		if !strings.Contains(recorder.notes[0], part) {
			t.Errorf("note %q lacks %q", recorder.notes[0], part)
		}
	}
}

func TestIsDroppedVersion(t *testing.T) {
	const to, from = "request to convert CR to an invalid group/version: g/v1", "request to convert CR from an invalid group/version: g/v1, Kind=Application"
	for _, c := range []struct {
		err  error
		want bool
	}{
		{answered(http.StatusInternalServerError, "", to), true},
		{answered(http.StatusInternalServerError, "", from), true},
		{fmt.Errorf("applying: %w", answered(http.StatusInternalServerError, "", to)), true},
		{answered(http.StatusBadRequest, "", to), false},
		{answered(http.StatusInternalServerError, "", "etcdserver: request timed out"), false},
		{errors.New(to), false},
		{nil, false},
	} {
		if got := isDroppedVersion(c.err); got != c.want {
			t.Errorf("%v: got %t", c.err, got)
		}
	}
	if message := droppedVersionMessage(newApp(), to); !strings.Contains(message, "the version of an entry of its metadata.managedFields") {
		t.Errorf("without a record: %q", message)
	}
}
