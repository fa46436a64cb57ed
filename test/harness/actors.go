package harness

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// CreateNamespace creates a namespace with a name of its own.
func (e *Environment) CreateNamespace(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := e.Client.Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("creating a namespace: %w", err)
	}
	return namespace.Name, nil
}

// ApplyYAML applies one object by Server-Side Apply, as a field manager other than the operator would.
func (e *Environment) ApplyYAML(ctx context.Context, manager, namespace, manifest string, options ...client.ApplyOption) error {
	object, err := parse(namespace, manifest)
	if err != nil {
		return err
	}
	return e.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), append(options, client.FieldOwner(manager))...)
}

// CreateYAML creates one object by POST, as kubectl create does.
func (e *Environment) CreateYAML(ctx context.Context, manager, namespace, manifest string) error {
	object, err := parse(namespace, manifest)
	if err != nil {
		return err
	}
	return e.Client.Create(ctx, object, client.FieldOwner(manager))
}

// MergeYAML changes an object by a merge patch: managedFields record an Update, as for kubectl edit.
func (e *Environment) MergeYAML(ctx context.Context, manager string, object client.Object, patch string) error {
	raw, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		return fmt.Errorf("reading the patch: %w", err)
	}
	return e.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, raw), client.FieldOwner(manager))
}

// StrategicMergeYAML is MergeYAML with lists merged by their keys.
func (e *Environment) StrategicMergeYAML(ctx context.Context, manager string, object client.Object, patch string) error {
	raw, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		return fmt.Errorf("reading the patch: %w", err)
	}
	return e.Client.Patch(ctx, object, client.RawPatch(types.StrategicMergePatchType, raw), client.FieldOwner(manager))
}

func parse(namespace, manifest string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	if namespace != "" {
		object.SetNamespace(namespace)
	}
	return object, nil
}
