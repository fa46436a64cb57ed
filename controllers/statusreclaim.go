package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// reclaimStatus moves the operator's status fields from "before-first-apply" to its own entry. The API server puts them
// there once a client has wiped the managedFields of the Application; nobody of that name would ever let go, and the status
// would be frozen. Conditions of other controllers stay where they are. It reports whether it had to, and leaves the rest to
// the event that follows.
func (r *Reconciler) reclaimStatus(ctx context.Context, app *v1alpha1.Application) (bool, error) {
	entries, lost, err := reclaimed(app.ManagedFields)
	if !lost || err != nil {
		return false, err
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "add", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": app.ResourceVersion},
	})
	if err != nil {
		return false, fmt.Errorf("building the patch: %w", err)
	}
	patched := app.DeepCopy()
	//nolint:forbidigo // managedFields cannot be changed by an apply
	err = r.Client.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(v1alpha1.FieldManagerStatus))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, errCacheBehind
	}
	if err != nil {
		return false, fmt.Errorf("reclaiming the status of the Application: %w", err)
	}
	r.writes.recordApply(client.ObjectKeyFromObject(app), v1alpha1.Kind, patched)
	log.FromContext(ctx).Info("Reclaimed the status, whose owners a client had wiped")
	return true, nil
}

// reclaimed returns the entries with the operator's status fields in the operator's entry, and whether they were not.
func reclaimed(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool, error) {
	managed, _ := ownership.Parse(entries) // what cannot be read holds nothing against the operator
	lost := ownStatus(managed.Fields(beforeFirstStatusApply))
	if lost.Empty() {
		return nil, false, nil
	}
	var kept []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if m := managerOf(&entry); m != beforeFirstStatusApply && m != statusApplier {
			kept = append(kept, entry)
		}
	}
	for manager, fields := range map[ownership.Manager]*fieldpath.Set{
		statusApplier:          managed.Fields(statusApplier).Union(lost),
		beforeFirstStatusApply: managed.Fields(beforeFirstStatusApply).Difference(lost),
	} {
		if fields.Empty() {
			continue
		}
		entry, err := encodeEntry(manager, fields)
		if err != nil {
			return nil, false, err
		}
		kept = append(kept, entry)
	}
	return kept, true, nil
}

// beforeFirstStatusApply owns what a status had when managedFields had been wiped.
var beforeFirstStatusApply = ownership.Manager{
	Name:        ownership.BeforeFirstApply,
	Operation:   metav1.ManagedFieldsOperationUpdate,
	Subresource: "status",
}

func managerOf(entry *metav1.ManagedFieldsEntry) ownership.Manager {
	return ownership.Manager{Name: entry.Manager, Operation: entry.Operation, Subresource: entry.Subresource}
}

func encodeEntry(manager ownership.Manager, fields *fieldpath.Set) (metav1.ManagedFieldsEntry, error) {
	raw, err := fields.ToJSON()
	if err != nil {
		return metav1.ManagedFieldsEntry{}, fmt.Errorf("encoding the fields of %s: %w", manager, err)
	}
	now := metav1.Now()
	return metav1.ManagedFieldsEntry{
		Manager:     manager.Name,
		Operation:   manager.Operation,
		Subresource: manager.Subresource,
		APIVersion:  v1alpha1.SchemeGroupVersion.String(),
		FieldsType:  "FieldsV1",
		FieldsV1:    metav1.NewFieldsV1(string(raw)),
		Time:        &now,
	}, nil
}

// ownConditions are the conditions that the operator sets. All others are of other controllers.
var ownConditions = []string{
	v1alpha1.ConditionReady, v1alpha1.ConditionSynced, v1alpha1.ConditionAvailable, v1alpha1.ConditionStalled,
}

// ownStatus returns those of the fields that are the operator's by contract: all of the status but the conditions of other
// controllers, and the list of conditions as such, which is everybody's.
func ownStatus(fields *fieldpath.Set) *fieldpath.Set {
	own := fieldpath.NewSet()
	fields.Iterate(func(path fieldpath.Path) {
		if !fieldNamed(path, 0, "status") || len(path) < 2 {
			return
		}
		if fieldNamed(path, 1, "conditions") && (len(path) < 3 || !slices.Contains(ownConditions, conditionType(path[2]))) {
			return
		}
		own.Insert(path.Copy())
	})
	return own
}

func fieldNamed(path fieldpath.Path, n int, name string) bool {
	return len(path) > n && path[n].FieldName != nil && *path[n].FieldName == name
}

// conditionType returns the key of an item of the list of conditions.
func conditionType(item fieldpath.PathElement) string {
	if item.Key == nil {
		return ""
	}
	for _, key := range *item.Key {
		if key.Name == "type" && key.Value.IsString() {
			return key.Value.AsString()
		}
	}
	return ""
}
