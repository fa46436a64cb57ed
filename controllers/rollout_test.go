package controllers

import (
	"regexp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// TestPausedRollout: what is paused will not move on, and whoever wonders why is told whose decision it is.
func TestPausedRollout(t *testing.T) {
	paused := func(owners ...metav1.ManagedFieldsEntry) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Spec.Paused, d.ManagedFields = true, owners }
	}
	owner := func(manager string, operation metav1.ManagedFieldsOperationType, field string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: operation, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:` + field + `":{}}}`),
		}
	}
	ours := owner(v1alpha1.FieldManager, metav1.ManagedFieldsOperationApply, "paused")
	kubectl := owner("kubectl-rollout", metav1.ManagedFieldsOperationUpdate, "paused")
	const goesOn = ": its roll-out goes on once its .spec.paused is no longer true"
	for _, c := range []struct {
		name    string
		live    *appsv1.Deployment
		message string
	}{
		{"by the spec", newDeployment(counts(3, 0, 0), paused(ours)), "Deployment web is paused by spec.deployment.spec.paused" + goesOn},
		{"by somebody", newDeployment(counts(3, 0, 0), paused(kubectl, owner("other", metav1.ManagedFieldsOperationUpdate, "replicas"))),
			`Deployment web is paused by field manager "kubectl-rollout"` + goesOn},
		{"by both", newDeployment(counts(3, 2, 2), paused(ours, kubectl)), `Deployment web is paused by field manager "kubectl-rollout" and spec.deployment.spec.paused` + goesOn},
		{"nobody knows", newDeployment(counts(4, 3, 3), paused()), "Deployment web is paused" + goesOn},
		{"pods that are there, but not ready, wait for something else", newDeployment(counts(3, 3, 2), paused(kubectl)), "Deployment web waits for its pods to become available"},
		{"after it had rolled out", newDeployment(paused(kubectl)), "Deployment web has rolled out"},
		{"not yet seen", newDeployment(paused(kubectl), func(d *appsv1.Deployment) { d.Generation = 3 }), "Deployment web has been changed and waits for the Deployment controller"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := observeRollout(c.live).progress; got.message != c.message {
				t.Errorf("got %q, want %q", got.message, c.message)
			}
		})
	}
}

func TestObserveRollout(t *testing.T) {
	const (
		yes, no, unsure = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
		available       = "MinimumReplicasAvailable"
	)
	deadline := withCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded")
	noPods := withCondition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate")
	unobserved := func(d *appsv1.Deployment) { d.Generation = 3 }
	for _, c := range []struct {
		name            string
		live            client.Object
		progress        metav1.ConditionStatus
		reason          string
		failed          bool
		available       metav1.ConditionStatus
		availableReason string
	}{
		{"missing", nil, no, v1alpha1.ReasonDeploymentMissing, false, no, v1alpha1.ReasonDeploymentMissing},
		{"just created", newDeployment(func(d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{} }),
			no, v1alpha1.ReasonProgressing, false, unsure, v1alpha1.ReasonAvailabilityUnknown},
		{"changed, not observed", newDeployment(unobserved), no, v1alpha1.ReasonProgressing, false, yes, available},
		{"changed after it had failed", newDeployment(unobserved, deadline), no, v1alpha1.ReasonProgressing, false, yes, available},
		{"too few new pods", newDeployment(counts(3, 1, 1)), no, v1alpha1.ReasonProgressing, false, yes, available},
		{"old pods left", newDeployment(counts(4, 3, 3)), no, v1alpha1.ReasonProgressing, false, yes, available},
		{"new pods not available", newDeployment(counts(3, 3, 2)), no, v1alpha1.ReasonProgressing, false, yes, available},
		{"complete", newDeployment(), yes, v1alpha1.ReasonRolledOut, false, yes, available},
		{"complete, default of one pod", newDeployment(counts(1, 1, 1), func(d *appsv1.Deployment) { d.Spec.Replicas = nil }),
			yes, v1alpha1.ReasonRolledOut, false, yes, available},
		{"default of one pod, none yet", newDeployment(counts(0, 0, 0), func(d *appsv1.Deployment) { d.Spec.Replicas = nil }),
			no, v1alpha1.ReasonProgressing, false, yes, available},
		{"scaled to zero", newDeployment(counts(0, 0, 0), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) }),
			yes, v1alpha1.ReasonRolledOut, false, yes, available},
		{"scaling to zero", newDeployment(counts(1, 0, 0), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) }),
			no, v1alpha1.ReasonProgressing, false, yes, available},
		{"deadline exceeded", newDeployment(counts(3, 1, 0), deadline), no, v1alpha1.ReasonProgressDeadlineExceeded, true, yes, available},
		{"deadline exceeded since pods are refused", newDeployment(counts(0, 0, 0), deadline, noPods),
			no, v1alpha1.ReasonProgressDeadlineExceeded, true, yes, available},
		{"pods refused", newDeployment(counts(1, 1, 1), noPods), no, v1alpha1.ReasonReplicaFailure, false, yes, available},
		{"pods refused, and others not available", newDeployment(counts(3, 3, 2), noPods), no, v1alpha1.ReasonReplicaFailure, false, yes, available},
		{"pods were refused", newDeployment(counts(1, 1, 1), withCondition(appsv1.DeploymentReplicaFailure, corev1.ConditionFalse, "FailedCreate")),
			no, v1alpha1.ReasonProgressing, false, yes, available},
		{"pods refused, and yet all there", newDeployment(noPods), yes, v1alpha1.ReasonRolledOut, false, yes, available},
		{"unavailable", newDeployment(counts(3, 3, 0), withCondition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable")),
			no, v1alpha1.ReasonProgressing, false, no, "MinimumReplicasUnavailable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := observeRollout(c.live)
			if got.progress.status != c.progress || got.progress.reason != c.reason || got.failed != c.failed {
				t.Errorf("progress: %+v, failed %t; want %s %s, failed %t", got.progress, got.failed, c.progress, c.reason, c.failed)
			}
			if got.available.status != c.available || got.available.reason != c.availableReason {
				t.Errorf("available: %+v; want %s %s", got.available, c.available, c.availableReason)
			}
			if got.progress.message == "" || got.available.message == "" {
				t.Errorf("a message is empty: %+v", got)
			}
		})
	}
}

