package partial

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// Kind is the kind that partial objects are parts of.
type Kind struct {
	schema.GroupVersionKind
	// New returns an empty object of the kind's Go type.
	New func() runtime.Object
}

// Object is a partial object. It is immutable and safe for concurrent use.
type Object struct {
	config *typed.TypedValue
	stated *fieldpath.Set
}

// Parse reads a partial object from JSON. The root names it in messages, for instance spec.deployment. The result is nil
// if there is nothing in the object.
//
// The error is an *InvalidError if the object does not fit the kind. Any other error means that types does not know the
// kind.
func Parse(types managedfields.TypeConverter, kind Kind, root string, raw []byte) (*Object, error) {
	empty, err := emptyOf(types, kind.GroupVersionKind)
	if err != nil {
		return nil, err
	}
	var content any
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return nil, invalid(Problem{Path: root, Message: "it is no JSON"})
	}
	if content == nil {
		return nil, nil
	}
	if err := invalid(check(empty.Schema(), empty.TypeRef(), root, content)...); err != nil {
		return nil, err
	}
	fields, ok := content.(map[string]any)
	if !ok || len(fields) == 0 {
		return nil, nil
	}
	normal, err := normalize(empty, kind, root, fields)
	if err != nil {
		return nil, err
	}
	stated, _ := without(fields, isNothing).(map[string]any)
	if len(stated) == 0 {
		return nil, nil
	}
	config, normalFields, err := typedObject(empty, root, normal)
	if err != nil {
		return nil, err
	}
	_, statedFields, err := typedObject(empty, root, stated)
	if err != nil {
		return nil, err
	}
	return &Object{config: config, stated: statedFields.Union(normalFields)}, nil
}

// normalize returns the content in normal form.
func normalize(empty *typed.TypedValue, kind Kind, root string, content any) (any, error) {
	for {
		stored, err := decode(kind, root, content)
		if err != nil {
			return nil, err
		}
		bare, err := decode(kind, root, without(content, isEmpty))
		if err != nil {
			return nil, err
		}
		normal := normalizer{schema: empty.Schema()}.value(content, stored, bare, empty.TypeRef())
		if reflect.DeepEqual(normal, content) {
			return normal, nil
		}
		content = normal // an object that has become empty may be as good as nothing, too
	}
}

func typedObject(empty *typed.TypedValue, root string, content any) (*typed.TypedValue, *fieldpath.Set, error) {
	object, err := typed.AsTyped(value.NewValueInterface(content), empty.Schema(), empty.TypeRef())
	if err != nil {
		return nil, nil, invalid(Problem{Path: root, Message: err.Error()})
	}
	fields, err := object.ToFieldSet()
	if err != nil {
		return nil, nil, invalid(Problem{Path: root, Message: err.Error()})
	}
	return object, fields, nil
}

// Fields returns all fields that the object was written with, identity included, but for nulls. Of empty values it has also
// those that are as good as nothing. It must not be changed.
func (o *Object) Fields() *fieldpath.Set { return o.stated }

// MergeOver returns the apply configuration base with the object merged over it. Base is of the object's kind, typed or
// *unstructured.Unstructured, and is not changed. What both set is the object's in the result: see Overlap.
func (o *Object) MergeOver(base any) (*unstructured.Unstructured, error) {
	typedBase, err := o.typed(base)
	if err != nil {
		return nil, err
	}
	merged, err := typedBase.Merge(o.config)
	if err != nil {
		return nil, fmt.Errorf("merging the partial object: %w", err)
	}
	content, _ := merged.AsValue().Unstructured().(map[string]any)
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(content)}, nil
}

// Overlap returns the fields that both base and the object set, whether or not to one value. Keys of list entries are no
// such fields: by them an entry is said to be the same.
func (o *Object) Overlap(base any) (*fieldpath.Set, error) {
	typedBase, err := o.typed(base)
	if err != nil {
		return nil, err
	}
	fields, err := typedBase.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("fields of the apply configuration: %w", err)
	}
	both := fieldpath.NewSet()
	fields.Leaves().Intersection(o.stated).Iterate(func(path fieldpath.Path) {
		if !ownership.IsKey(path) {
			both.Insert(path.Copy())
		}
	})
	return both, nil
}

func (o *Object) typed(config any) (*typed.TypedValue, error) {
	content, err := toContent(config)
	if err != nil {
		return nil, err
	}
	t, err := typed.AsTyped(value.NewValueInterface(content), o.config.Schema(), o.config.TypeRef())
	if err != nil {
		return nil, fmt.Errorf("apply configuration: %w", err)
	}
	return t, nil
}

// toContent goes through JSON since that is what reaches the API server.
func toContent(config any) (map[string]any, error) {
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("apply configuration: %w", err)
	}
	var content map[string]any
	if err := utiljson.Unmarshal(encoded, &content); err != nil {
		return nil, fmt.Errorf("apply configuration: %w", err)
	}
	return content, nil
}

// emptyOf returns an object of the kind with nothing in it, for its schema.
func emptyOf(types managedfields.TypeConverter, gvk schema.GroupVersionKind) (*typed.TypedValue, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	empty, err := types.ObjectToTyped(object)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", gvk, err)
	}
	return empty, nil
}
