package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// reportFailure tells users of an error that keeps the operator from even looking at the children: it cannot set the
// finalizer, or let go of what a deleted Application leaves. It returns err, for the retry.
func (r *Reconciler) reportFailure(ctx context.Context, app *v1alpha1.Application, err error) error {
	if err == nil {
		return nil
	}
	failed := (&childResult{kind: v1alpha1.Kind, name: app.Name}).failed(err)
	if failed.outcome != outcomeRejected {
		return err // it passes, or is errDroppedVersion: the status cannot be applied either then
	}
	sync := state{
		status:  falseStatus,
		reason:  failed.failure.reason(),
		message: fmt.Sprintf("The operator cannot go on: %v", err),
		stalled: true,
	}
	status := app.Status.DeepCopy()
	// What is contested of the children nobody knows anew. Of the status itself it is worked out at each apply.
	status.Conflicts = slices.DeleteFunc(status.Conflicts, ofStatus)
	conditions := conditionSet{generation: app.Generation, now: r.Clock.Now(), previous: status.Conditions}
	conditions.set(v1alpha1.ConditionReady, sync)
	conditions.set(v1alpha1.ConditionSynced, sync)
	conditions.keep(v1alpha1.ConditionAvailable)
	stalled := sync
	stalled.status = trueStatus
	conditions.set(v1alpha1.ConditionStalled, stalled)
	status.Conditions, status.Message = conditions.list, truncate(sync.message, maxMessage)
	status.Phase, status.ObservedGeneration = v1alpha1.PhaseFailed, app.Generation

	switch applyErr := r.applyStatus(ctx, app, status); {
	case errors.Is(applyErr, errCacheBehind):
		return err
	case applyErr != nil:
		return errors.Join(err, applyErr)
	}
	r.announceTransitions(ctx, app, status)
	return err
}
