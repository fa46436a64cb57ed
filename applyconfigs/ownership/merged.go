package ownership

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Merged is what comes of a live object by an unforced apply, before the API server sets defaults and validates. It tells
// whether what others own can stand beside what the apply sets.
type Merged struct {
	object *typed.TypedValue
	fields *fieldpath.Set
	owners ManagedFields
}

// Merge foretells the object that an unforced apply of the intent leads to, by the API server's own merge code.
//
// The error says that live is nil or does not fit the intent's kind. If the apply conflicts it wraps merge.Conflicts.
func (i *Intent) Merge(live Object) (*Merged, error) {
	if isNil(live) {
		return nil, errors.New("merging: there is no live object")
	}
	object, owners, err := i.merge(live)
	if err != nil {
		return nil, err
	}
	fields, err := object.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("fields of merged %s: %w", i.kind.gvk.Kind, err)
	}
	return &Merged{object: object, fields: fields, owners: owners}, nil
}

// Fields returns every field of the object, whoever owns it. It must not be changed.
func (m *Merged) Fields() *fieldpath.Set { return m.fields }

// Object returns a copy of the object, without managedFields.
func (m *Merged) Object() *unstructured.Unstructured {
	content, _ := m.object.AsValue().Unstructured().(map[string]any) // it has been an object
	return (&unstructured.Unstructured{Object: content}).DeepCopy()
}

// Owners returns the entries that the apply meets: the live ones or, if there are none, the one that the API server makes up.
func (m *Merged) Owners() ManagedFields { return m.owners }

// Value returns the value at a path, or nil if there is none.
func (m *Merged) Value(path fieldpath.Path) any {
	if !m.fields.Has(path) {
		return nil
	}
	return valueAt(m.object, path)
}
