package partial

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ValueAt returns what content has at a path, or nil. It does not copy.
func ValueAt(content any, path fieldpath.Path) any {
	for _, element := range path {
		switch in := content.(type) {
		case map[string]any:
			content = nil
			if element.FieldName != nil {
				content = in[*element.FieldName]
			}
		case []any:
			index := IndexOf(in, element)
			if index < 0 {
				return nil
			}
			content = in[index]
		default:
			return nil
		}
	}
	return content
}

// IndexOf returns the index of the item that a path's element means, or -1. A user may leave out a key that has a default,
// such as a port's protocol: an item that lacks one is meant if no other item has all keys.
func IndexOf(items []any, element fieldpath.PathElement) int {
	switch {
	case element.Index != nil && *element.Index >= 0 && *element.Index < len(items):
		return *element.Index
	case element.Value != nil:
		return slices.IndexFunc(items, func(item any) bool { return item == (*element.Value).Unstructured() })
	case element.Key == nil:
		return -1
	}
	lacking := -1
	for n, item := range items {
		fields, _ := item.(map[string]any)
		matching, absent := 0, 0
		for _, key := range *element.Key {
			switch v, has := fields[key.Name]; {
			case !has || v == nil:
				absent++
			case v == key.Value.Unstructured():
				matching++
			}
		}
		switch {
		case matching == len(*element.Key):
			return n
		case matching > 0 && matching+absent == len(*element.Key):
			lacking = n
		}
	}
	return lacking
}
