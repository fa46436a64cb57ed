package transition

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// union is a field that may stand only beside one value of another, its discriminator. The API server's defaulting sets
// such fields, and nobody owns them then. Once the discriminator changes they make the object invalid, and an apply
// cannot remove them: leaving a field out removes only what the manager owned, and an explicit null is no removal either.
type union struct {
	kind          string
	discriminator fieldpath.Path
	value         string
	member        fieldpath.Path
}

var unions = []union{{
	kind:          "Deployment",
	discriminator: fieldpath.MakePathOrDie("spec", "strategy", "type"),
	value:         "RollingUpdate",
	member:        fieldpath.MakePathOrDie("spec", "strategy", "rollingUpdate"),
}}

// standing returns the unions whose member stands in the live object against what the intent wants.
func (w *world) standing(intent *ownership.Intent) []union {
	var standing []union
	for _, u := range unions {
		if u.kind != w.identity.GetKind() {
			continue
		}
		wanted, wants := valueAt(intent.Object().Object, u.discriminator)
		if !wants || wanted == u.value {
			continue
		}
		if live, _ := w.value(u.discriminator); live != u.value {
			continue
		}
		if _, exists := w.value(u.member); exists {
			standing = append(standing, u)
		}
	}
	return standing
}

// heldLeftovers returns the members that stand against the intent and that others own: they cannot be removed unforced.
func (w *world) heldLeftovers(intent *ownership.Intent) []ownership.Conflict {
	var held []ownership.Conflict
	for _, u := range w.standing(intent) {
		held = append(held, w.ownersWithin(u.member)...)
	}
	return held
}

// claimLeftovers returns the step that makes the operator the owner of the members that stand against the intent, at
// their live values and beside the live discriminator. The intent, applied next, drops what it then owns.
func (w *world) claimLeftovers(intent *ownership.Intent) ([]*ownership.Intent, error) {
	claim := fieldpath.NewSet()
	for _, u := range w.standing(intent) {
		if !w.ownsAll(u.member) {
			claim.Insert(u.discriminator)
			claim.Insert(u.member)
		}
	}
	if claim.Empty() {
		return nil, nil
	}
	step, err := intent.WithLive(w.live, claim)
	if err != nil {
		return nil, err
	}
	return []*ownership.Intent{step}, nil
}

// ownsAll reports whether the operator owns every leaf inside a field.
func (w *world) ownsAll(path fieldpath.Path) bool {
	value, _ := w.value(path)
	leaves, isMap := value.(map[string]any)
	if !isMap {
		return w.owns(w.self, path)
	}
	for name := range leaves {
		if !w.ownsAll(append(path.Copy(), fieldpath.PathElement{FieldName: &name})) {
			return false
		}
	}
	return true
}
