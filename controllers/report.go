package controllers

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
)

// applyOutcome tells what one apply came to, from the object before it and the API server's answer.
func applyOutcome(before, answer client.Object, err error) outcome {
	if err == nil {
		switch {
		case before == nil:
			return outcomeCreated
		case before.GetResourceVersion() == answer.GetResourceVersion():
			return outcomeUnchanged
		default:
			return outcomeConfigured
		}
	}
	if _, isConflict := ownership.FromError(err); isConflict {
		return outcomeConflict
	}
	switch classify(err) {
	case failurePassing:
		return outcomeDeferred
	case failureTerminating:
		return outcomeTerminating
	default:
		return outcomeRejected
	}
}

// reportApplied logs and counts what a plan has done to a child.
func (r *Reconciler) reportApplied(ctx context.Context, app *v1alpha1.Application, result *childResult, plan *transition.Plan) {
	logger := log.FromContext(ctx).WithValues(keyChild, result.kind, keyOutcome, result.outcome)
	switch result.outcome {
	case outcomeCreated:
		logger.Info("Applied")
	case outcomeUnchanged:
		withDifference(logger.V(levelElided), plan.Difference).Info("Applied")
	default:
		withDifference(logger, plan.Difference).Info("Applied")
	}
	if isDrift(app, result) {
		r.metrics.driftRepaired.WithLabelValues(result.kind).Inc()
	}
	if handover := handoverOf(plan); handover != "" {
		r.metrics.handovers.WithLabelValues(result.kind, handover).Inc()
	}
}

// reportElided logs and counts an apply that was not sent.
func (r *Reconciler) reportElided(ctx context.Context, kind string, why outcome) {
	log.FromContext(ctx).V(levelElided).Info("Not applied", keyChild, kind, keyOutcome, why)
	r.metrics.elided.WithLabelValues(kind, string(why)).Inc()
}

// maxLoggedFields bounds how many fields a log line names in one key.
const maxLoggedFields = 32

func withDifference(logger logr.Logger, difference ownership.Difference) logr.Logger {
	if paths := fieldPaths(difference.Changed); len(paths) > 0 {
		logger = logger.WithValues(keyChanged, paths)
	}
	if paths := fieldPaths(difference.Missing); len(paths) > 0 {
		logger = logger.WithValues(keyClaimed, paths)
	}
	if paths := fieldPaths(difference.Extra); len(paths) > 0 {
		logger = logger.WithValues(keyReleased, paths)
	}
	return logger
}

// fieldPaths returns the first paths of the set's leaves, in the order of the set.
func fieldPaths(fields *fieldpath.Set) []string {
	var paths []string
	fields.Leaves().Iterate(func(path fieldpath.Path) {
		if len(paths) < maxLoggedFields {
			paths = append(paths, path.String())
		}
	})
	return paths
}

// isDrift reports whether a child that had been as this very spec wants it was not any more: somebody changed or deleted it,
// and no field manager stood by that.
func isDrift(app *v1alpha1.Application, result *childResult) bool {
	if result.outcome != outcomeCreated && result.outcome != outcomeConfigured {
		return false
	}
	synced := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionSynced)
	return synced != nil && synced.ObservedGeneration == app.Generation &&
		synced.Status == trueStatus && synced.Reason == v1alpha1.ReasonSynced
}

// Directions of a hand-over.
const (
	handoverGivenUp   = "GivenUp"
	handoverTakenBack = "TakenBack"
)

var handoverApplier = ownership.Applier(v1alpha1.FieldManagerHandover)

// handoverOf returns the direction of the hand-over in a plan, if there is one.
func handoverOf(plan *transition.Plan) string {
	if len(plan.Steps) == 0 {
		return ""
	}
	switch {
	case plan.Steps[len(plan.Steps)-1].Manager() == handoverApplier:
		return handoverTakenBack
	case plan.Steps[0].Manager() == handoverApplier:
		return handoverGivenUp
	default:
		return ""
	}
}
