package controllers

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// recorder keeps what it is told.
type recorder struct {
	t      testing.TB
	events []string // type and reason
	notes  []string
}

func (r *recorder) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	if app, ok := regarding.(*v1alpha1.Application); !ok || app.UID != appUID {
		r.t.Errorf("an Event about %v, not about the Application", regarding)
	}
	if contested, ok := related.(*corev1.ObjectReference); related != nil && (!ok || contested.FieldPath == "") {
		r.t.Errorf("an Event that is related to %v, no contested field", related)
	}
	// The API server refuses an Event without an action, and the name of a verb is what it asks for.
	if action != "Reconcile" {
		r.t.Errorf("action %q", action)
	}
	if note != "%s" || len(args) != 1 {
		r.t.Errorf("the note %q would be taken for a format", note)
		return
	}
	r.events = append(r.events, eventType+" "+reason)
	r.notes = append(r.notes, args[0].(string))
}

// story goes on from status to status, as reconcile after reconcile does.
type story struct {
	t                   *testing.T
	app                 *v1alpha1.Application
	deployment, service *childResult
}

func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{t: t, app: newApp()}
	s.deployment, s.service = unchangedResults()
	return s
}

// step derives the next status, twice, and expects these Events of the first time and none of the second.
func (s *story) step(name string, want ...string) {
	s.t.Helper()
	for _, want := range [][]string{want, nil} {
		recorder := &recorder{t: s.t}
		status := deriveStatus(s.app, s.deployment, s.service, start)
		// A process that has just started knows only what the live status says.
		(&Reconciler{Recorder: recorder, announced: newAnnouncements()}).announceTransitions(s.t.Context(), s.app, &status)
		s.app.Status = asStored(s.t, status)
		if diff := cmp.Diff(want, recorder.events); diff != "" {
			s.t.Errorf("%s: Events (-want +got):\n%s", name, diff)
		}
	}
}

func (s *story) conflicts(managers ...string) {
	s.deployment.outcome, s.deployment.conflicts = outcomeConflict, nil
	for _, manager := range managers {
		s.deployment.conflicts = append(s.deployment.conflicts, ownership.Conflict{Field: ".spec.replicas", Manager: manager, Operation: byUpdate})
	}
	if len(managers) == 0 {
		s.deployment.outcome = outcomeConfigured
	}
}

func TestAnnounceConflict(t *testing.T) {
	s := newStory(t)
	s.deployment.outcome, s.deployment.live = outcomeCreated, newDeployment(counts(0, 0, 0))
	s.step("first sync, pods to come", "Normal Synced")
	s.deployment.outcome, s.deployment.live = outcomeUnchanged, newDeployment()
	s.step("rolled out", "Normal RolledOut")
	s.conflicts("kubectl")
	s.step("a conflict", "Warning FieldConflict")
	s.conflicts("hpa", "kubectl")
	s.step("one more manager", "Warning FieldConflict")
	s.conflicts("hpa")
	s.step("one manager less", "Warning FieldConflict")
	s.conflicts()
	s.deployment.live = newDeployment(counts(4, 1, 1))
	s.step("cleared, and the change that it held up rolls out", "Normal Synced")
	s.deployment.live = newDeployment()
	s.step("rolled out", "Normal RolledOut")
}

func TestAnnounceFirstSync(t *testing.T) {
	newStory(t).step("all there already, as after an upgrade from another operator", "Normal Synced", "Normal RolledOut")

	s := newStory(t)
	s.conflicts("kubectl")
	s.step("a conflict from the start", "Warning FieldConflict")
}

func TestAnnounceSynced(t *testing.T) {
	s := newStory(t)
	s.step("first sync", "Normal Synced", "Normal RolledOut")
	s.deployment.outcome, s.deployment.message = outcomeRefused, "exists"
	s.step("refused", "Warning ResourceExists")
	s.deployment.outcome, s.deployment.failure = outcomeRejected, failureForbidden
	s.step("forbidden", "Warning Forbidden")
	s.deployment.failure = failureServer
	s.step("server failed", "Warning ApplyFailed")
	s.deployment.outcome = outcomeTerminating
	s.step("terminating: nobody could read them")
	s.deployment.outcome = outcomePaused
	s.step("paused is not alarming", "Normal Paused")
	s.deployment.outcome = outcomeUnchanged
	s.app.Spec.Paused = true
	s.step("paused, but as wanted", "Normal Paused", "Normal RolledOut")
	s.app.Spec.Paused = false
	s.step("no longer paused", "Normal Synced")
	s.service.outcome, s.service.failure, s.service.message = outcomeRejected, failureInvalid, "port clash"
	s.step("the Service counts as well", "Warning Invalid")
}

