package ownership

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Foreign returns what other managers own of a live object beside what the intent holds: their entries, each with the
// innermost fields of that kind that have a value. What is empty says nothing, and neither is told what ignored, unless it
// is nil, says of a value. There is nothing if live is nil.
//
// The error says that live does not fit the intent's kind.
func (i *Intent) Foreign(live Object, ignored func(path fieldpath.Path, value any) bool) (ManagedFields, error) {
	if isNil(live) {
		return nil, nil
	}
	object, err := i.kind.live(live)
	if err != nil {
		return nil, err
	}
	existing, err := object.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("fields of live %s: %w", i.kind.gvk.Kind, err)
	}
	managed, _ := Parse(live.GetManagedFields()) // an entry that cannot be read names nobody
	var foreign ManagedFields
	for _, entry := range managed {
		if entry.Manager == i.manager {
			continue
		}
		fields := fieldpath.NewSet()
		entry.Fields.Leaves().Difference(i.fields).Intersection(existing).Iterate(func(path fieldpath.Path) {
			if value := valueAt(object, path); !isEmptyValue(value) && (ignored == nil || !ignored(path, value)) {
				fields.Insert(path.Copy())
			}
		})
		if !fields.Empty() {
			entry.Fields = fields
			foreign = append(foreign, entry)
		}
	}
	return foreign, nil
}

// UnownedItems returns the items of keyed lists in a live object that nobody owns, not even a field inside, and of which
// the intent holds nothing; of nested ones the outermost. Their managers have let go of them: unlike other fields without
// an owner they are no defaults of the API server. There are none if nothing tells who owns the object's fields, or if
// live is nil.
//
// The error says that live does not fit the intent's kind.
func (i *Intent) UnownedItems(live Object) (*fieldpath.Set, error) {
	if isNil(live) {
		return fieldpath.NewSet(), nil
	}
	if managed, err := Parse(live.GetManagedFields()); err == nil && len(managed) > 0 {
		return i.unownedItems(live, managed)
	}
	return fieldpath.NewSet(), nil
}

func (i *Intent) unownedItems(live Object, managed ManagedFields) (*fieldpath.Set, error) {
	items := fieldpath.NewSet()
	object, err := i.kind.live(live)
	if err != nil {
		return nil, err
	}
	existing, err := object.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("fields of live %s: %w", i.kind.gvk.Kind, err)
	}
	owned := managed.OtherFields(Manager{}).Union(i.fields)
	existing.Difference(owned).Iterate(func(path fieldpath.Path) {
		for n := range path {
			if path[n].Key != nil && !Holds(owned, path[:n+1]) {
				items.Insert(path[:n+1].Copy())
				return
			}
		}
	})
	return items, nil
}
