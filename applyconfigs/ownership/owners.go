package ownership

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Fields returns what the manager owns, at whatever API version. The result is never nil.
func (m ManagedFields) Fields(manager Manager) *fieldpath.Set {
	return m.union(func(e Entry) bool { return e.Manager == manager })
}

// OtherFields returns what all managers but the given one own. The result is never nil.
func (m ManagedFields) OtherFields(manager Manager) *fieldpath.Set {
	return m.union(func(e Entry) bool { return e.Manager != manager })
}

func (m ManagedFields) union(selected func(Entry) bool) *fieldpath.Set {
	union := fieldpath.NewSet()
	for _, entry := range m {
		if selected(entry) {
			union = union.Union(entry.Fields)
		}
	}
	return union
}

// Owners returns every entry that holds exactly this path, in the order of m. What lies inside an atomic list or map
// has no owners of its own: ask for the path of the list or map, which is where the object's own field set stops too.
func (m ManagedFields) Owners(path fieldpath.Path) ManagedFields {
	if len(path) == 0 {
		return nil
	}
	return m.filter(func(e Entry) bool { return e.Fields.Has(path) })
}

// Holds reports whether a field, or anything inside it, is in the set.
func Holds(fields *fieldpath.Set, path fieldpath.Path) bool {
	if len(path) == 0 {
		return !fields.Empty()
	}
	last := len(path) - 1
	for _, element := range path[:last] {
		fields = fields.WithPrefix(element)
	}
	return fields.Members.Has(path[last]) || !fields.WithPrefix(path[last]).Empty()
}

// filter never hands out m's own array, so that callers may keep and append to the result.
func (m ManagedFields) filter(keep func(Entry) bool) ManagedFields {
	return slices.DeleteFunc(slices.Clone(m), func(e Entry) bool { return !keep(e) })
}
