package controllers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// rollout is what the Deployment tells of its pods.
type rollout struct {
	// progress is True once the wanted pods, and only these, run and are available: just when `kubectl rollout status`
	// says so.
	progress state
	// available is the Deployment's own Available condition.
	available state
	// failed: the Deployment has given up making progress.
	failed bool
	// unseen: nothing is known of the Deployment.
	unseen bool
}

// unseenRollout is that of a Deployment which could not be read.
func unseenRollout() rollout {
	s := state{status: unknown, reason: v1alpha1.ReasonDeploymentUnknown, message: "The Deployment of this Application cannot be read: the condition Synced says why"}
	return rollout{progress: s, available: s, unseen: true}
}

// observeRollout reads the Deployment. Nil is one that does not exist.
func observeRollout(live client.Object) rollout {
	deployment, ok := live.(*appsv1.Deployment)
	if !ok {
		missing := state{status: falseStatus, reason: v1alpha1.ReasonDeploymentMissing, message: "There is no Deployment of this Application"}
		return rollout{progress: missing, available: missing}
	}
	r := rollout{available: availability(deployment)}
	r.progress, r.failed = progress(deployment)
	return r
}

func availability(deployment *appsv1.Deployment) state {
	reported := deploymentCondition(deployment, appsv1.DeploymentAvailable)
	if reported == nil {
		return state{
			status:  unknown,
			reason:  v1alpha1.ReasonAvailabilityUnknown,
			message: fmt.Sprintf("Deployment %s has not reported yet", deployment.Name),
		}
	}
	s := state{status: metav1.ConditionStatus(reported.Status), reason: reported.Reason, message: reported.Message}
	// Nothing validates the conditions of a Deployment, but the Application's own are validated: one bad reason would
	// keep the whole status from arriving.
	if s.status != trueStatus && s.status != falseStatus {
		s.status = unknown
	}
	if !validReason.MatchString(s.reason) {
		s.reason = v1alpha1.ReasonAvailabilityUnknown
	}
	return s
}

// validReason is the CRD's rule for the reason of a condition.
var validReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

func progress(deployment *appsv1.Deployment) (s state, failed bool) {
	status := &deployment.Status
	waiting := func(what string) state {
		return state{
			status:  falseStatus,
			reason:  v1alpha1.ReasonProgressing,
			message: fmt.Sprintf("Deployment %s %s", deployment.Name, what),
		}
	}
	if status.ObservedGeneration < deployment.Generation {
		return waiting("has been changed and waits for the Deployment controller"), false
	}
	if c := deploymentCondition(deployment, appsv1.DeploymentProgressing); c != nil && c.Reason == "ProgressDeadlineExceeded" {
		return state{
			status:  falseStatus,
			reason:  v1alpha1.ReasonProgressDeadlineExceeded,
			message: fmt.Sprintf("Deployment %s made no progress within its deadline: look at its pods, then correct the spec", deployment.Name),
		}, true
	}

	// Pods whose creation is refused are tried again for ever, by the ReplicaSet.
	replicas := ptr.Deref(deployment.Spec.Replicas, 1)
	replaced := status.UpdatedReplicas >= replicas && status.Replicas <= status.UpdatedReplicas
	complete := replaced && status.AvailableReplicas >= status.UpdatedReplicas
	if c := deploymentCondition(deployment, appsv1.DeploymentReplicaFailure); c != nil && c.Status == corev1.ConditionTrue && !complete {
		return state{
			status:  falseStatus,
			reason:  v1alpha1.ReasonReplicaFailure,
			message: fmt.Sprintf("Deployment %s cannot create its pods: status.deploymentStatus.conditions says why", deployment.Name),
		}, false
	}

	switch {
	case deployment.Spec.Paused && !replaced:
		return waiting(fmt.Sprintf("is paused%s: its roll-out goes on once its .spec.paused is no longer true", pausedBy(deployment))), false
	case status.UpdatedReplicas < replicas:
		return waiting("has yet to create pods of the new template"), false
	case status.Replicas > status.UpdatedReplicas:
		return waiting("has yet to remove pods of an old template"), false
	case status.AvailableReplicas < status.UpdatedReplicas:
		return waiting("waits for its pods to become available"), false
	case replicas == 0:
		return state{status: trueStatus, reason: v1alpha1.ReasonRolledOut, message: fmt.Sprintf("Deployment %s is scaled to zero, as wanted", deployment.Name)}, false
	default:
		return state{status: trueStatus, reason: v1alpha1.ReasonRolledOut, message: fmt.Sprintf("Deployment %s has rolled out", deployment.Name)}, false
	}
}

// pausedBy tells whose decision it is that a Deployment is paused, as far as its managedFields do.
func pausedBy(deployment *appsv1.Deployment) string {
	managed, err := ownership.Parse(deployment.GetManagedFields())
	if err != nil {
		return ""
	}
	var by []string
	for _, entry := range managed {
		switch {
		case !entry.Fields.Has(fieldpath.MakePathOrDie("spec", "paused")):
		case entry.Manager == applier:
			by = append(by, "spec.deployment.spec.paused")
		default:
			by = append(by, fmt.Sprintf("field manager %q", entry.Name))
		}
	}
	if len(by) == 0 {
		return ""
	}
	slices.Sort(by)
	return " by " + strings.Join(slices.Compact(by), " and ")
}

func deploymentCondition(deployment *appsv1.Deployment, conditionType appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range deployment.Status.Conditions {
		if c := &deployment.Status.Conditions[i]; c.Type == conditionType {
			return c
		}
	}
	return nil
}
