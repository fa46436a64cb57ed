package controllers

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// reclaimStatus takes the operator's own status fields out of "before-first-apply", where the API server puts them once a
// client has wiped the managedFields of the Application. Nobody of that name would ever let go, and the status would be
// frozen. Fields of other controllers stay there. It reports whether it had to, and leaves the rest to the event that follows.
func (r *Reconciler) reclaimStatus(ctx context.Context, app *v1alpha1.Application, intent *ownership.Intent) (bool, error) {
	entries, lost, err := withoutLost(app.ManagedFields, intent.Fields())
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
	if err != nil {
		return false, fmt.Errorf("reclaiming the status of the Application: %w", err)
	}
	r.writes.recordApply(client.ObjectKeyFromObject(app), v1alpha1.Kind, patched)
	log.FromContext(ctx).Info("Reclaimed the status, whose owners a client had wiped")
	return true, nil
}

// withoutLost returns the entries without the given fields in those of "before-first-apply", and whether there were any.
func withoutLost(entries []metav1.ManagedFieldsEntry, own *fieldpath.Set) ([]metav1.ManagedFieldsEntry, bool, error) {
	var kept []metav1.ManagedFieldsEntry
	lost := false
	for _, entry := range entries {
		if entry.Manager != ownership.BeforeFirstApply || entry.FieldsV1 == nil {
			kept = append(kept, entry)
			continue
		}
		fields := &fieldpath.Set{}
		if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, false, fmt.Errorf("reading managedFields of the Application: %w", err)
		}
		rest := fields.Difference(own)
		if rest.Size() == fields.Size() {
			kept = append(kept, entry)
			continue
		}
		lost = true
		if rest.Empty() {
			continue
		}
		raw, err := rest.ToJSON()
		if err != nil {
			return nil, false, fmt.Errorf("writing managedFields of the Application: %w", err)
		}
		entry.FieldsV1 = metav1.NewFieldsV1(string(raw))
		kept = append(kept, entry)
	}
	return kept, lost, nil
}
