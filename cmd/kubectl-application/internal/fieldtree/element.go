package fieldtree

import (
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// elements names the items of one list as managedFields do: by their keys, by their value, or by their index.
type elements struct {
	// keys are the ways in which items are told apart, each a list of fields; the first that fits an item counts.
	keys [][]string
	// partial is true if an item may lack some fields of its key.
	partial bool
	// defaults are the values of key fields that an item lacks.
	defaults map[string]any
	// set is true if items are told apart by their values.
	set bool
}

// elements returns how a list names its items, and their type. The list is nil if there is no schema for it.
func (b *builder) elements(list *schema.List, beneath []claimsOf) (elements, schema.TypeRef) {
	switch {
	case list == nil:
		return claimedElements(beneath), schema.TypeRef{}
	case list.ElementRelationship == schema.Atomic:
		return elements{}, list.ElementType
	case len(list.Keys) == 0:
		return elements{set: true}, list.ElementType
	}
	e := elements{keys: [][]string{list.Keys}, partial: true, defaults: map[string]any{}}
	if item := b.resolve(list.ElementType); item.Map != nil {
		for _, name := range list.Keys {
			if field, ok := item.Map.FindField(name); ok && field.Default != nil {
				e.defaults[name] = field.Default
			}
		}
	}
	return e, list.ElementType
}

// claimedElements reads off the claims what a schema would say.
func claimedElements(beneath []claimsOf) elements {
	var e elements
	seen := map[string]bool{}
	note := func(element fieldpath.PathElement) {
		switch {
		case element.Value != nil:
			e.set = true
		case element.Key != nil:
			names := make([]string, 0, len(*element.Key))
			for _, key := range *element.Key {
				names = append(names, key.Name)
			}
			if id := strings.Join(names, "\x00"); !seen[id] {
				seen[id] = true
				e.keys = append(e.keys, names)
			}
		}
	}
	for _, c := range beneath {
		c.set.Members.Iterate(note)
		c.set.Children.Iterate(note)
	}
	// Some items may have only some of the fields. An item that has more of them is named by more.
	slices.SortStableFunc(e.keys, func(a, b []string) int { return len(b) - len(a) })
	return e
}

// of returns the path element of an item.
func (e elements) of(index int, item any) fieldpath.PathElement {
	if object, ok := item.(map[string]any); ok {
		for _, names := range e.keys {
			if key := e.keyOf(object, names); len(key) > 0 {
				return fieldpath.PathElement{Key: &key}
			}
		}
		return fieldpath.IndexElement(index)
	}
	if _, isList := item.([]any); e.set && !isList {
		return fieldpath.ValueElement(asValue(item))
	}
	return fieldpath.IndexElement(index)
}

// keyOf returns the item's key, or nothing if the item has none of these fields.
func (e elements) keyOf(item map[string]any, names []string) value.FieldList {
	key := make(value.FieldList, 0, len(names))
	for _, name := range names {
		v, ok := item[name]
		if !ok {
			v, ok = e.defaults[name]
		}
		switch v.(type) {
		case map[string]any, []any:
			ok = false
		}
		switch {
		case ok:
			key = append(key, value.Field{Name: name, Value: asValue(v)})
		case !e.partial:
			return nil
		}
	}
	key.Sort()
	return key
}
