package transition

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// scaled lists, by kind, the count that the kind's scale subresource writes.
var scaled = map[string]fieldpath.Path{
	"Deployment": fieldpath.MakePathOrDie("spec", "replicas"),
}

// IsScaled reports whether a field of a kind is the count that the scale subresource writes. If it is 0, it must not stay
// without an owner on its way from one to another: it is taken for scaled to zero then.
func IsScaled(kind string, path fieldpath.Path) bool {
	count, scales := scaled[kind]
	return scales && count.Equals(path)
}

// scaledToZero returns the conflict about a count that the intent wants and that somebody has scaled to zero. No record of
// that is left but a count of 0 that nobody owns: no default is 0, and every other write of a 0 leaves an owner, until that
// gives it up. Which of the two it was cannot be told, and to wait costs less than to start what was stopped.
func (w *world) scaledToZero(intent *ownership.Intent) []ownership.Conflict {
	path, scales := scaled[w.identity.GetKind()]
	if !scales || !w.recorded {
		return nil
	}
	wanted, wants := valueAt(intent.Object().Object, path)
	if live, _ := w.value(path); !wants || wanted == int64(0) || live != int64(0) {
		return nil
	}
	if slices.ContainsFunc(w.managed, func(e ownership.Entry) bool { return e.Fields.Has(path) }) {
		return nil
	}
	return []ownership.Conflict{{
		Field:       path.String(),
		Operation:   ownership.ScaledToZero.Operation,
		Subresource: ownership.ScaledToZero.Subresource,
		APIVersion:  w.identity.GetAPIVersion(),
	}}
}
