package ownership

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// ErrInvalid says that an apply configuration does not fit the schema of its kind: a field that does not exist, a list
// key that occurs twice. The API server refuses such a patch however often it is sent.
var ErrInvalid = errors.New("invalid apply configuration")

// Intent is an apply configuration together with the manager that applies it. It is immutable and safe for concurrent
// use.
type Intent struct {
	kind    kind
	manager Manager
	config  *typed.TypedValue
	fields  *fieldpath.Set
}

// NewIntent makes an intent of an apply configuration, a typed one or an *unstructured.Unstructured, with quantities
// brought to the API server's own form. The manager's Subresource is the one that the configuration is applied to.
// Neither the configuration nor types is changed or kept.
//
// The error wraps ErrInvalid if the configuration does not fit its schema. Any other error means that types does not
// know the kind, or that it is no apply configuration at all.
func NewIntent(types managedfields.TypeConverter, manager Manager, applyConfiguration any) (*Intent, error) {
	content, err := toContent(applyConfiguration)
	if err != nil {
		return nil, err
	}
	gvk := (&unstructured.Unstructured{Object: content}).GroupVersionKind()
	if gvk.Version == "" || gvk.Kind == "" {
		return nil, errors.New("apply configuration has no apiVersion or kind")
	}
	kind, err := resolveKind(types, gvk)
	if err != nil {
		return nil, err
	}
	config, err := kind.typed(value.NewValueInterface(kind.normalize(content)))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, gvk.Kind, err)
	}
	return newIntent(kind, manager, config)
}

func newIntent(kind kind, manager Manager, config *typed.TypedValue) (*Intent, error) {
	fields, err := config.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, kind.gvk.Kind, err)
	}
	fields = resetFilter(manager).Filter(fields).Difference(unownedFields)
	return &Intent{kind: kind, manager: manager, config: config, fields: fields}, nil
}

// toContent goes through JSON since that is what reaches the API server.
func toContent(config any) (map[string]any, error) {
	if u, ok := config.(*unstructured.Unstructured); ok {
		config = u.Object
	}
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

// Manager returns the manager that applies the intent.
func (i *Intent) Manager() Manager { return i.manager }

// Fields returns the set that the manager owns once the intent is applied. It must not be changed.
func (i *Intent) Fields() *fieldpath.Set { return i.fields }

// Object returns the intent in the form to be sent to the API server: a fresh copy at each call.
func (i *Intent) Object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(i.content())}
}

// content returns the configuration itself, not a copy.
func (i *Intent) content() map[string]any {
	content, _ := i.config.AsValue().Unstructured().(map[string]any)
	return content
}
