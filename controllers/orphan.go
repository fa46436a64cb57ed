package controllers

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// orphan gives a child up without changing one of its values: in one patch it loses its owner reference to app and the
// operator's entries in managedFields. To give fields up by an apply would remove them. It reports whether the child is there
// to stay.
func (r *Reconciler) orphan(ctx context.Context, app *v1alpha1.Application, child *childKind) (kept bool, err error) {
	// What matters is what is there now: the Application goes with the last child that was missed.
	live := child.new()
	err = r.APIReader.Get(ctx, client.ObjectKeyFromObject(app), live)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !live.GetDeletionTimestamp().IsZero() {
		return false, nil
	}
	if owner := metav1.GetControllerOf(live); owner != nil && owner.UID != app.UID {
		return true, nil
	}
	if !metav1.IsControlledBy(live, app) && !claimed(live) {
		// With kubectl delete --cascade=orphan the garbage collector takes the owner reference, but not the claims.
		return true, nil
	}
	patch, err := orphanPatch(live, app)
	if err != nil {
		return false, err
	}
	if err := r.patchRecord(ctx, app, child, live, patch); err != nil {
		return false, err
	}
	log.FromContext(ctx).Info("Let go", keyChild, child.kind, keyOutcome, outcomeOrphaned)
	return true, nil
}

// claimed reports whether the operator owns more of the object than orphan leaves it.
func claimed(live client.Object) bool {
	managed := managedFields(live)
	left := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "labels", v1alpha1.LabelOwner))
	return !managed.Fields(applier).Difference(left).Empty()
}

// orphanPatch returns a JSON patch for live, valid for its resourceVersion only.
func orphanPatch(live client.Object, app *v1alpha1.Application) ([]byte, error) {
	references := []metav1.OwnerReference{}
	for _, reference := range live.GetOwnerReferences() {
		if reference.UID != app.UID {
			references = append(references, reference)
		}
	}
	patch, err := json.Marshal([]map[string]any{
		// "add" sets what may be absent, too.
		{"op": "add", "path": "/metadata/ownerReferences", "value": references},
		{"op": "add", "path": "/metadata/managedFields", "value": withoutOperator(live.GetManagedFields())},
		// A stale version is answered with 409, as for any other optimistic lock.
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	})
	if err != nil {
		return nil, fmt.Errorf("building the patch: %w", err)
	}
	return patch, nil
}

// ownerLabelOnly is the set of one field: the label that says who made the object.
const ownerLabelOnly = `{"f:metadata":{"f:labels":{"f:` + v1alpha1.LabelOwner + `":{}}}}`

// withoutOperator returns the entries of all managers but the operator. If none are left, the operator's keeps the label
// that says who made the object: of an object without any entry the API server would, at the next apply, take every
// field for owned by "before-first-apply", and whoever comes next could change nothing.
func withoutOperator(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var others []metav1.ManagedFieldsEntry
	var own *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		switch {
		case entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.Manager == v1alpha1.FieldManager:
			own = entry.DeepCopy()
		case entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.Manager == v1alpha1.FieldManagerHandover:
		default:
			others = append(others, *entry)
		}
	}
	if len(others) == 0 && own != nil {
		own.FieldsV1 = metav1.NewFieldsV1(ownerLabelOnly)
		others = append(others, *own)
	}
	return others
}
