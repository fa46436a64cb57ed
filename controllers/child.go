package controllers

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// applier is who the operator is in the managedFields of its children.
var applier = ownership.Applier(v1alpha1.FieldManager)

// errApplicationGone: the Application that a child was to be created for is gone, or going.
var errApplicationGone = errors.New("the Application is gone")

// syncChild makes one child as app wants it, as far as that needs no force.
func (r *Reconciler) syncChild(ctx context.Context, app *v1alpha1.Application, child *childKind) *childResult {
	result := &childResult{kind: child.kind, name: app.Name}
	config, err := child.desired(app)
	if err != nil {
		return result.failed(err)
	}
	live, err := r.observe(ctx, app, child, config != nil)
	switch {
	case errors.Is(err, errCacheBehind):
		result.outcome = outcomeDeferred
		return result
	case err != nil:
		return result.failed(err)
	case config == nil:
		return r.prune(ctx, app, result, live)
	case live != nil && !metav1.IsControlledBy(live, app):
		return r.refuse(app, child, result, live)
	}
	r.strangers.unwatch(client.ObjectKeyFromObject(app), child.kind)
	result.live = live
	if live != nil && !live.GetDeletionTimestamp().IsZero() {
		return result.terminating(result.describe() + " is being deleted; another is created once it is gone")
	}

	intent, err := ownership.NewIntent(r.childTypes, applier, config)
	if err != nil {
		return result.failed(err)
	}
	return r.applyChild(ctx, app, child, result, intent)
}

// applyChild applies intent, unless that would change nothing, conflict, or is not to be done now.
func (r *Reconciler) applyChild(ctx context.Context, app *v1alpha1.Application, child *childKind, result *childResult, intent *ownership.Intent) *childResult {
	difference, err := intent.Compare(result.live)
	if err != nil {
		return result.failed(err)
	}
	if result.live != nil && difference.Empty() {
		result.outcome = outcomeUnchanged
		return result
	}
	result.conflicts, err = intent.Conflicts(result.live)
	if err != nil {
		return result.failed(err)
	}
	if app.Spec.Paused {
		result.outcome = outcomePaused
		return result
	}
	if len(result.conflicts) > 0 {
		// Known beforehand: no request is sent that must fail.
		result.outcome = outcomeConflict
		return result
	}

	answer, err := r.apply(ctx, app, child, result.live, intent)
	switch conflicts, isConflict := ownership.FromErrorAndLive(err, managedFields(result.live), applier); {
	case errors.Is(err, errApplicationGone):
		result.outcome = outcomeDeferred
		return result
	case isConflict:
		// Somebody was faster. The change that made the conflict is an event, and so is the one that ends it.
		result.outcome, result.conflicts = outcomeConflict, conflicts
		return result
	case err != nil:
		return result.failed(err)
	}

	previous := result.live
	result.live = answer
	logger := log.FromContext(ctx).WithValues("child", child.kind)
	switch {
	case previous == nil:
		result.outcome = outcomeCreated
		logger.Info("Applied", "outcome", result.outcome)
	case previous.GetResourceVersion() == answer.GetResourceVersion():
		result.outcome = outcomeUnchanged
		logger.V(1).Info("Applied", "outcome", result.outcome, "difference", difference.String())
	default:
		result.outcome = outcomeConfigured
		logger.Info("Applied", "outcome", result.outcome, "difference", difference.String())
	}
	return result
}

// refuse leaves an object alone that has the child's name and is not controlled by app.
func (r *Reconciler) refuse(app *v1alpha1.Application, child *childKind, result *childResult, live client.Object) *childResult {
	// It need not carry the labels of the cache, so nothing else would tell when it changes.
	r.strangers.watch(client.ObjectKeyFromObject(app), child)
	if !live.GetDeletionTimestamp().IsZero() {
		return result.terminating(fmt.Sprintf("%s is being deleted and does not belong to this Application; another is created once it is gone", result.describe()))
	}
	owner := metav1.GetControllerOf(live)
	if owner != nil && owner.Kind == v1alpha1.Kind && owner.Name == app.Name && owner.APIVersion == v1alpha1.SchemeGroupVersion.String() {
		return result.terminating(result.describe() + " belongs to an earlier Application of this name; another is created once the garbage collector has removed it")
	}
	result.outcome = outcomeRefused
	if owner == nil {
		result.message = result.describe() + " exists already and does not belong to this Application, so it is left alone: delete or rename it, or give the Application another name"
	} else {
		result.message = fmt.Sprintf("%s exists already and is controlled by %s %s, so it is left alone: delete it by way of its owner, or give the Application another name", result.describe(), owner.Kind, owner.Name)
	}
	return result
}

// prune deletes a child that app no longer wants.
func (r *Reconciler) prune(ctx context.Context, app *v1alpha1.Application, result *childResult, live client.Object) *childResult {
	r.strangers.unwatch(client.ObjectKeyFromObject(app), result.kind)
	result.outcome = outcomeUnwanted
	if live == nil || !metav1.IsControlledBy(live, app) || !live.GetDeletionTimestamp().IsZero() {
		return result
	}
	if app.Spec.Paused {
		result.outcome, result.live = outcomePaused, live
		return result
	}
	uid, resourceVersion := live.GetUID(), live.GetResourceVersion()
	err := r.Client.Delete(ctx, live,
		client.Preconditions{UID: &uid, ResourceVersion: &resourceVersion},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		result.live = live
		return result.failed(err)
	}
	r.writes.recordDelete(client.ObjectKeyFromObject(app), result.kind, uid)
	result.outcome = outcomeDeleted
	log.FromContext(ctx).Info("Deleted", "child", result.kind, "outcome", result.outcome)
	return result
}

// apply sends the intent and returns the API server's answer.
func (r *Reconciler) apply(ctx context.Context, app *v1alpha1.Application, child *childKind, live client.Object, intent *ownership.Intent) (client.Object, error) {
	config := intent.Object()
	if live == nil {
		if err := r.stillWanted(ctx, app); err != nil {
			return nil, err
		}
	} else {
		// A child that was deleted in the meantime must not come back by mistake.
		config.SetUID(live.GetUID())
	}
	// The client overwrites config with the answer.
	if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), client.FieldOwner(v1alpha1.FieldManager)); err != nil {
		return nil, err
	}
	answer := child.new()
	if err := r.Client.Scheme().Convert(config, answer, nil); err != nil {
		return nil, fmt.Errorf("reading the API server's answer: %w", err)
	}
	r.writes.recordApply(client.ObjectKeyFromObject(app), child.kind, answer)
	return answer, nil
}

// stillWanted asks the API server whether app is still there before something is created for it. The cache may be
// behind, and the garbage collector would have to remove what was created for an Application that is gone.
func (r *Reconciler) stillWanted(ctx context.Context, app *v1alpha1.Application) error {
	current := &v1alpha1.Application{}
	err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(app), current)
	switch {
	case apierrors.IsNotFound(err):
		return errApplicationGone
	case err != nil:
		return err
	case current.UID != app.UID || !current.DeletionTimestamp.IsZero():
		return errApplicationGone
	default:
		return nil
	}
}

// managedFields returns what can be read of the managedFields of an object, or nil for no object.
func managedFields(live client.Object) ownership.ManagedFields {
	if live == nil {
		return nil
	}
	parsed, _ := ownership.Parse(live.GetManagedFields()) // an entry that cannot be read names nobody
	return parsed
}
