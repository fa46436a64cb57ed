package controllers

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/partial"
)

// failure is a class of errors: what users are told and whether trying again can help.
type failure int

const (
	// failurePassing: a stale write, an overloaded or unreachable API server. Users need not know; a retry will do.
	failurePassing failure = iota
	// failureServer: the API server, or a webhook that it asked, failed. Users are told, and a retry may help.
	failureServer
	// failureInvalid: the API server refuses the object. Only a change of the spec helps, and that is an event.
	failureInvalid
	// failureForbidden: rights, a quota or a policy forbid the write. People change these without an event.
	failureForbidden
	// failureTerminating: the namespace is going. Nothing helps.
	failureTerminating
)

// reason is the reason of the conditions.
func (f failure) reason() string {
	switch f {
	case failureInvalid:
		return v1alpha1.ReasonInvalid
	case failureForbidden:
		return v1alpha1.ReasonForbidden
	case failureTerminating:
		return v1alpha1.ReasonTerminating
	default:
		return v1alpha1.ReasonApplyFailed
	}
}

// classify tells the class of an error other than a field conflict.
func classify(err error) failure {
	if errors.Is(err, ownership.ErrInvalid) || errors.As(err, new(*partial.InvalidError)) {
		return failureInvalid
	}
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || errors.Is(err, context.DeadlineExceeded) {
		return failurePassing
	}
	answer := status.Status()
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return failureTerminating
	case answer.Code == http.StatusForbidden, deniedByPolicy(&answer):
		return failureForbidden
	case answer.Code == http.StatusUnprocessableEntity, answer.Code == http.StatusBadRequest,
		answer.Code == http.StatusRequestEntityTooLarge, untypable(&answer):
		return failureInvalid
	case answer.Code == http.StatusNotFound:
		// An apply creates what is not there, so it is the namespace that is missing.
		return failureTerminating
	case answer.Code == http.StatusInternalServerError:
		return failureServer
	default:
		return failurePassing
	}
}

// untypable recognises an object that does not fit the schema (duplicate list keys, an unknown field). The API server
// answers 500 without a reason, though no retry can help.
func untypable(answer *metav1.Status) bool {
	return answer.Code == http.StatusInternalServerError && strings.Contains(answer.Message, "failed to create typed patch object")
}

// deniedByPolicy recognises the denial by a ValidatingAdmissionPolicy or a webhook. It comes as 422, 400 or whatever the
// webhook says, but unlike an invalid object it may be allowed later, without any change of the Application.
func deniedByPolicy(answer *metav1.Status) bool {
	return strings.Contains(answer.Message, "ValidatingAdmissionPolicy ") ||
		strings.HasPrefix(answer.Message, "admission webhook ") && strings.Contains(answer.Message, "denied the request")
}

// failed records an error of one child.
func (c *childResult) failed(err error) *childResult {
	// What was contested still is, whatever the API server said to the rest.
	c.failure = classify(err)
	switch c.failure {
	case failurePassing:
		c.outcome = outcomeDeferred
		c.err = err
	case failureTerminating:
		c.terminating("The namespace is being deleted: nothing is applied any more")
	case failureInvalid:
		c.outcome = outcomeRejected
		c.message = "The API server refuses " + c.describe() + ": " + serverWords(err)
		c.err = reconcile.TerminalError(err)
	case failureForbidden:
		c.outcome = outcomeRejected
		verb := "Writing "
		if c.unseen {
			verb = "Reading "
		}
		c.message = verb + c.describe() + " is forbidden: " + serverWords(err)
		c.err = err
	default:
		c.outcome = outcomeRejected
		c.message = "The API server failed at " + c.describe() + ": " + serverWords(err)
		c.err = err
	}
	return c
}

// unfounded records that nothing is known to be wanted of a child, since the spec is not valid. Whatever the other child
// is, neither is touched: nothing of a spec is applied by halves.
func (c *childResult) unfounded(app *v1alpha1.Application, live client.Object, err error) *childResult {
	if live != nil && metav1.IsControlledBy(live, app) {
		c.live = live
	}
	c.failed(err)
	if c.failure == failureInvalid {
		c.message = invalidSpec(err)
	}
	if c.kind != deploymentChild.kind {
		c.err = nil // one of the children returns it
	}
	return c
}

// invalidSpec is what the author of a spec is told that nothing can be wanted of.
func invalidSpec(err error) string {
	return "The spec is invalid, and nothing of it is applied: " + err.Error()
}

// terminating records that the child, or its namespace, is going.
func (c *childResult) terminating(message string) {
	c.outcome = outcomeTerminating
	c.message = message
}

// localEnd matches the local end of a connection in the words of a network error, as in 10.0.0.7:40522->10.96.3.4:443.
var localEnd = regexp.MustCompile(`[0-9A-Fa-f.:\[\]]+:\d+->`)

// serverWords returns what the API server said, without what is new at each try: a message that changes would be a
// write of the status, and that an event, and that another try at once.
func serverWords(err error) string {
	words := err.Error()
	status := apierrors.APIStatus(nil)
	if errors.As(err, &status) && status.Status().Message != "" {
		words = status.Status().Message
	}
	return localEnd.ReplaceAllString(words, "")
}

// unlessTold returns err, or nil if no retry can help and the live status says so already. The operator's own status write
// brings an Application round once more, and so does a restart; the log is to tell of a refused spec once.
func unlessTold(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus, err error) error {
	was := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionSynced)
	is := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionSynced)
	if errors.Is(err, reconcile.TerminalError(nil)) && was != nil && is != nil && *was == *is {
		return nil
	}
	return err
}

// retryError joins the errors of the children into what the reconcile returns: terminal only if all are.
func retryError(results ...*childResult) error {
	var passing, terminal []error
	for _, result := range results {
		switch {
		case result.err == nil:
		case errors.Is(result.err, reconcile.TerminalError(nil)):
			terminal = append(terminal, errors.Unwrap(result.err))
		default:
			passing = append(passing, result.err)
		}
	}
	if len(passing) == 0 && len(terminal) > 0 {
		return reconcile.TerminalError(errors.Join(terminal...))
	}
	return errors.Join(append(passing, terminal...)...)
}
