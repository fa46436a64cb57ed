package transfer

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/partial"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
)

var (
	operator = ownership.Applier(v1alpha1.FieldManager)
	// handover holds replicas for the operator until somebody takes them.
	handover = ownership.Applier(v1alpha1.FieldManagerHandover)
)

// isOperator selects the managers whose claims are the operator's.
func isOperator(m ownership.Manager) bool { return m == operator || m == handover }

func isOther(m ownership.Manager) bool { return !isOperator(m) }

// Change is a change of who owns fields of a child.
type Change struct {
	Child  *children.Child
	Fields []FieldChange
	// Patch does it. It is empty if there is nothing to do.
	Patch []byte
	// After is the child with the record that the patch makes.
	After *children.Child
}

// FieldChange is what a Change does to one field.
type FieldChange struct {
	Path fieldpath.Path
	// From lose their claim, sorted.
	From []ownership.Manager
	// To gains one, if not nil.
	To *ownership.Manager
	// Live is the present value, which the change itself leaves alone. Wanted is what the operator applies, if anything.
	Live, Wanted any
}

// sameAs reports whether another change would do the same to the same fields. Then it was agreed to as well.
func (c *Change) sameAs(other *Change) bool {
	return slices.EqualFunc(c.Fields, other.Fields, func(a, b FieldChange) bool {
		return a.Path.Equals(b.Path) && slices.Equal(a.From, b.From) && reflect.DeepEqual(a.To, b.To) &&
			reflect.DeepEqual(a.Live, b.Live) && reflect.DeepEqual(a.Wanted, b.Wanted)
	})
}

// RefusalError says why a transfer is not done, and what to do instead.
type RefusalError struct {
	Reason string
}

func (e *RefusalError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &RefusalError{Reason: fmt.Sprintf(format, args...)}
}

// begin checks what every transfer needs: a child that the operator applies to, and a record that can be rewritten.
func begin(child *children.Child) (*ownership.Rewrite, error) {
	switch {
	case child.Intent == nil:
		return nil, refuse("the Application wants no %s", child.Object.GroupVersionKind().Kind)
	case child.Live == nil:
		return nil, refuse("there is no %s yet, so nobody owns a field of it", child.Reference())
	}
	if hindrance := child.Hindrance(); hindrance != "" {
		return nil, refuse("%s %s", child.Reference(), hindrance)
	}
	rewrite, err := ownership.NewRewrite(child.Live)
	if errors.Is(err, ownership.ErrNoRecord) {
		return nil, refuse("metadata.managedFields of %s cannot be read, so there is no claim to transfer (%v): "+
			"write the value that is wanted to the object, for instance with kubectl edit, and its writer owns it", child.Reference(), err)
	}
	return rewrite, err
}

// end makes the change complete.
func end(child *children.Child, rewrite *ownership.Rewrite, fields []FieldChange) (*Change, error) {
	change := &Change{Child: child, Fields: fields, After: child}
	if !slices.ContainsFunc(fields, func(f FieldChange) bool { return len(f.From) > 0 || f.To != nil }) {
		return change, nil
	}
	patch, err := rewrite.Patch()
	if errors.Is(err, ownership.ErrLastClaim) {
		return nil, refuse("no other field of %s has an owner on record, and the API server takes an object without any for one whose owners are lost: "+
			"write the value that is wanted to the object, for instance with kubectl edit, and the claim is shared", child.Reference())
	}
	if err != nil {
		return nil, err
	}
	entries, err := rewrite.Entries()
	if err != nil {
		return nil, err
	}
	change.Patch, change.After = patch, child.WithRecord(entries)
	return change, nil
}

// field reads a path, and refuses one that is no single field.
func field(child *children.Child, text string, known *fieldpath.Set) (fieldpath.Path, error) {
	path, err := child.Intent.ParsePath(text)
	if err != nil {
		return nil, refuse("%v: paths look like .spec.template.spec.containers[name=\"app\"].image, as \"kubectl application owners\" prints them", err)
	}
	if keyed, is := byKeys(child, path); is {
		return nil, refuse("%s: entries of this list are told by their keys, and not by their place: the one there now is %s", path, keyed)
	}
	if within := below(known, path); len(within) > 0 {
		return nil, refuse("%s is no single field: name one of %s", path, strings.Join(within, ", "))
	}
	if ownership.IsKey(path) {
		return nil, refuse("%s is the key of a list item: all that have a part in the item own it together", path)
	}
	return path, nil
}

// byKeys returns a path with keys in place of indexes, and whether it had an index for which the live object has an item
// with keys.
func byKeys(child *children.Child, path fieldpath.Path) (fieldpath.Path, bool) {
	known := child.Intent.Fields()
	for _, entry := range record(child) {
		known = known.Union(entry.Fields)
	}
	keyed, is := path.Copy(), false
	for n, element := range path {
		if element.Index == nil {
			continue
		}
		items, _ := partial.ValueAt(child.Live.Object, keyed[:n]).([]any)
		for _, item := range items[min(*element.Index, len(items)):min(*element.Index+1, len(items))] {
			if keys := keysOf(item, keyed[:n], known); len(keys) > 0 {
				keyed[n], is = fieldpath.PathElement{Key: &keys}, true
			}
		}
	}
	return keyed, is
}

// keysOf returns the keys of an item of the list at a path, by the names that keys of known items have there.
func keysOf(item any, list fieldpath.Path, known *fieldpath.Set) value.FieldList {
	fields, _ := item.(map[string]any)
	var keys value.FieldList
	known.Iterate(func(path fieldpath.Path) {
		if len(keys) > 0 || len(path) <= len(list) || !path[:len(list)].Equals(list) || path[len(list)].Key == nil {
			return
		}
		for _, key := range *path[len(list)].Key {
			if is, has := fields[key.Name]; has {
				keys = append(keys, value.Field{Name: key.Name, Value: value.NewValueInterface(is)})
			}
		}
	})
	return keys
}

// below returns the fields within a field, keys of list items left out.
func below(fields *fieldpath.Set, parent fieldpath.Path) []string {
	var within []string
	fields.Leaves().Iterate(func(path fieldpath.Path) {
		if len(path) > len(parent) && path[:len(parent)].Equals(parent) && !ownership.IsKey(path) {
			within = append(within, path.String())
		}
	})
	slices.Sort(within)
	return within
}

// values returns what a field is and what the operator wants it to be.
func values(child *children.Child, path fieldpath.Path) (live, wanted any, err error) {
	live, _, err = child.Intent.LiveValue(child.Live, path)
	wanted, _ = child.Intent.Value(path)
	return live, wanted, err
}

// record reads who owns what. The record has been found readable before.
func record(child *children.Child) ownership.ManagedFields {
	managed, _ := ownership.Parse(child.Live.GetManagedFields())
	return managed
}

// now is when a new entry of the record is made.
func now() metav1.Time { return metav1.Now().Rfc3339Copy() }
