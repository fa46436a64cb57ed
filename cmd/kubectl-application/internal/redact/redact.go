// Package redact hides what may be secret: values of environment variables, the data of Secrets, and the annotation in
// which kubectl apply keeps a copy of them.
package redact

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Hidden stands in place of what is hidden. Before and After tell apart values that differ.
const (
	Hidden = "***"
	Before = "*** (before)"
	After  = "*** (after)"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Hides reports whether the field at this path is hidden.
func Hides(path fieldpath.Path) bool {
	n := len(path)
	switch {
	case n >= 3 && isField(path[n-3], "env") && path[n-2].Key != nil && isField(path[n-1], "value"):
		return true
	default:
		return n > 0 && isField(path[n-1], lastApplied)
	}
}

func isField(element fieldpath.PathElement, name string) bool {
	return element.FieldName != nil && *element.FieldName == name
}

// Object returns a copy of the object with everything secret hidden. Nil stays nil.
func Object(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object == nil {
		return nil
	}
	hidden := object.DeepCopy()
	visit(hidden, func(parent map[string]any, key string, _ []any) { parent[key] = Hidden })
	return hidden
}

// Pair is Object for two states of one object: what differs between them is marked.
func Pair(before, after *unstructured.Unstructured) (*unstructured.Unstructured, *unstructured.Unstructured) {
	if before == nil || after == nil {
		return Object(before), Object(after)
	}
	hiddenBefore, hiddenAfter := before.DeepCopy(), after.DeepCopy()
	visit(hiddenBefore, func(parent map[string]any, key string, at []any) {
		parent[key] = mark(before, after, at, Before)
	})
	visit(hiddenAfter, func(parent map[string]any, key string, at []any) {
		parent[key] = mark(before, after, at, After)
	})
	return hiddenBefore, hiddenAfter
}

// mark returns the marker if the values at a place differ.
func mark(before, after *unstructured.Unstructured, at []any, marker string) string {
	if reflect.DeepEqual(follow(before.Object, at), follow(after.Object, at)) {
		return Hidden
	}
	return marker
}

// item stands for the item of a list that has this name.
type item string

// follow returns what is at a place, nil if nothing is.
func follow(content any, at []any) any {
	for _, step := range at {
		switch step := step.(type) {
		case string:
			fields, _ := content.(map[string]any)
			content = fields[step]
		case item:
			items, _ := content.([]any)
			content = nil
			for _, candidate := range items {
				if fields, ok := candidate.(map[string]any); ok && fields["name"] == string(step) {
					content = fields
				}
			}
		case int:
			items, _ := content.([]any)
			content = nil
			if step < len(items) {
				content = items[step]
			}
		}
	}
	return content
}

// visit calls hide for every secret field, with the map that it is in and its place.
func visit(object *unstructured.Unstructured, hide func(parent map[string]any, key string, at []any)) {
	if object.GetKind() == "Secret" {
		for _, name := range []string{"data", "stringData"} {
			data, _ := object.Object[name].(map[string]any)
			for key := range data {
				hide(data, key, []any{name, key})
			}
		}
	}
	walk(object.Object, nil, hide)
}

func walk(content any, at []any, hide func(map[string]any, string, []any)) {
	switch content := content.(type) {
	case map[string]any:
		for name, child := range content {
			here := slices.Concat(at, []any{name})
			if name == lastApplied {
				hide(content, name, here)
				continue
			}
			walk(child, here, hide)
		}
	case []any:
		isEnv := len(at) > 0 && at[len(at)-1] == "env"
		for n, child := range content {
			fields, isMap := child.(map[string]any)
			here := slices.Concat(at, []any{n})
			if name, named := fields["name"].(string); named {
				here[len(here)-1] = item(name)
			}
			if _, has := fields["value"]; isEnv && isMap && has {
				hide(fields, "value", append(here, "value"))
			}
			walk(child, here, hide)
		}
	}
}
