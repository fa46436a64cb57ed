package ownership

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Without returns the intent without the contested fields. The error says that a conflict names a field that the
// intent's kind does not have.
func (i *Intent) Without(conflicts []Conflict) (*Intent, error) {
	contested := fieldpath.NewSet()
	for _, conflict := range conflicts {
		path, err := i.kind.parsePath(conflict.Field)
		if err != nil {
			return nil, err
		}
		contested.Insert(path)
	}
	return i.WithoutFields(contested)
}

// WithoutFields returns the intent without the given fields and all they contain. Maps and lists that thereby become
// empty go as well: to apply an empty map is to own it. Two kinds of fields stay nevertheless: the object's identity, and
// the keys of a list item, since an item without its keys is none; an item goes by its own path. Of an atomic list or
// map nothing remains if anything within is to go.
func (i *Intent) WithoutFields(fields *fieldpath.Set) (*Intent, error) {
	removable := fieldpath.NewSet()
	fields.Iterate(func(path fieldpath.Path) {
		if !isKeyField(path) {
			removable.Insert(path.Copy())
		}
	})
	removable = removable.Difference(unownedFields)
	content, ok := i.config.RemoveItems(removable).AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: nothing is left of it", ErrInvalid)
	}
	// What RemoveItems did not touch is still shared with this intent.
	content = runtime.DeepCopyJSON(content)
	dropEmptied(content, removable)
	config, err := i.kind.typed(value.NewValueInterface(content))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, i.kind.gvk.Kind, err)
	}
	return newIntent(i.kind, i.manager, config)
}

func isKeyField(path fieldpath.Path) bool {
	if len(path) < 2 {
		return false
	}
	item, field := path[len(path)-2], path[len(path)-1]
	if item.Key == nil || field.FieldName == nil {
		return false
	}
	for _, key := range *item.Key {
		if key.Name == *field.FieldName {
			return true
		}
	}
	return false
}

// dropEmptied deletes the maps and lists above removed fields that have nothing left in them, and only those: an empty
// map elsewhere (emptyDir: {}) has its meaning.
func dropEmptied(content any, removed *fieldpath.Set) {
	switch content := content.(type) {
	case map[string]any:
		for element := range removed.Children.All() {
			if element.FieldName == nil {
				continue
			}
			child, ok := content[*element.FieldName]
			if !ok {
				continue
			}
			dropEmptied(child, removed.WithPrefix(element))
			if isEmptyContainer(child) {
				delete(content, *element.FieldName)
			}
		}
	case []any:
		// Items are not matched with their paths: no item has a null where a field of another was removed.
		for element := range removed.Children.All() {
			for _, item := range content {
				dropEmptied(item, removed.WithPrefix(element))
			}
		}
	}
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
