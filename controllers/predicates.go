package controllers

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// meaningfulChange drops updates that cannot matter: those that change nothing but the resource version and the times
// in managedFields. It keeps all others. A generation says too little: Services have none, and a field that is
// released, a label or an owner reference that is removed, do not change it.
func meaningfulChange() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			if e.ObjectOld == nil || e.ObjectNew == nil {
				return true
			}
			if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() {
				return false
			}
			return !equality.Semantic.DeepEqual(withoutVersions(e.ObjectOld), withoutVersions(e.ObjectNew))
		},
	}
}

// withoutVersions returns a copy of object without what changes at each write.
func withoutVersions(object client.Object) client.Object {
	// The object is the cache's own: it must not be changed.
	stripped := object.DeepCopyObject().(client.Object)
	stripped.SetResourceVersion("")
	stripped.SetManagedFields(withoutTimes(stripped.GetManagedFields()))
	return stripped
}

func withoutTimes(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	timeless := slices.Clone(entries)
	for i := range timeless {
		timeless[i].Time = nil
	}
	return timeless
}