// TestScaledToZero: whoever sees no pods learns that this is no failure.
func TestScaledToZero(t *testing.T) {
	none := newDeployment(counts(0, 0, 0), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) })
	if got := observeRollout(none).progress.message; got != "Deployment web is scaled to zero, as wanted" {
		t.Errorf("no pods: %q", got)
	}
	if got := observeRollout(newDeployment()).progress.message; got != "Deployment web has rolled out" {
		t.Errorf("some pods: %q", got)
	}
}

// kubectlRolloutStatus is how kubectl's `rollout status` decides: whether it ends, and whether with an error. It is
// stated here anew, as an independent witness.
func kubectlRolloutStatus(d *appsv1.Deployment) (done, failed bool) {
	if d.Generation > d.Status.ObservedGeneration {
		return false, false
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded" {
			return false, true
		}
	}
	enough := d.Spec.Replicas == nil || d.Status.UpdatedReplicas >= *d.Spec.Replicas
	return enough && d.Status.Replicas <= d.Status.UpdatedReplicas && d.Status.AvailableReplicas >= d.Status.UpdatedReplicas, false
}

// TestReadyIsKubectlRolloutStatus compares with kubectl for every combination of small numbers and conditions, and sees
// to it that no message counts: a status that changed with every pod would be written with every pod.
func TestReadyIsKubectlRolloutStatus(t *testing.T) {
	conditions := [][]func(*appsv1.Deployment){
		nil,
		{withCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated")},
		{withCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded")},
		{withCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused")},
		{withCondition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate")},
	}
	digit := regexp.MustCompile(`\d`)
	const most = 3
	for n := range most * most * most * most * 2 {
		digits := n
		next := func(base int) int32 {
			digit := digits % base
			digits /= base
			return int32(digit)
		}
		replicas, total, updated, ready, lag := next(most), next(most), next(most), next(most), next(2)
		for _, changes := range conditions {
			d := newDeployment(append(changes, counts(total, updated, ready))...)
			d.Spec.Replicas = new(replicas)
			d.Generation += int64(lag)
			done, failed := kubectlRolloutStatus(d)
			got := observeRollout(d)
			if got.progress.isTrue() != done || got.failed != failed {
				t.Fatalf("got %+v, failed %t; kubectl says done %t, failed %t of %+v", got.progress, got.failed, done, failed, d)
			}
			for _, message := range []string{got.progress.message, got.available.message} {
				if digit.MatchString(message) {
					t.Fatalf("the message counts: %q", message)
				}
			}
		}
	}
}
