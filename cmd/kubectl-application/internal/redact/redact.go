// Package redact hides what may be secret: values of environment variables, the data of Secrets, and the annotation in
// which kubectl apply keeps a copy of them.
package redact

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/partial"
)

// Hidden stands in place of what is hidden. Before and After tell apart values that differ.
const (
	Hidden = "***"
	Before = "*** (before)"
	After  = "*** (after)"
)

const (
	env         = "env"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// Hides reports whether the scalar at this path is hidden, in whatever kind it is. Variables stand in a list called env, as
// containers have it, wherever that is, or in a map called env, as custom resources may have it.
func Hides(path fieldpath.Path) bool {
	last := fieldName(path, 0)
	switch {
	case last == lastApplied:
		return true
	case fieldName(path, 1) == env:
		return true
	default:
		return last == "value" && fieldName(path, 1) == "" && fieldName(path, 2) == env
	}
}

// HidesIn is Hides for an object of the kind, whose data may be secret as a whole.
func HidesIn(kind string, path fieldpath.Path) bool {
	if kind == "Secret" && len(path) > 1 {
		if first := fieldName(path[:1], 0); first == "data" || first == "stringData" {
			return true
		}
	}
	return Hides(path)
}

// fieldName returns the name of the field that many steps before the end, and nothing for the item of a list.
func fieldName(path fieldpath.Path, before int) string {
	i := len(path) - 1 - before
	if i < 0 || path[i].FieldName == nil {
		return ""
	}
	return *path[i].FieldName
}

// Object returns a copy of the object with everything secret hidden. Nil stays nil.
func Object(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object == nil {
		return nil
	}
	hidden := object.DeepCopy()
	walk(object.GetKind(), hidden.Object, nil, func(fieldpath.Path) string { return Hidden })
	return hidden
}

// Pair is Object for two states of one object: what differs between them is marked.
func Pair(before, after *unstructured.Unstructured) (*unstructured.Unstructured, *unstructured.Unstructured) {
	if before == nil || after == nil {
		return Object(before), Object(after)
	}
	marked := func(object *unstructured.Unstructured, marker string) *unstructured.Unstructured {
		hidden := object.DeepCopy()
		walk(object.GetKind(), hidden.Object, nil, func(path fieldpath.Path) string {
			if reflect.DeepEqual(partial.ValueAt(before.Object, path), partial.ValueAt(after.Object, path)) {
				return Hidden
			}
			return marker
		})
		return hidden
	}
	return marked(before, Before), marked(after, After)
}

// walk puts something in place of every secret field.
func walk(kind string, content any, at fieldpath.Path, instead func(fieldpath.Path) string) {
	switch content := content.(type) {
	case map[string]any:
		for name, child := range content {
			path := append(at.Copy(), fieldpath.FieldNameElement(name))
			if isScalar(child) && HidesIn(kind, path) {
				content[name] = instead(path)
				continue
			}
			walk(kind, child, path, instead)
		}
	case []any:
		for n, child := range content {
			element := fieldpath.IndexElement(n)
			if fields, isMap := child.(map[string]any); isMap {
				// Items with a name may have moved.
				if name, named := fields["name"].(string); named {
					element = fieldpath.PathElement{Key: fieldpath.KeyByFields("name", name)}
				}
			}
			path := append(at.Copy(), element)
			if isScalar(child) && HidesIn(kind, path) {
				content[n] = instead(path)
				continue
			}
			walk(kind, child, path, instead)
		}
	}
}

func isScalar(content any) bool {
	switch content.(type) {
	case map[string]any, []any, nil:
		return false
	default:
		return true
	}
}