func TestAnnounceReady(t *testing.T) {
	s := newStory(t)
	s.step("first sync", "Normal Synced", "Normal RolledOut")
	s.deployment.live = newDeployment(counts(4, 1, 1))
	s.step("rolling out: no Event for what is usual")
	s.deployment.live = newDeployment(counts(4, 1, 1), withCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded"))
	s.step("stuck", "Warning ProgressDeadlineExceeded")
	s.deployment.live = newDeployment(counts(4, 2, 2), withCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded"))
	s.step("still stuck, with other numbers")
	s.deployment.live = newDeployment(counts(1, 1, 1), withCondition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate"))
	s.step("pods refused", "Warning ReplicaFailure")
	s.deployment.live = newDeployment()
	s.step("rolled out", "Normal RolledOut")
	s.deployment.live = newDeployment(counts(0, 0, 0), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) })
	s.step("scaled to zero: as ready as before, if for another reason")
	s.deployment.live = nil
	s.step("the Deployment is gone: another is created at once")
}

// TestAnnounceNote: the API server refuses Events whose note is longer than 1024 bytes.
func TestAnnounceNote(t *testing.T) {
	for _, message := range []string{strings.Repeat("ä", 1000), "odd" + strings.Repeat("ä", 1000), strings.Repeat("100%s ", 400)} {
		recorder := &recorder{t: t}
		(&Reconciler{Recorder: recorder}).announce(t.Context(), newApp(), &v1alpha1.ApplicationStatus{}, "Warning", &metav1.Condition{Reason: "Invalid", Message: message})
		if note := recorder.notes[0]; len(note) > 1024 || len(note) < 1020 || !utf8.ValidString(note) {
			t.Errorf("a note of %d bytes: %.40q…", len(note), note)
		}
	}
	recorder := &recorder{t: t}
	(&Reconciler{Recorder: recorder}).announce(t.Context(), newApp(), &v1alpha1.ApplicationStatus{}, "Warning", &metav1.Condition{Reason: "Invalid", Message: "at 100%s"})
	if recorder.notes[0] != "at 100%s" {
		t.Errorf("note %q", recorder.notes[0])
	}
}

// TestAnnounceOnce: where another manager holds a part of the status, the live status never becomes the derived one.
func TestAnnounceOnce(t *testing.T) {
	recorder := &recorder{t: t}
	r := &Reconciler{Recorder: recorder, announced: newAnnouncements()}
	s := newStory(t)
	s.conflicts("kubectl")
	for range 3 {
		status := deriveStatus(s.app, s.deployment, s.service, start)
		r.announceTransitions(t.Context(), s.app, &status) // s.app stays as it is
	}
	if len(recorder.events) != 1 {
		t.Errorf("Events: %v, want one", recorder.events)
	}
	r.announced.forget(webKey)
	if len(r.announced.last) > 0 {
		t.Errorf("still remembered: %v", r.announced.last)
	}
}

// TestAnnounceConflictSet: Events that differ in nothing but their note are folded into one by the API machinery.
func TestAnnounceConflictSet(t *testing.T) {
	conflict := func(kind, field string) v1alpha1.FieldConflict {
		return v1alpha1.FieldConflict{Kind: kind, Name: "web", Field: field, Manager: "kubectl"}
	}
	about := func(conflicts ...v1alpha1.FieldConflict) any {
		return contestedObject(newApp(), &v1alpha1.ApplicationStatus{Conflicts: conflicts})
	}
	if got := about(); got != runtime.Object(nil) {
		t.Errorf("without conflicts: %v", got)
	}
	one := about(conflict("Deployment", ".spec.replicas"))
	want := &corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: webKey.Namespace, Name: "web", FieldPath: ".spec.replicas"}
	if diff := cmp.Diff(any(want), one); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if two := about(conflict("Deployment", ".spec.paused"), conflict("Deployment", ".spec.replicas")); cmp.Equal(one, two) {
		t.Error("another set of conflicts is about the same")
	}
}
