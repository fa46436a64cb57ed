package transfer

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// Take plans how all other managers lose their claims on fields that the operator wants. Then the operator's next apply
// does not conflict in them. The change has no patch if nobody else owns any of the fields.
//
// The error is a *RefusalError if that cannot be or would make no sense.
func Take(child *children.Child, fields []string) (*Change, error) {
	rewrite, err := begin(child)
	if err != nil {
		return nil, err
	}
	managed := record(child)
	held := managed.Fields(operator).Union(managed.Fields(handover))
	var changes []FieldChange
	for _, text := range fields {
		path, err := field(child, text, child.Intent.Fields())
		if err != nil {
			return nil, err
		}
		if !child.Intent.Fields().Has(path) {
			return nil, refuse("the Application wants nothing at %s of %s, so the operator would not own it: %s", path, child.Reference(), wantFirst(child, path))
		}
		change := FieldChange{Path: path}
		change.From = rewrite.Drop(fieldpath.NewSet(path), isOther)
		if change.Live, change.Wanted, err = values(child, path); err != nil {
			return nil, err
		}
		if kind := child.Object.GroupVersionKind(); transition.IsScaled(kind.Kind, path) && change.Live == int64(0) && !held.Has(path) {
			if len(change.From) == 0 {
				change.From = []ownership.Manager{ownership.ScaledToZero}
			}
			rewrite.Add(fieldpath.NewSet(path), operator, kind.GroupVersion().String(), now())
		}
		changes = append(changes, change)
	}
	return end(child, rewrite, changes)
}

// wantFirst says how the operator comes to want a field.
func wantFirst(child *children.Child, path fieldpath.Path) string {
	if plan, err := child.Plan(); err == nil {
		for _, field := range ownership.GroupByField(plan.Conflicts) {
			if against := field.Conflicts[0].Against; field.Field == path.String() && against != "" {
				return fmt.Sprintf("it belongs to %s, and excludes what the Application wants of %s. Let its owner remove it, or remove it yourself: \"kubectl application conflicts %s\" prints how",
					words.Owners(field), against, child.App.Name)
			}
		}
	}
	source, exists := child.Source(path)
	if !exists {
		return "no field of the Application's spec is about it, and it stays with those who own it"
	}
	return "set " + source.Path.String() + " of the Application first"
}
