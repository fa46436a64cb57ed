package controllers

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// statusApplier is who the operator is in the managedFields of an Application.
var statusApplier = ownership.Manager{
	Name:        v1alpha1.FieldManagerStatus,
	Operation:   metav1.ManagedFieldsOperationApply,
	Subresource: "status",
}

// applyStatus applies the status of app, unless it is just that already. What another manager holds of it is left out,
// and told in the rest. It returns errCacheBehind if app is not what the API server has any more: an event follows.
func (r *Reconciler) applyStatus(ctx context.Context, app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) error {
	if lost, err := r.reclaimStatus(ctx, app); lost || err != nil {
		return err
	}
	intent, err := r.statusIntent(app, status)
	if err != nil {
		return err
	}
	difference, err := intent.Compare(withoutSpec(app))
	if err != nil {
		return fmt.Errorf("comparing the status of the Application: %w", err)
	}
	if difference.Empty() {
		r.reportElided(ctx, v1alpha1.Kind, outcomeUnchanged)
		return nil
	}

	object := intent.Object()
	// An Application of the same name that came later has a status of its own. At a custom resource's status the API server
	// does not look at the uid, but it does at the resource version.
	object.SetUID(app.UID)
	object.SetResourceVersion(app.ResourceVersion)
	// The client overwrites object with the answer.
	err = r.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(v1alpha1.FieldManagerStatus))
	r.metrics.applies.WithLabelValues(v1alpha1.Kind, string(applyOutcome(app, object, err))).Inc()
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return errCacheBehind
	}
	if err != nil {
		return fmt.Errorf("applying the status of the Application: %w", r.explainDroppedVersion(app, err))
	}
	r.writes.recordApply(client.ObjectKeyFromObject(app), v1alpha1.Kind, object)
	if contested := statusConflicts(status); contested > 0 {
		log.FromContext(ctx).Info("Other field managers hold fields of the status", keyConflicts, status.Conflicts)
	}
	return nil
}

// statusIntent returns what can be applied of status without force. If others hold a part of it, status is made to say
// so: it then has a condition and an entry for each field.
func (r *Reconciler) statusIntent(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) (*ownership.Intent, error) {
	intent, err := r.newStatusIntent(app, status)
	if err != nil {
		return nil, err
	}
	contested, err := contestedStatus(withoutSpec(app), intent)
	if err != nil {
		return nil, fmt.Errorf("comparing the status of the Application: %w", err)
	}
	if len(contested) == 0 {
		return intent, nil
	}
	reportContested(app, status, contested)
	if intent, err = r.newStatusIntent(app, status); err != nil {
		return nil, err
	}
	// The report itself may meet a field that is held.
	if contested, err = intent.Conflicts(withoutSpec(app)); err != nil {
		return nil, fmt.Errorf("comparing the status of the Application: %w", err)
	}
	return intent.Without(contested)
}

// contestedStatus returns what others hold of the operator's status: with another value than the wanted one, or where none
// is wanted. The latter is no conflict of the apply, which leaves it where it is, but not to be believed either.
func contestedStatus(app *v1alpha1.Application, intent *ownership.Intent) ([]ownership.Conflict, error) {
	contested, err := intent.Conflicts(app)
	if err != nil {
		return nil, err
	}
	foreign, err := intent.Foreign(app, nil)
	if err != nil {
		return nil, err
	}
	for _, entry := range foreign {
		ownStatus(entry.Fields).Iterate(func(path fieldpath.Path) {
			if fieldNamed(path, 1, "conditions") && !intent.Fields().Has(path[:3]) {
				path = path[:3] // of a condition that is not wanted at all, the fields do not matter
			}
			contested = append(contested, ownership.Conflict{
				Field: path.String(), Manager: entry.Name, Operation: entry.Operation, Subresource: entry.Subresource, APIVersion: entry.APIVersion,
			})
		})
	}
	return ownership.SortConflicts(contested), nil
}

// withoutSpec returns a shallow copy of app to compare intents with that hold nothing of the spec. Its partial objects
// would have to be decoded for that.
func withoutSpec(app *v1alpha1.Application) *v1alpha1.Application {
	rest := *app
	rest.Spec = v1alpha1.ApplicationSpec{}
	return &rest
}

func (r *Reconciler) newStatusIntent(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) (*ownership.Intent, error) {
	config, err := desired.Status(app, status)
	if err != nil {
		return nil, err
	}
	intent, err := ownership.NewIntent(r.statusTypes, statusApplier, config)
	if err != nil {
		return nil, fmt.Errorf("status of the Application: %w", err)
	}
	return intent, nil
}

// reportContested adds the contested fields of the status to the status.
func reportContested(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus, contested []ownership.Conflict) {
	for _, c := range contested {
		status.Conflicts = append(status.Conflicts, newFieldConflict(v1alpha1.Kind, app.Name, c))
	}
	for i := range status.Conditions {
		keepTransition(&status.Conditions[i], app, contested)
	}
	synced := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionSynced)
	if synced.Reason == v1alpha1.ReasonSynced {
		synced.Reason = v1alpha1.ReasonStatusContested
	}
	synced.Message = truncate(joinSentences([]string{synced.Message, fmt.Sprintf(
		"Other field managers hold fields of this Application's status, which are not to be trusted until they let go: %s", listConflicts(contested))}), maxMessage)
}

// keepTransition keeps the live transition time of a condition whose status another manager holds: as long as it does, no
// transition takes place, however often the operator would have it otherwise.
func keepTransition(condition *metav1.Condition, app *v1alpha1.Application, contested []ownership.Conflict) {
	field := fmt.Sprintf(".status.conditions[type=%q].status", condition.Type)
	live := meta.FindStatusCondition(app.Status.Conditions, condition.Type)
	if live != nil && slices.ContainsFunc(contested, func(c ownership.Conflict) bool { return c.Field == field }) {
		condition.LastTransitionTime = live.LastTransitionTime
	}
}

// statusConflicts counts the contested fields that are the status's own.
func statusConflicts(status *v1alpha1.ApplicationStatus) int {
	count := 0
	for i := range status.Conflicts {
		if ofStatus(status.Conflicts[i]) {
			count++
		}
	}
	return count
}

// ofStatus reports whether a contested field is one of the status itself.
func ofStatus(c v1alpha1.FieldConflict) bool { return c.Kind == v1alpha1.Kind }
