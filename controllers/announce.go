package controllers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// maxNote is the API server's limit on the note of an Event, in bytes.
const maxNote = 1024

// actionReconcile is the action of every Event: what the operator was doing.
const actionReconcile = "Reconcile"

// announceTransitions writes Events about what is new in status, as compared with the status that app shows. A reconcile
// that finds nothing new writes none.
func (r *Reconciler) announceTransitions(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) {
	was, is := &app.Status, status
	synced := meta.FindStatusCondition(is.Conditions, v1alpha1.ConditionSynced)
	if before := meta.FindStatusCondition(was.Conditions, v1alpha1.ConditionSynced); before == nil ||
		before.Status != synced.Status || before.Reason != synced.Reason || !slices.Equal(was.Conflicts, is.Conflicts) {
		switch {
		case synced.Reason == v1alpha1.ReasonTerminating:
			// A namespace that is being deleted takes no Events, and nobody reads them.
		case synced.Status == trueStatus && len(is.Conflicts) == 0, synced.Reason == v1alpha1.ReasonPaused:
			r.announce(app, corev1.EventTypeNormal, synced.Reason, synced.Message)
		default:
			r.announce(app, corev1.EventTypeWarning, synced.Reason, synced.Message)
		}
	}

	ready := meta.FindStatusCondition(is.Conditions, v1alpha1.ConditionReady)
	if before := meta.FindStatusCondition(was.Conditions, v1alpha1.ConditionReady); before != nil && before.Reason == ready.Reason {
		return
	}
	switch ready.Reason {
	case v1alpha1.ReasonRolledOut:
		r.announce(app, corev1.EventTypeNormal, ready.Reason, ready.Message)
	case v1alpha1.ReasonProgressDeadlineExceeded, v1alpha1.ReasonReplicaFailure:
		r.announce(app, corev1.EventTypeWarning, ready.Reason, ready.Message)
	}
}

func (r *Reconciler) announce(app *v1alpha1.Application, eventType, reason, note string) {
	r.Recorder.Eventf(app, nil, eventType, reason, actionReconcile, "%s", truncate(note, maxNote))
}
