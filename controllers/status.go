package controllers

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// deriveStatus returns the whole status of app. It is pure: the same world gives the same status, to the letter, so
// that an unchanged world needs no write.
func deriveStatus(app *v1alpha1.Application, deployment, service *childResult, now time.Time) v1alpha1.ApplicationStatus {
	status := v1alpha1.ApplicationStatus{
		ObservedGeneration: app.Generation,
		Selector:           labels.SelectorFromSet(v1alpha1.SelectorLabels(app.Name)).String(),
		Conflicts:          fieldConflicts(deployment, service),
	}
	// What cannot be read is told as it was known last.
	if live, ok := deployment.live.(*appsv1.Deployment); ok {
		status.DeploymentStatus = live.Status.DeepCopy()
	} else if deployment.unseen {
		status.DeploymentStatus = app.Status.DeploymentStatus.DeepCopy()
	}
	if live, ok := service.live.(*corev1.Service); ok {
		status.ServiceStatus = live.Status.DeepCopy()
	} else if service.unseen {
		status.ServiceStatus = app.Status.ServiceStatus.DeepCopy()
	}

	sync := syncedState(app, deployment, service)
	if deployment.outcome == outcomeRejected || service.outcome == outcomeRejected {
		sync.message = settledMessage(app, sync)
	}
	work := observeRollout(deployment.live)
	if deployment.unseen {
		work = unseenRollout()
	}
	ready := readyState(sync, work)
	status.Phase = phase(sync, work)
	if work.unseen && app.Status.Phase != "" {
		status.Phase = app.Status.Phase
	}
	status.Message = truncate(ready.message, maxMessage)

	conditions := conditionSet{generation: app.Generation, now: now, previous: app.Status.Conditions}
	conditions.set(v1alpha1.ConditionReady, ready)
	conditions.set(v1alpha1.ConditionSynced, sync)
	conditions.set(v1alpha1.ConditionAvailable, work.available)
	if stalled, ok := stalledState(sync, work); ok {
		conditions.set(v1alpha1.ConditionStalled, stalled)
	}
	status.Conditions = conditions.list
	return status
}

// fieldConflicts lists the contested fields of all children in a stable order.
func fieldConflicts(results ...*childResult) []v1alpha1.FieldConflict {
	var list []v1alpha1.FieldConflict
	for _, result := range results {
		for _, c := range result.conflicts {
			list = append(list, newFieldConflict(result.kind, result.name, c))
		}
	}
	return list
}

func newFieldConflict(kind, name string, c ownership.Conflict) v1alpha1.FieldConflict {
	return v1alpha1.FieldConflict{
		Kind:        kind,
		Name:        name,
		Field:       c.Field,
		Manager:     c.Manager,
		Operation:   c.Operation,
		Subresource: c.Subresource,
		APIVersion:  c.APIVersion,
	}
}

// readyState sums up: what keeps the children from being as wanted comes first.
func readyState(sync state, work rollout) state {
	if !sync.isTrue() {
		return state{status: falseOf(sync.status), reason: sync.reason, message: sync.message}
	}
	return work.progress
}

// stalledState tells why nothing will move on by itself, if that is so.
func stalledState(sync state, work rollout) (state, bool) {
	switch {
	case sync.stalled:
		return state{status: trueStatus, reason: sync.reason, message: sync.message}, true
	case work.failed:
		return state{status: trueStatus, reason: work.progress.reason, message: work.progress.message}, true
	default:
		return state{}, false
	}
}

// phase tells what runs, whether or not the operator may change it.
func phase(sync state, work rollout) v1alpha1.ApplicationPhase {
	switch {
	case work.failed, sync.reason == v1alpha1.ReasonInvalid:
		return v1alpha1.PhaseFailed
	case work.progress.isTrue():
		return v1alpha1.PhaseRunning
	default:
		return v1alpha1.PhasePending
	}
}

// syncedState tells whether all children are as wanted, and if not, why. The worst reason stands in front; the message
// has a sentence for each child that is not, or not quite.
func syncedState(app *v1alpha1.Application, results ...*childResult) state {
	synced := state{status: trueStatus, reason: v1alpha1.ReasonSynced, message: "Every field that the spec wants is as it wants it"}
	if app.Spec.Paused {
		synced.reason = v1alpha1.ReasonPaused
		synced.message += ". spec.paused is true, so a later change is not applied"
	}
	severity := 0
	var messages []string
	for _, result := range results {
		s, rank := childState(app, result)
		// What is said of all children need not be said twice.
		if s.message != "" && !slices.Contains(messages, s.message) {
			messages = append(messages, s.message)
		}
		synced.stalled = synced.stalled || s.stalled
		if rank > severity {
			severity = rank
			synced.status, synced.reason = s.status, s.reason
		}
	}
	if len(messages) > 0 {
		synced.message = joinSentences(messages)
	}
	return synced
}

// childState tells what there is to say about a child, and how that ranks among several children. A child that is just
// as wanted ranks 0.
func childState(app *v1alpha1.Application, result *childResult) (s state, rank int) {
	s = state{status: falseStatus, message: result.message}
	if ownershipLost(result) && result.outcome != outcomePaused && result.outcome != outcomeRejected {
		return state{status: falseStatus, reason: v1alpha1.ReasonOwnershipLost, message: ownershipLostMessage(result), stalled: true}, 7
	}
	switch result.outcome {
	case outcomeRejected:
		s.reason = result.failure.reason()
		s.stalled = result.failure == failureInvalid || result.failure == failureForbidden
		return s, 10 + int(result.failure)
	case outcomeConflict:
		s.reason, s.stalled = v1alpha1.ReasonFieldConflict, true
		s.message = conflictMessage(app, result)
		return s, 6
	case outcomeRefused:
		s.reason, s.stalled = v1alpha1.ReasonResourceExists, true
		return s, 5
	case outcomeTerminating:
		s.reason = v1alpha1.ReasonTerminating
		return s, 4
	case outcomePaused:
		s.reason = v1alpha1.ReasonPaused
		differs, remedy := "differs from the spec and is left as it is", "apply the spec"
		switch {
		case result.live == nil:
			differs = "does not exist and is not created"
		case result.intent == nil:
			differs, remedy = "is no longer wanted and is not deleted", "have it deleted"
		}
		s.message = fmt.Sprintf("%s %s, since spec.paused is true: set it to false to %s", result.describe(), differs, remedy)
		if len(result.conflicts) > 0 {
			s.message = fmt.Sprintf("%s. Contested now: %s", s.message, listConflicts(result.conflicts))
		}
		return s, 3
	}

	s = state{status: trueStatus}
	var notes []string
	if len(result.mutated) > 0 {
		s.reason, rank = v1alpha1.ReasonFieldsMutated, 1
		notes = append(notes, mutatedMessage(result))
	}
	if result.yielded() {
		s.reason, rank = v1alpha1.ReasonFieldsYielded, 2
		notes = append(notes, yieldMessage(result))
	}
	s.message = joinSentences(append(notes, nonEmpty(leftoversMessage(result))...))
	return s, rank
}
