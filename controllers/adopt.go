package controllers

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
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
	if deployment, ok := live.(*appsv1.Deployment); ok {
		return desired.ObjectionToSelector(deployment.Spec.Selector, app)
	}
	return ""
}

// mayTouch reports whether a live object may be applied to: app controls it, or may adopt it, and it is not going. If not,
// result says why.
func mayTouch(live client.Object, app *v1alpha1.Application, result *childResult) bool {
	owner, going := metav1.GetControllerOf(live), !live.GetDeletionTimestamp().IsZero()
	switch {
	case metav1.IsControlledBy(live, app):
		result.live = live
		if going {
			result.terminating(result.describe() + " is being deleted; another is created once it is gone")
		}
		return !going
	case going:
		result.terminating(result.describe() + " is being deleted and does not belong to this Application; another is created once it is gone")
		return false
	case owner != nil && owner.Kind == v1alpha1.Kind && owner.Name == app.Name && owner.APIVersion == v1alpha1.SchemeGroupVersion.String():
		result.terminating(result.describe() + " belongs to an earlier Application of this name; another is created once the garbage collector has removed it")
		return false
	case consents(live, app):
		if objection := objectionToAdopt(live, app); objection != "" {
			result.refused("asks to be adopted by the annotation %s, which cannot be done: %s", v1alpha1.AnnotationAdopt, objection)
			return false
		}
		return true
	case owner != nil:
		result.refused("exists already and is controlled by %s %s, so it is left alone: delete it by way of its owner, or give the Application another name", owner.Kind, owner.Name)
		return false
	default:
		if objection := objectionToAdopt(live, app); objection != "" {
			result.refused("exists already and does not belong to this Application, so it is left alone: delete it, or give the Application another name. "+
				"It cannot be adopted: %s", objection)
			return false
		}
		result.refused("exists already and does not belong to this Application, so it is left alone: delete it, "+
			"let it be adopted by the annotation %s=%s on it, or give the Application another name", v1alpha1.AnnotationAdopt, app.Name)
		return false
	}
}

// contestsOwner reports whether an owner reference is among the contested fields.
func contestsOwner(conflicts []ownership.Conflict) bool {
	return slices.ContainsFunc(conflicts, func(c ownership.Conflict) bool { return strings.HasPrefix(c.Field, ".metadata.ownerReferences") })
}

// watchStranger watches the object of the child's name for as long as the cache need not hold it. That may be an object that
// is yet to come, if none is created since the Application is paused.
func (r *Reconciler) watchStranger(app *v1alpha1.Application, child *childKind, live client.Object) {
	mayCome := live == nil && app.Spec.Paused
	isThere := live != nil && (!metav1.IsControlledBy(live, app) || live.GetLabels()[v1alpha1.LabelOwner] != v1alpha1.LabelOwnerValue)
	if mayCome || isThere {
		r.strangers.watch(app, child)
		return
	}
	r.strangers.unwatch(client.ObjectKeyFromObject(app), child.kind)
}
