package transition

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// world is what a plan starts from.
type world struct {
	types   managedfields.TypeConverter
	live    ownership.Object
	content map[string]any
	managed ownership.ManagedFields
	// recorded: it can be told who owns what. It cannot if that was wiped, or has an entry that cannot be read.
	recorded bool
	self     ownership.Manager
	// raced is what others have taken since live was read.
	raced []ownership.Conflict
	// identity is an apply configuration with nothing in it but which object it is.
	identity *unstructured.Unstructured
}

func observe(types managedfields.TypeConverter, intent *ownership.Intent, live ownership.Object) (*world, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("reading the live object: %w", err)
	}
	// An entry that cannot be read makes the API server forget all of them; the intent's own methods know.
	managed, err := ownership.Parse(live.GetManagedFields())
	recorded := err == nil && len(managed) > 0

	object := intent.Object()
	identity := &unstructured.Unstructured{Object: map[string]any{}}
	identity.SetGroupVersionKind(object.GroupVersionKind())
	identity.SetName(object.GetName())
	identity.SetNamespace(object.GetNamespace())
	return &world{types: types, live: live, content: content, managed: managed, recorded: recorded, self: intent.Manager(), identity: identity}, nil
}

// value returns what the live object has at a path of plain fields.
func (w *world) value(path fieldpath.Path) (any, bool) {
	return valueAt(w.content, path)
}

// shared reports whether others, too, own a field.
func (w *world) shared(path fieldpath.Path) bool {
	for _, entry := range w.managed {
		if entry.Manager != w.self && entry.Manager != handoverManager && entry.Fields.Has(path) {
			return true
		}
	}
	return slices.ContainsFunc(w.raced, func(c ownership.Conflict) bool { return c.Field == path.String() })
}

// owns reports whether a manager holds a field.
func (w *world) owns(manager ownership.Manager, path fieldpath.Path) bool {
	return w.managed.Fields(manager).Has(path)
}

func valueAt(content map[string]any, path fieldpath.Path) (any, bool) {
	names := make([]string, 0, len(path))
	for _, element := range path {
		if element.FieldName == nil {
			return nil, false
		}
		names = append(names, *element.FieldName)
	}
	value, found, err := unstructured.NestedFieldNoCopy(content, names...)
	return value, found && err == nil
}
