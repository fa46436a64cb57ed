package transition

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

var handoverManager = ownership.Applier(v1alpha1.FieldManagerHandover)

// handedOver lists, by kind, the fields that must keep their value when the intent lets go of them, until somebody else
// takes them. Without an owner they would fall back to the API server's default: a Deployment to one pod.
var handedOver = map[string][]fieldpath.Path{
	"Deployment": {fieldpath.MakePathOrDie("spec", "replicas")},
}

// handover returns what has to be applied before and after the intent, so that no field changes its value other than
// to what the intent wants. The intent has no conflicts.
//
// Letting go: the hand-over manager shares the field at its live value, then the intent is applied without it. From
// then on anyone may write the field; the hand-over manager loses it with the first write.
//
// Taking back: the hand-over manager, its only owner, sets the wanted value; the intent shares it; the hand-over
// manager lets go.
func (w *world) handover(intent *ownership.Intent) (before, after []Step, err error) {
	held := w.managed.Fields(handoverManager)
	share, release := w.identity.DeepCopy(), false
	shares := false
	for _, path := range handedOver[w.identity.GetKind()] {
		live, exists := w.value(path)
		wanted, wants := valueAt(intent.Object().Object, path)
		switch {
		case wants && held.Has(path):
			release = true
			if !reflect.DeepEqual(wanted, live) {
				setValue(share, path, wanted)
				shares = true
			}
		case !wants && exists && !held.Has(path) && w.owns(w.self, path) && !w.shared(path):
			setValue(share, path, live)
			shares = true
		}
	}
	if shares {
		step, err := ownership.NewIntent(w.types, handoverManager, share)
		if err != nil {
			return nil, nil, err
		}
		before = append(before, Step{Intent: step, Pinned: true})
	}
	if release {
		step, err := ownership.NewIntent(w.types, handoverManager, w.identity)
		if err != nil {
			return nil, nil, err
		}
		after = append(after, Step{Intent: step})
	}
	return before, after, nil
}

func setValue(object *unstructured.Unstructured, path fieldpath.Path, value any) {
	names := make([]string, 0, len(path))
	for _, element := range path {
		names = append(names, *element.FieldName)
	}
	// It fails only where a parent is no map, and the object has just its identity.
	_ = unstructured.SetNestedField(object.Object, value, names...)
}
