package controllers

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
)

// applier is who the operator is in the managedFields of its children.
var applier = ownership.Applier(v1alpha1.FieldManager)

// errApplicationGone: the Application that a child was to be created for is gone, or going.
var errApplicationGone = errors.New("the Application is gone")

// syncChild makes one child as app wants it, as far as that needs no force.
func (r *Reconciler) syncChild(ctx context.Context, app *v1alpha1.Application, child *childKind, wanted *wanted) *childResult {
	result := &childResult{kind: child.kind, name: app.Name}
	intent := wanted.intents[child.kind]
	live, err := r.observe(ctx, app, child, intent != nil)
	switch {
	case errors.Is(err, errCacheBehind):
		return result.deferUntilEvent()
	case err != nil:
		result.unseen = true
		return result.failed(err)
	case wanted.err != nil:
		return result.unfounded(app, live, wanted.err)
	case intent == nil:
		return r.prune(ctx, app, result, live)
	}
	r.watchStranger(app, child, live)
	if live != nil && !mayTouch(live, app, result) {
		return result
	}

	result.intent = intent
	live, err = r.migrate(ctx, app, child, live)
	switch {
	case apierrors.IsNotFound(err):
		return result.deferUntilEvent() // it was just deleted
	case err != nil:
		return result.failed(err)
	}
	result.live = live
	return r.applyChild(ctx, app, child, result, intent)
}

// applyChild gets the child to the intent by the steps of a plan, unless that would change nothing, conflict, or is not
// to be done now.
func (r *Reconciler) applyChild(ctx context.Context, app *v1alpha1.Application, child *childKind, result *childResult, intent *ownership.Intent) *childResult {
	plan, err := r.plan(app, result, intent)
	if err != nil {
		return result.failed(err)
	}
	result.conflicts = plan.Conflicts
	switch {
	case len(plan.Steps) == 0 && !plan.Blocked:
		return r.elide(ctx, result, outcomeUnchanged)
	case app.Spec.Paused:
		return r.elide(ctx, result, outcomePaused)
	case plan.Blocked:
		// Known beforehand: no request is sent that must fail.
		return r.elide(ctx, result, outcomeConflict)
	}
	key := client.ObjectKeyFromObject(app)
	switch proven, err := r.noOps.proven(key, child.kind, intent, result.live); {
	case err != nil:
		return result.failed(err)
	case proven:
		result.mutated = leavesOf(plan.Difference.Changed)
		return r.elide(ctx, result, outcomeUnchanged)
	}

	previous := result.live
	raced, err := r.takeSteps(ctx, app, child, result, plan)
	if len(raced) > 0 && app.Spec.ConflictPolicy == v1alpha1.ConflictYield {
		raced, err = r.yieldRaced(ctx, app, child, result, intent, raced)
	}
	switch {
	case errors.Is(err, errApplicationGone):
		return result.deferUntilEvent()
	case err != nil:
		return result.failed(err)
	case len(raced) > 0:
		// Somebody was faster. The change that made the conflict is an event, and so is the one that ends it.
		result.outcome, result.conflicts = outcomeConflict, ownership.SortConflicts(append(raced, result.conflicts...))
		return result
	}
	if err := r.noOps.record(key, child.kind, intent, previous, result.live); err != nil {
		return result.failed(err)
	}
	result.applied(previous)
	r.reportApplied(ctx, app, result, plan)
	return result
}

// elide records why no apply is sent.
func (r *Reconciler) elide(ctx context.Context, result *childResult, why outcome) *childResult {
	result.outcome = why
	r.reportElided(ctx, result.kind, why)
	return result
}

// plan plans how to get the child to the intent. A child that is to be adopted must not stay without the owner reference,
// so if that is contested nothing is yielded.
func (r *Reconciler) plan(app *v1alpha1.Application, result *childResult, intent *ownership.Intent) (*transition.Plan, error) {
	plan, err := transition.For(r.childTypes, intent, asObject(result.live), app.Spec.ConflictPolicy)
	if err != nil || result.live == nil || metav1.IsControlledBy(result.live, app) || !contestsOwner(plan.Conflicts) {
		return plan, err
	}
	return transition.For(r.childTypes, intent, asObject(result.live), v1alpha1.ConflictAbort)
}

