package controllers

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// consents reports whether whoever can write the object has agreed to app taking it over. Consent on the Application
// itself would let anyone who may create Applications seize what is in the namespace.
func consents(live client.Object, app *v1alpha1.Application) bool {
	return live.GetAnnotations()[v1alpha1.AnnotationAdopt] == app.Name
}

// objectionToAdopt says why app cannot take over an object in spite of its consent, or nothing if it can.
func objectionToAdopt(live client.Object, app *v1alpha1.Application) string {
	if owner := metav1.GetControllerOf(live); owner != nil {
		return fmt.Sprintf("%s %s controls it: an object has one controller", owner.Kind, owner.Name)
	}
	deployment, ok := live.(*appsv1.Deployment)
	if !ok {
		return ""
	}
	wanted := &metav1.LabelSelector{MatchLabels: v1alpha1.SelectorLabels(app.Name)}
	if !equality.Semantic.DeepEqual(deployment.Spec.Selector, wanted) {
		return fmt.Sprintf("its selector is %q where the Application's is %q, and the selector of a Deployment cannot be changed",
			metav1.FormatLabelSelector(deployment.Spec.Selector), metav1.FormatLabelSelector(wanted))
	}
	return ""
}

// refuseAdoption leaves an object alone that consents to an adoption that cannot be.
func (r *Reconciler) refuseAdoption(result *childResult, objection string) *childResult {
	result.outcome = outcomeRefused
	result.message = fmt.Sprintf("%s asks to be adopted by the annotation %s, which cannot be done: %s", result.describe(), v1alpha1.AnnotationAdopt, objection)
	return result
}

// watchStranger watches the object of the child's name for as long as the cache need not hold it.
func (r *Reconciler) watchStranger(app *v1alpha1.Application, child *childKind, live client.Object) {
	if live != nil && (!metav1.IsControlledBy(live, app) || live.GetLabels()[v1alpha1.LabelOwner] != v1alpha1.LabelOwnerValue) {
		r.strangers.watch(app, child)
		return
	}
	r.strangers.unwatch(client.ObjectKeyFromObject(app), child.kind)
}
