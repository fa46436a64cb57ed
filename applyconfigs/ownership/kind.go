package ownership

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// kind is the type of an object as structured-merge-diff sees it: which lists and maps are atomic, which lists have keys.
type kind struct {
	gvk schema.GroupVersionKind
	// empty is an object of the kind with nothing in it.
	empty *typed.TypedValue
}

// resolveKind asks the converter for the schema of gvk. The detour over an empty object is the only way to it, but makes
// sure that everything compared later has one and the same schema, as structured-merge-diff demands.
func resolveKind(types managedfields.TypeConverter, gvk schema.GroupVersionKind) (kind, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	empty, err := types.ObjectToTyped(object)
	if err != nil {
		return kind{}, fmt.Errorf("schema of %s: %w", gvk, err)
	}
	return kind{gvk: gvk, empty: empty}, nil
}

func (k kind) schema() *smdschema.Schema { return k.empty.Schema() }

func (k kind) ref() smdschema.TypeRef { return k.empty.TypeRef() }

// typed gives content the type of the kind, and an error if it does not fit. Unless duplicates are allowed, a list key
// that occurs twice does not fit either.
func (k kind) typed(content value.Value, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return typed.AsTyped(content, k.schema(), k.ref(), options...)
}
