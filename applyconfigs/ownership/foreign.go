package ownership

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Foreign returns what other managers own of a live object beside what the intent holds: their entries, each with the
// innermost fields of that kind that have a value. What is empty says nothing. There is nothing if live is nil.
//
// The error says that live does not fit the intent's kind.
func (i *Intent) Foreign(live Object) (ManagedFields, error) {
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
			if !isEmptyValue(valueAt(object, path)) {
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
