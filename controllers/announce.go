package controllers

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// maxNote is the API server's limit on the note of an Event, in bytes.
const maxNote = 1024

// actionReconcile is the action of every Event: what the operator was doing.
const actionReconcile = "Reconcile"

// announceTransitions writes Events about what is new in status, as compared with what was announced last or, after a
// restart, with the status that app shows. A reconcile that finds nothing new writes none. It does not rely on the live
// status alone: what another manager holds of it never becomes what the operator derives. Each Event is a line of the log,
// too, but for the words of the API server: these might quote what the spec holds.
func (r *Reconciler) announceTransitions(ctx context.Context, app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) {
	was, is := r.announced.replace(app, announce(status))
	synced := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionSynced)
	if was.synced != is.synced || !slices.Equal(was.conflicts, is.conflicts) {
		switch {
		case synced.Reason == v1alpha1.ReasonTerminating:
			// A namespace that is being deleted takes no Events, and nobody reads them.
		case synced.Status == trueStatus && len(is.conflicts) == 0, synced.Reason == v1alpha1.ReasonPaused:
			r.announce(ctx, app, status, corev1.EventTypeNormal, synced)
		default:
			r.announce(ctx, app, status, corev1.EventTypeWarning, synced)
		}
	}

	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if was.ready == is.ready {
		return
	}
	switch ready.Reason {
	case v1alpha1.ReasonRolledOut:
		r.announce(ctx, app, status, corev1.EventTypeNormal, ready)
	case v1alpha1.ReasonProgressDeadlineExceeded, v1alpha1.ReasonReplicaFailure:
		r.announce(ctx, app, status, corev1.EventTypeWarning, ready)
	}
}

func (r *Reconciler) announce(ctx context.Context, app *v1alpha1.Application, status *v1alpha1.ApplicationStatus, eventType string, condition *metav1.Condition) {
	r.Recorder.Eventf(app, contestedObject(app, status), eventType, condition.Reason, actionReconcile, "%s", truncate(condition.Message, maxNote))
	logger := log.FromContext(ctx).WithValues(keyCondition, condition.Type, keyStatus, condition.Status, keyReason, condition.Reason)
	if len(status.Conflicts) > 0 {
		logger = logger.WithValues(keyConflicts, status.Conflicts[:min(len(status.Conflicts), maxLoggedFields)])
	}
	logger.Info("Reported")
}

// contestedObject returns a reference to the first object that has contested fields, and to these, or nil. Events that
// differ in it are not folded into one series, so a new set of conflicts is not lost in the count of an old one.
func contestedObject(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) runtime.Object {
	if len(status.Conflicts) == 0 {
		return nil
	}
	first := &status.Conflicts[0]
	var fields []string
	for i := range status.Conflicts {
		if c := &status.Conflicts[i]; c.Kind == first.Kind && !slices.Contains(fields, c.Field) {
			fields = append(fields, c.Field)
		}
	}
	return &corev1.ObjectReference{
		APIVersion: apiVersions[first.Kind],
		Kind:       first.Kind,
		Namespace:  app.Namespace,
		Name:       first.Name,
		FieldPath:  truncate(strings.Join(fields, ";"), maxNote),
	}
}

var apiVersions = map[string]string{
	"Deployment":  appsv1.SchemeGroupVersion.String(),
	"Service":     corev1.SchemeGroupVersion.String(),
	v1alpha1.Kind: v1alpha1.SchemeGroupVersion.String(),
}
