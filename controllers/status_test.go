package controllers

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// rollouts are the states in which a Deployment can be seen, and what `kubectl rollout status` says of them.
var rollouts = []struct {
	name         string
	live         *appsv1.Deployment
	done, failed bool
}{
	{"no Deployment", nil, false, false},
	{"not observed", newDeployment(func(d *appsv1.Deployment) { d.Generation++ }), false, false},
	{"rolling out", newDeployment(counts(4, 2, 2)), false, false},
	{"rolled out", newDeployment(), true, false},
	{"deadline exceeded", newDeployment(counts(4, 2, 2), withCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded")), false, true},
	{"pods refused", newDeployment(counts(1, 1, 1), withCondition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate")), false, false},
}

// kstatus is how kstatus, and so Flux, Argo CD and kpt, read a resource without a rule of its own.
func kstatus(app *v1alpha1.Application) string {
	is := func(conditionType string) bool {
		return apimeta.IsStatusConditionTrue(app.Status.Conditions, conditionType)
	}
	switch {
	case app.Status.ObservedGeneration != app.Generation:
		return "InProgress"
	case is("Stalled"):
		return "Failed"
	case is("Ready"):
		return "Current"
	default:
		return "InProgress"
	}
}

// TestDeriveStatus goes through every outcome of the Deployment in every state of its roll-out.
func TestDeriveStatus(t *testing.T) {
	for _, outcome := range outcomeCases {
		for _, rollout := range rollouts {
			t.Run(outcome.name+", "+rollout.name, func(t *testing.T) {
				app := newApp()
				_, service := unchangedResults()
				deployment := outcome.of("Deployment")
				if rollout.live != nil {
					deployment.live = rollout.live
				}
				app.Status = deriveStatus(app, deployment, service, start)

				synced := outcome.reason == ""
				ready, sync := condition(t, app.Status, "Ready"), condition(t, app.Status, "Synced")
				if got, want := ready.Status == metav1.ConditionTrue, synced && rollout.done; got != want {
					t.Errorf("Ready is %s, want %t", ready.Status, want)
				}
				if got := sync.Status == metav1.ConditionTrue; got != synced {
					t.Errorf("Synced is %s, want %t", sync.Status, synced)
				}
				if !synced && (ready.Reason != outcome.reason || ready.Message != sync.Message) {
					t.Errorf("Ready says %s, %q; it should say what Synced says", ready.Reason, ready.Message)
				}

				wantPhase, wantKstatus := v1alpha1.PhasePending, "InProgress"
				switch {
				case rollout.failed, outcome.reason == v1alpha1.ReasonInvalid:
					wantPhase = v1alpha1.PhaseFailed
				case rollout.done:
					wantPhase = v1alpha1.PhaseRunning
				}
				switch {
				case rollout.failed, outcome.stalled:
					wantKstatus = "Failed"
				case synced && rollout.done:
					wantKstatus = "Current"
				}
				if app.Status.Phase != wantPhase {
					t.Errorf("phase %s, want %s", app.Status.Phase, wantPhase)
				}
				if got := kstatus(app); got != wantKstatus {
					t.Errorf("kstatus says %s, want %s", got, wantKstatus)
				}
				checkShape(t, app)
			})
		}
	}
}

// checkShape checks what holds for each status.
func checkShape(t *testing.T, app *v1alpha1.Application) {
	t.Helper()
	var types []string
	for _, c := range app.Status.Conditions {
		types = append(types, c.Type)
		if c.Reason == "" || c.ObservedGeneration != app.Generation || c.LastTransitionTime.IsZero() {
			t.Errorf("condition %+v lacks a reason, the generation or a time", c)
		}
		if c.Type == v1alpha1.ConditionStalled && c.Status != metav1.ConditionTrue {
			t.Errorf("Stalled is %s; kstatus wants it absent unless it is true", c.Status)
		}
	}
	want := []string{"Ready", "Synced", "Available"}
	if len(types) > 3 {
		want = append(want, "Stalled")
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("order of conditions (-want +got):\n%s", diff)
	}
	if app.Status.Message != condition(t, app.Status, "Ready").Message {
		t.Errorf("status.message %.80q (%d bytes) is not the message of Ready", app.Status.Message, len(app.Status.Message))
	}
	if app.Status.Selector != "app=web,owner=application-operator" {
		t.Errorf("selector %q", app.Status.Selector)
	}
	if app.Status.ObservedGeneration != app.Generation {
		t.Errorf("observedGeneration %d", app.Status.ObservedGeneration)
	}
}

func TestDeriveStatusReportsChildren(t *testing.T) {
	app := newApp()
	deployment, service := unchangedResults()
	status := deriveStatus(app, deployment, service, start)
	if diff := cmp.Diff(&newDeployment().Status, status.DeploymentStatus); diff != "" {
		t.Errorf("deploymentStatus (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&newService().Status, status.ServiceStatus); diff != "" {
		t.Errorf("serviceStatus (-want +got):\n%s", diff)
	}
	// What is reported is a copy: the originals belong to the cache.
	status.DeploymentStatus.Conditions[0].Reason = "changed"
	status.ServiceStatus.LoadBalancer.Ingress[0].IP = "changed"
	if !reflect.DeepEqual(deployment.live, newDeployment()) || !reflect.DeepEqual(service.live, newService()) {
		t.Error("the status shares memory with the child")
	}

	deployment.live, service.live = nil, nil
	if status := deriveStatus(app, deployment, service, start); status.DeploymentStatus != nil || status.ServiceStatus != nil {
		t.Errorf("children that do not exist have a status: %+v", status)
	}
}

// TestDeriveStatusIsStable: the status of an unchanged world is equal to what is stored, so that nothing is written.
func TestDeriveStatusIsStable(t *testing.T) {
	for _, outcome := range outcomeCases {
		for _, rollout := range rollouts {
			app := newApp()
			_, service := unchangedResults()
			deployment := outcome.of("Deployment")
			if rollout.live != nil {
				deployment.live = rollout.live
			}
			first := deriveStatus(app, deployment, service, start)
			if again := deriveStatus(app, deployment, service, start); !reflect.DeepEqual(first, again) {
				t.Errorf("%s, %s: twice the same world (-first +second):\n%s", outcome.name, rollout.name, cmp.Diff(first, again))
			}
			if diff := cmp.Diff(asStored(t, first), first); diff != "" {
				t.Errorf("%s, %s: storing it changes it (-stored +derived):\n%s", outcome.name, rollout.name, diff)
			}
			app.Status = asStored(t, first)
			app.Status.Conditions = append([]metav1.Condition{{Type: "Audited", Status: metav1.ConditionTrue}}, app.Status.Conditions...)
			later := deriveStatus(app, deployment, service, start.Add(time.Hour))
			if diff := cmp.Diff(asStored(t, first), asStored(t, later)); diff != "" {
				t.Errorf("%s, %s: an hour later (-first +later):\n%s", outcome.name, rollout.name, diff)
			}
		}
	}
}

// TestTransitionTimes: they move with the status of a condition and with nothing else.
func TestTransitionTimes(t *testing.T) {
	app := newApp()
	deployment, service := unchangedResults()
	stepTo := func(at time.Time, outcome outcome, live *appsv1.Deployment, want map[string]time.Time) {
		t.Helper()
		deployment.outcome, deployment.live = outcome, live
		app.Generation++
		app.Status = asStored(t, deriveStatus(app, deployment, service, at))
		for conditionType, moment := range want {
			if got := condition(t, app.Status, conditionType).LastTransitionTime; !got.Equal(&metav1.Time{Time: moment.Truncate(time.Second)}) {
				t.Errorf("at %s %s has the time %s, want %s", at, conditionType, got, moment)
			}
		}
	}
	first, second, third, fourth, fifth := start, start.Add(time.Minute), start.Add(2*time.Minute), start.Add(3*time.Minute), start.Add(4*time.Minute)
	stepTo(first, outcomeCreated, newDeployment(counts(3, 1, 1)), map[string]time.Time{"Ready": first, "Synced": first, "Available": first})
	stepTo(second, outcomeUnchanged, newDeployment(), map[string]time.Time{"Ready": second, "Synced": first, "Available": first})
	deployment.conflicts = []ownership.Conflict{replicasConflict}
	stepTo(third, outcomeConflict, newDeployment(), map[string]time.Time{"Ready": third, "Synced": third, "Available": first, "Stalled": third})
	// Another reason and another message, but the same status.
	deployment.conflicts = nil
	stepTo(fourth, outcomeRefused, newDeployment(), map[string]time.Time{"Ready": third, "Synced": third, "Available": first, "Stalled": third})
	stepTo(fifth, outcomeUnchanged, newDeployment(), map[string]time.Time{"Ready": fifth, "Synced": fifth, "Available": first})
	if apimeta.FindStatusCondition(app.Status.Conditions, "Stalled") != nil {
		t.Error("Stalled is still there")
	}
	// A time that another writer lost is made up for.
	app.Status.Conditions[0].LastTransitionTime = metav1.Time{}
	stepTo(fifth, outcomeUnchanged, newDeployment(), map[string]time.Time{"Ready": fifth})
}

// TestConditionsFitTheirSchema: one condition that the CustomResourceDefinition refuses would keep the whole status from
// arriving. Nothing validates the conditions of a Deployment.
func TestConditionsFitTheirSchema(t *testing.T) {
	reasonPattern := regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	for reason, status := range map[string]string{"MinimumReplicasAvailable": "True", "": "False", "not camel-case": "Unknown", "NoStatus": ""} {
		deployment, service := unchangedResults()
		deployment.live = newDeployment(func(d *appsv1.Deployment) {
			for i := range d.Status.Conditions {
				d.Status.Conditions[i].Reason, d.Status.Conditions[i].Status = reason, corev1.ConditionStatus(status)
				d.Status.Conditions[i].Message = strings.Repeat("long ", maxMessage)
			}
		})
		for _, c := range deriveStatus(newApp(), deployment, service, start).Conditions {
			if !slices.Contains([]metav1.ConditionStatus{"True", "False", "Unknown"}, c.Status) || !reasonPattern.MatchString(c.Reason) || len(c.Message) > 32768 {
				t.Errorf("the Deployment says %q, %q: condition %s is %q with reason %q and a message of %d bytes", status, reason, c.Type, c.Status, c.Reason, len(c.Message))
			}
		}
	}
}

// TestMessageIsBounded: the words of the API server can be longer than an object may be.
func TestMessageIsBounded(t *testing.T) {
	app := newApp()
	deployment, service := unchangedResults()
	deployment.outcome, deployment.failure, deployment.message = outcomeRejected, failureInvalid, strings.Repeat("x", 2*maxMessage)
	app.Status = deriveStatus(app, deployment, service, start)
	checkShape(t, app)
}

// TestUnseenDeployment: a Deployment that cannot be read is not a missing one, and what was known of it stays.
func TestUnseenDeployment(t *testing.T) {
	app := newApp()
	app.Status.Phase = v1alpha1.PhaseRunning
	app.Status.DeploymentStatus = &appsv1.DeploymentStatus{AvailableReplicas: 3}
	app.Status.ServiceStatus = &corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}}}
	unseen := func(kind string) *childResult {
		result := &childResult{kind: kind, name: "web", unseen: true}
		return result.failed(answered(403, "Forbidden", "cannot get"))
	}
	status := deriveStatus(app, unseen("Deployment"), unseen("Service"), start)
	available, synced := condition(t, status, v1alpha1.ConditionAvailable), condition(t, status, v1alpha1.ConditionSynced)
	if available.Status != unknown || available.Reason != v1alpha1.ReasonDeploymentUnknown {
		t.Errorf("Available is %s/%s", available.Status, available.Reason)
	}
	if synced.Reason != v1alpha1.ReasonForbidden || !strings.Contains(synced.Message, "Reading Deployment web is forbidden") {
		t.Errorf("Synced is %s: %s", synced.Reason, synced.Message)
	}
	if diff := cmp.Diff(app.Status.DeploymentStatus, status.DeploymentStatus); diff != "" {
		t.Errorf("deploymentStatus (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(app.Status.ServiceStatus, status.ServiceStatus); diff != "" {
		t.Errorf("serviceStatus (-want +got):\n%s", diff)
	}
	if status.Phase != v1alpha1.PhaseRunning {
		t.Errorf("phase is %s", status.Phase)
	}
}
