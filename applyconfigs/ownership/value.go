package ownership

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// ParsePath reads a path of the intent's kind, as the function ParsePath does.
func (i *Intent) ParsePath(path string) (fieldpath.Path, error) {
	return i.kind.parsePath(path)
}

// Value returns what the intent wants at a path that can be owned, and false if it wants nothing there. The value must not
// be changed.
func (i *Intent) Value(path fieldpath.Path) (any, bool) {
	value, found, err := find(i.config, path)
	return value, found && err == nil
}

// LiveValue returns what a live object of the intent's kind has at a path that can be owned, in the form in which values
// are compared: quantities are brought to the API server's own form. The value must not be changed.
//
// The error says that live does not fit the intent's kind.
func (i *Intent) LiveValue(live Object, path fieldpath.Path) (any, bool, error) {
	if isNil(live) {
		return nil, false, nil
	}
	object, err := i.kind.live(live)
	if err != nil {
		return nil, false, err
	}
	return find(object, path)
}

// Excerpt returns the given fields of the intent alone, each list item with its keys: the body of a patch that writes
// these fields and no other. It holds neither apiVersion, kind nor the object's identity.
func (i *Intent) Excerpt(fields *fieldpath.Set) *unstructured.Unstructured {
	own := fields.Intersection(i.fields)
	if own.Empty() {
		return &unstructured.Unstructured{Object: map[string]any{}}
	}
	content, _ := i.config.ExtractItems(own, typed.WithAppendKeyFields()).AsValue().Unstructured().(map[string]any)
	return (&unstructured.Unstructured{Object: content}).DeepCopy()
}

// find returns the value of a field, whether the object has it or not.
func find(object *typed.TypedValue, path fieldpath.Path) (any, bool, error) {
	fields, err := object.ToFieldSet()
	if err != nil {
		return nil, false, fmt.Errorf("fields of the object: %w", err)
	}
	if !fields.Has(path) {
		return nil, false, nil
	}
	if IsKey(path) {
		// An item's keys are told by its path.
		for _, key := range *path[len(path)-2].Key {
			if key.Name == *path[len(path)-1].FieldName {
				return key.Value.Unstructured(), true, nil
			}
		}
	}
	// An item is taken with all it contains.
	only := object.ExtractItems(within(fields, fieldpath.NewSet(path)), typed.WithAppendKeyFields())
	return descend(only.AsValue().Unstructured(), path), true, nil
}