// takeSteps applies the steps of a plan, each on the answer to the one before. It returns the conflicts that a step met
// because somebody was faster than the plan.
func (r *Reconciler) takeSteps(ctx context.Context, app *v1alpha1.Application, child *childKind, result *childResult, plan *transition.Plan) ([]ownership.Conflict, error) {
	for _, step := range plan.Steps {
		answer, err := r.apply(ctx, app, child, result.live, step)
		if conflicts, isConflict := ownership.FromErrorAndLive(err, managedFields(result.live), step.Manager()); isConflict && step.Manager() == applier {
			return conflicts, nil
		}
		if err != nil {
			// Also where somebody wrote the child since the plan was made: a step that was pinned, or a field that was to be
			// handed over, needs a new plan.
			return nil, err
		}
		result.live = answer
		if step.Manager() == applier {
			if result.mutated, err = fieldsChanged(step.Intent, answer); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// fieldsChanged returns the fields that the API server's answer to an apply has another value for: admission changed them.
func fieldsChanged(step *ownership.Intent, answer client.Object) ([]string, error) {
	difference, err := step.Compare(answer)
	if err != nil {
		return nil, err
	}
	return leavesOf(difference.Changed), nil
}

func leavesOf(set *fieldpath.Set) (fields []string) {
	set.Leaves().Iterate(func(path fieldpath.Path) { fields = append(fields, path.String()) })
	return fields
}

// yieldRaced gives up also the fields that a step met as contested, and applies once more.
func (r *Reconciler) yieldRaced(ctx context.Context, app *v1alpha1.Application, child *childKind, result *childResult, intent *ownership.Intent, raced []ownership.Conflict) ([]ownership.Conflict, error) {
	plan, err := transition.For(r.childTypes, intent, asObject(result.live), v1alpha1.ConflictYield, raced...)
	if err != nil {
		return nil, err
	}
	result.conflicts = plan.Conflicts
	return r.takeSteps(ctx, app, child, result, plan)
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
	r.metrics.deletions.WithLabelValues(result.kind).Inc()
	log.FromContext(ctx).Info("Pruned", keyChild, result.kind, keyOutcome, result.outcome)
	return result
}

// apply sends a step and returns the API server's answer.
func (r *Reconciler) apply(ctx context.Context, app *v1alpha1.Application, child *childKind, live client.Object, step transition.Step) (client.Object, error) {
	config := step.Object()
	if live == nil || !metav1.IsControlledBy(live, app) {
		// It is about to become a child of app, and would go with it.
		if err := r.stillWanted(ctx, app); err != nil {
			return nil, err
		}
	}
	if live != nil {
		// A child that was deleted in the meantime must not come back by mistake.
		config.SetUID(live.GetUID())
		if step.Pinned {
			config.SetResourceVersion(live.GetResourceVersion())
		}
	}
	// The client overwrites config with the answer.
	err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), client.FieldOwner(step.Manager().Name))
	r.metrics.applies.WithLabelValues(child.kind, string(applyOutcome(live, config, err))).Inc()
	if err != nil {
		return nil, err
	}
	answer := child.new()
	if err := r.Client.Scheme().Convert(config, answer, nil); err != nil {
		return nil, fmt.Errorf("reading the API server's answer: %w", err)
	}
	r.writes.recordApply(client.ObjectKeyFromObject(app), child.kind, answer)
	return answer, nil
}

// stillWanted asks the API server whether app is still there before something becomes its child. The cache may be behind,
// and the garbage collector removes whatever belongs to an Application that is gone.
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

// asObject keeps a nil client.Object from becoming an interface that is not nil.
func asObject(live client.Object) ownership.Object {
	if live == nil {
		return nil
	}
	return live
}

// managedFields returns what can be read of the managedFields of an object, or nil for no object.
func managedFields(live client.Object) ownership.ManagedFields {
	if live == nil {
		return nil
	}
	parsed, _ := ownership.Parse(live.GetManagedFields()) // an entry that cannot be read names nobody
	return parsed
}
