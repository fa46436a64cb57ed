package ownership

import (
	"fmt"
	"maps"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Object is a live object, as its Go type or unstructured. Every client.Object of controller-runtime is one.
//
// For built-in kinds both forms are as good. Of a custom resource the API server stores empty values too (replicas: 0),
// which a Go type with omitempty does not show: where managers contend for those, only the unstructured form is exact.
type Object interface {
	metav1.Object
	runtime.Object
}

// live types a live object. The object is not changed, not even for a moment: it may stem from a cache.
func (k kind) live(obj Object) (*typed.TypedValue, error) {
	// Typed clients leave out apiVersion and kind.
	if gvk := obj.GetObjectKind().GroupVersionKind(); !gvk.Empty() && gvk != k.gvk {
		return nil, fmt.Errorf("live object is a %s, not a %s", gvk, k.gvk)
	}
	content, err := k.liveValue(obj)
	if err != nil {
		return nil, fmt.Errorf("live %s: %w", k.gvk.Kind, err)
	}
	// Live objects may hold repeated list keys, which validation lets pass for some lists.
	live, err := k.typed(content, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("live %s does not fit its schema: %w", k.gvk.Kind, err)
	}
	return live, nil
}

// liveValue returns the object's content without managedFields, which are no part of what is merged.
func (k kind) liveValue(obj Object) (value.Value, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		content := map[string]any{}
		maps.Copy(content, u.Object)
		content["apiVersion"], content["kind"] = k.gvk.GroupVersion().String(), k.gvk.Kind
		if metadata, ok := content["metadata"].(map[string]any); ok {
			metadata = maps.Clone(metadata)
			delete(metadata, "managedFields")
			content["metadata"] = metadata
		}
		return value.NewValueInterface(k.normalizeLive(content)), nil
	}
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%T is no pointer to a struct", obj)
	}
	// A shallow copy is enough: type and metadata are part of the struct itself.
	shallow := reflect.New(v.Elem().Type())
	shallow.Elem().Set(v.Elem())
	object, ok := reflect.TypeAssert[Object](shallow)
	if !ok {
		return nil, fmt.Errorf("%T is no API object", obj)
	}
	object.SetManagedFields(nil)
	object.GetObjectKind().SetGroupVersionKind(k.gvk)
	return value.NewValueReflect(object)
}

// isNil also recognises a typed nil pointer in the interface, the usual result of a client that found nothing.
func isNil(obj Object) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
