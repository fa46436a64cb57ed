package ownership

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Compare tells what an apply of the intent would change for its manager: the set of fields it owns, and their values
// and order. An empty difference means that the apply is a no-op, which needs no request: at most the API server would
// date the manager's entry anew. Live is all it looks at, so
// the answer is the same after a restart. A live that is nil or has lost its managedFields is never up to date.
//
// Preconditions that the intent may hold (metadata.uid, metadata.resourceVersion) are not compared.
//
// The error says that live does not fit the intent's kind.
func (i *Intent) Compare(live Object) (Difference, error) {
	none := fieldpath.NewSet()
	if isNil(live) {
		return Difference{Untracked: true, Missing: i.fields, Extra: none, Changed: i.fields}, nil
	}
	object, err := i.kind.live(live)
	if err != nil {
		return Difference{}, err
	}
	diff := Difference{Missing: i.fields, Extra: none}
	managed, err := Parse(live.GetManagedFields())
	if err != nil || len(managed) == 0 {
		// One entry that cannot be decoded makes the API server forget all of them.
		diff.Untracked, managed = true, nil
	}
	owned := managed.Fields(i.manager)
	diff.Missing = i.fields.Difference(owned)
	diff.Extra = owned.Difference(i.fields)
	for _, entry := range managed {
		if entry.Manager == i.manager && entry.APIVersion != string(i.version()) {
			diff.OldVersion = entry.APIVersion
		}
	}
	diff.Changed, diff.Reordered, err = i.compareValues(object, owned)
	if err != nil {
		return Difference{}, fmt.Errorf("comparing %s: %w", i.kind.gvk.Kind, err)
	}
	return diff, nil
}

// compareValues returns the desired fields that a merge would change in live.
func (i *Intent) compareValues(live *typed.TypedValue, owned *fieldpath.Set) (changed *fieldpath.Set, reordered bool, err error) {
	merged, err := live.Merge(i.config)
	if err != nil {
		return nil, false, err
	}
	if value.Equals(live.AsValue(), merged.AsValue()) {
		return fieldpath.NewSet(), false, nil
	}
	comparison, err := live.Compare(merged)
	if err != nil {
		return nil, false, err
	}
	omitted := i.omittedZeros(comparison.Added.Intersection(owned).Intersection(i.fields))
	if !omitted.Empty() {
		rest, err := i.WithoutFields(omitted)
		if err != nil {
			return nil, false, err
		}
		return rest.compareValues(live, fieldpath.NewSet())
	}
	differing := comparison.Modified.Union(comparison.Added)
	return differing.Intersection(i.fields), differing.Empty(), nil
}

// omittedZeros returns those of the absent fields for which the intent wants an empty value. The API server stores no
// empty value of an omitempty field (an env entry with value "", initialDelaySeconds 0): the manager owns the field, but
// no live object ever shows it. Absent and yet owned means nothing else, since whoever removes a field that was there
// takes it from all its owners.
func (i *Intent) omittedZeros(absent *fieldpath.Set) *fieldpath.Set {
	zeros := fieldpath.NewSet()
	absent.Leaves().Iterate(func(path fieldpath.Path) {
		if isEmptyValue(valueAt(i.config, path)) {
			zeros.Insert(path.Copy())
		}
	})
	return zeros
}

// valueAt returns the value of a field that the object has.
func valueAt(object *typed.TypedValue, path fieldpath.Path) any {
	return descend(object.ExtractItems(fieldpath.NewSet(path)).AsValue().Unstructured(), path)
}

// descend follows a path through content that holds nothing beside it: every list has one item.
func descend(content any, path fieldpath.Path) any {
	for _, element := range path {
		if fields, ok := content.(map[string]any); ok && element.FieldName != nil {
			content = fields[*element.FieldName]
		} else if items, ok := content.([]any); ok && len(items) == 1 {
			content = items[0]
		}
	}
	return content
}

func isEmptyValue(v any) bool {
	return v == "" || v == false || v == int64(0) || v == float64(0) || isEmptyContainer(v)
}

func isEmptyContainer(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return false
	}
}
