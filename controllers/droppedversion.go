package controllers

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// errDroppedVersion: nobody can apply to the Application, since an entry of its managedFields is of a version that the
// CustomResourceDefinition does not have any more (kubernetes/kubernetes#111937).
var errDroppedVersion = errors.New("a version that managedFields name was dropped")

// explainDroppedVersion replaces an error of an apply to app that no retry can end by one that says so, and tells users by
// an Event: the status is what cannot be applied. It returns all other errors, and nil, as they are.
func (r *Reconciler) explainDroppedVersion(app *v1alpha1.Application, err error) error {
	if !isDroppedVersion(err) {
		return err
	}
	note := droppedVersionMessage(app, serverWords(err))
	r.Recorder.Eventf(app, nil, corev1.EventTypeWarning, v1alpha1.ReasonVersionDropped, actionReconcile, "%s", truncate(note, maxNote))
	return reconcile.TerminalError(fmt.Errorf("%w: %s", errDroppedVersion, note))
}

// isDroppedVersion recognises the answer. It comes as 500 without a reason.
func isDroppedVersion(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	answer := status.Status()
	return answer.Code == http.StatusInternalServerError &&
		strings.Contains(answer.Message, "request to convert CR ") && strings.Contains(answer.Message, " an invalid group/version: ")
}

// droppedVersionMessage names the entries to change; words are the API server's, with the version in them.
func droppedVersionMessage(app *v1alpha1.Application, words string) string {
	var entries []string
	for i := range app.ManagedFields {
		if entry := &app.ManagedFields[i]; strings.Contains(words, entry.APIVersion) {
			owner := describeOwner(ownership.Conflict{Manager: entry.Manager, Operation: entry.Operation, Subresource: entry.Subresource})
			entries = append(entries, fmt.Sprintf("number %d, of %s at %s", i, owner, entry.APIVersion))
		}
	}
	which := "an entry"
	if len(entries) > 0 {
		which = "entry " + strings.Join(entries, " and ")
	}
	return fmt.Sprintf("No apply to Application %s is possible, so its status is not reported: the version of %s of its metadata.managedFields was dropped from the CustomResourceDefinition. "+
		"Set the apiVersion of the entry to %s by a JSON patch: the API server then accepts applies again. It said: %s",
		app.Name, which, v1alpha1.SchemeGroupVersion, words)
}
