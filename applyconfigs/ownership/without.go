package ownership

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Without returns the intent without the contested fields. The error says that a conflict names a field that the
// intent's kind does not have.
func (i *Intent) Without(conflicts []Conflict) (*Intent, error) {
	contested := fieldpath.NewSet()
	for _, conflict := range conflicts {
		path, err := i.kind.parsePath(conflict.Field)
		if err != nil {
			return nil, err
		}
		contested.Insert(path)
	}
	return i.WithoutFields(contested)
}

// WithoutFields returns the intent without the given fields and all they contain. Maps and lists that thereby become
// empty go as well, since to apply an empty map is to own it. Fields that the intent does not have are ignored, as is
// what lies within an atomic list or map: that is one field. Two kinds of fields stay in any case: the object's identity,
// and the keys of list items, without which no item is valid; an item goes as a whole, by its own path.
//
// The error wraps ErrInvalid if what is left is not valid: an item had no field but the removed ones, since it leaves
// all its keys to their defaults.
func (i *Intent) WithoutFields(fields *fieldpath.Set) (*Intent, error) {
	before, err := i.config.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("fields of %s: %w", i.kind.gvk.Kind, err)
	}
	config := i.config
	remove := withoutKeyFields(within(before, fields)).Difference(unownedFields)
	for !remove.Empty() {
		config = config.RemoveItems(remove)
		if err := config.Validate(); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, i.kind.gvk.Kind, err)
		}
		after, err := config.ToFieldSet()
		if err != nil {
			return nil, fmt.Errorf("fields of %s: %w", i.kind.gvk.Kind, err)
		}
		// A map or list that lost all its content is left as a null, which counts as a field that was none before.
		// Unlike this, an empty map that the intent holds from the start (emptyDir: {}) has its meaning.
		remove = after.Difference(before)
	}
	return newIntent(i.kind, i.manager, config)
}

// within returns those of all paths that are among the roots or below one of them.
func within(all, roots *fieldpath.Set) *fieldpath.Set {
	selected := fieldpath.NewSet()
	all.Iterate(func(path fieldpath.Path) {
		for n := range path {
			if roots.Has(path[:n+1]) {
				selected.Insert(path.Copy())
				return
			}
		}
	})
	return selected
}

func withoutKeyFields(fields *fieldpath.Set) *fieldpath.Set {
	rest := fieldpath.NewSet()
	fields.Iterate(func(path fieldpath.Path) {
		if !IsKey(path) {
			rest.Insert(path.Copy())
		}
	})
	return rest
}

// IsKey reports whether a path is that of a key of a list item. Who has a part in an item owns its keys.
func IsKey(path fieldpath.Path) bool {
	if len(path) < 2 {
		return false
	}
	item, field := path[len(path)-2], path[len(path)-1]
	if item.Key == nil || field.FieldName == nil {
		return false
	}
	for _, key := range *item.Key {
		if key.Name == *field.FieldName {
			return true
		}
	}
	return false
}
