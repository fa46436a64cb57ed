package controllers

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// migrate folds what an older operator left on a child, an Update entry under the operator's own name or one of the
// legacy names, into the operator's Apply entry. Such an entry keeps removed fields alive, and the operator's own
// applies conflict with it. It returns the child as it is then.
//
// One patch does it, under an optimistic lock. It changes managedFields and nothing else; an object that this Application
// neither controls nor has the consent to adopt is not touched.
func (r *Reconciler) migrate(ctx context.Context, app *v1alpha1.Application, child *childKind, live client.Object) (client.Object, error) {
	if live == nil || app.Spec.Paused || !metav1.IsControlledBy(live, app) && !consents(live, app) {
		return live, nil
	}
	names := formerManagers(managedFields(live), r.legacyManagers)
	if names.Len() == 0 {
		return live, nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, names, v1alpha1.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("folding the entries of %v in managedFields of %s %s: %w", sets.List(names), child.kind, live.GetName(), err)
	}
	migrated := live.DeepCopyObject().(client.Object)
	if err := r.patchRecord(ctx, app, child, migrated, patch); err != nil {
		return nil, err
	}
	r.metrics.migrations.WithLabelValues(child.kind).Inc()
	log.FromContext(ctx).Info("Folded the field managers of an older operator", keyChild, child.kind, keyOutcome, outcomeMigrated, keyManagers, sets.List(names))
	return migrated, nil
}

// formerManagers returns those of the names that left Update entries to fold. The operator's own name is folded only before
// it came to apply; who writes under it later is alive, and a manager like any other. The names of the flag are folded
// whenever they are met: who sets it says that they write no more.
func formerManagers(managed ownership.ManagedFields, names []string) sets.Set[string] {
	former := sets.New[string]()
	applied := slices.ContainsFunc(managed, func(e ownership.Entry) bool { return e.Manager == applier })
	for _, entry := range managed.Legacy(names...) {
		if !applied || entry.Name != v1alpha1.FieldManager {
			former.Insert(entry.Name)
		}
	}
	return former
}

// patchRecord sends a JSON patch that changes who owns what, and no value. The patch holds the resourceVersion that it
// was made for.
func (r *Reconciler) patchRecord(ctx context.Context, app *v1alpha1.Application, child *childKind, live client.Object, patch []byte) error {
	//nolint:forbidigo // managedFields cannot be changed by an apply
	err := r.Client.Patch(ctx, live, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(v1alpha1.FieldManager))
	if err != nil {
		return err
	}
	r.writes.recordApply(client.ObjectKeyFromObject(app), child.kind, live)
	return nil
}
