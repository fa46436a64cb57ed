package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// reclaimStatus puts the operator's status fields back into its own entry once a client has wiped the managedFields of the
// Application. The API server gives them to "before-first-apply", and nobody of that name would ever let go: the status would
// be frozen. Or it gives them to nobody, and what the operator does not want any more would stay. Conditions of other
// controllers are left where they are. It reports whether it had to, and leaves the rest to the event that follows.
func (r *Reconciler) reclaimStatus(ctx context.Context, app *v1alpha1.Application) (bool, error) {
	live, err := r.statusFields(app)
	if err != nil {
		return false, err
	}
	entries, lost, err := reclaimed(app.ManagedFields, live)
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

// reclaimed returns the entries with the operator's status fields in the operator's entry, and whether they were not. Live
// are the fields of the status. Without any entry there is nothing to mend: the API server attributes all at the next write.
func reclaimed(entries []metav1.ManagedFieldsEntry, live *fieldpath.Set) ([]metav1.ManagedFieldsEntry, bool, error) {
	managed, _ := ownership.Parse(entries) // what cannot be read holds nothing against the operator
	everybodys := managed.OtherFields(ownership.Manager{})
	lost := ownStatus(managed.Fields(beforeFirstStatusApply).Union(live.Difference(everybodys)))
	if lost.Empty() || len(managed) == 0 {
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

// statusFields returns the fields of the live status. Empty values are left out: most of them are the Go type's, not the
// API server's.
func (r *Reconciler) statusFields(app *v1alpha1.Application) (*fieldpath.Set, error) {
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&app.Status)
	if err != nil {
		return nil, fmt.Errorf("reading the status of the Application: %w", err)
	}
	dropEmpty(status)
	object := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	object.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind))
	typed, err := r.statusTypes.ObjectToTyped(object)
	if err != nil {
		return nil, fmt.Errorf("reading the status of the Application: %w", err)
	}
	fields, err := typed.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("reading the status of the Application: %w", err)
	}
	return fields, nil
}

// dropEmpty removes nulls, and the maps and lists in which nothing is left, and reports whether nothing is left of value.
func dropEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, v any) bool { return dropEmpty(v) })
		return len(value) == 0
	case []any:
		for _, item := range value {
			dropEmpty(item)
		}
		return len(value) == 0
	default:
		return false
	}
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
