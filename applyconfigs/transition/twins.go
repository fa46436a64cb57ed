package transition

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// twins are two names of one field: the API server copies the one that is set to the other, and nobody owns the copy.
// An apply that lets go of the field removes it, and the API server brings it back from the copy. Where both have a value,
// the first name's counts: a new value for the second never shows beside the copy of the old one.
type twins struct {
	kind  string
	names [2]fieldpath.Path
}

var twinFields = []twins{{
	kind: "Deployment",
	names: [2]fieldpath.Path{
		fieldpath.MakePathOrDie("spec", "template", "spec", "serviceAccountName"),
		fieldpath.MakePathOrDie("spec", "template", "spec", "serviceAccount"),
	},
}}

// heldTwins returns the first names that others hold, at another value than the intent wants of the second: that would never
// show.
func (w *world) heldTwins(owners ownership.ManagedFields, intent *ownership.Intent) []obstacle {
	var held []obstacle
	for _, t := range twinFields {
		if t.kind != w.identity.GetKind() || intent.Fields().Has(t.names[0]) {
			continue
		}
		wanted, isWanted := intent.Value(t.names[1])
		if live, exists := w.value(t.names[0]); !isWanted || !exists || live == wanted {
			continue
		}
		o := obstacle{wanted: []fieldpath.Path{t.names[1]}, standing: t.names[0]}
		if o.holders = w.holders(owners, &o); len(o.holders) > 0 {
			held = append(held, o)
		}
	}
	return held
}

// claimTwins returns the step that makes the operator the owner of both names of a field that the intent lets go of, or
// changes by the second name, at their live values. The intent, applied next, drops what it does not want. If somebody else
// owns one of them, the field stays anyway.
func (w *world) claimTwins(intent *ownership.Intent) ([]Step, error) {
	claim := fieldpath.NewSet()
	for _, t := range twinFields {
		if t.kind != w.identity.GetKind() {
			continue
		}
		owned, free := 0, true
		for n, name := range t.names {
			value, exists := w.value(name)
			wanted, isWanted := intent.Value(name)
			loses := !isWanted || n > 0 && wanted != value && w.owns(w.self, name)
			free = free && exists && loses && !w.shared(name)
			if w.owns(w.self, name) {
				owned++
			}
		}
		if owned == 1 && free {
			claim.Insert(t.names[0])
			claim.Insert(t.names[1])
		}
	}
	if claim.Empty() {
		return nil, nil
	}
	step, err := intent.WithLive(w.live, claim)
	if err != nil {
		return nil, err
	}
	return []Step{{Intent: step, Pinned: true}}, nil
}
