package e2e

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// What tools such as Flux and kpt take an Application for.
const (
	statusTerminating = "Terminating"
	statusInProgress  = "InProgress"
	statusFailed      = "Failed"
	statusCurrent     = "Current"
)

// kstatus computes the status of an Application as cli-utils does for a custom resource: from its deletion, the
// observed generation, and the conditions Reconciling, Stalled and Ready, in this order.
func kstatus(app *v1alpha1.Application) string {
	switch {
	case app.DeletionTimestamp != nil:
		return statusTerminating
	case app.Status.ObservedGeneration != app.Generation:
		return statusInProgress
	case apimeta.IsStatusConditionTrue(app.Status.Conditions, "Reconciling"):
		return statusInProgress
	case apimeta.IsStatusConditionTrue(app.Status.Conditions, v1alpha1.ConditionStalled):
		return statusFailed
	case apimeta.IsStatusConditionTrue(app.Status.Conditions, v1alpha1.ConditionReady):
		return statusCurrent
	default:
		return statusInProgress
	}
}
