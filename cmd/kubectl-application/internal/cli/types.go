package cli

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs"
)

// TypesOf returns the schemas of the object's kind: those of Kubernetes for children, ours for the Application.
func TypesOf(object Object) managedfields.TypeConverter {
	return typesOf(object.GroupVersionKind())
}

// SchemaOf returns an empty value of the kind, for its schema, or nil if the kind is neither Kubernetes' nor ours.
func SchemaOf(gvk schema.GroupVersionKind) *typed.TypedValue {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	value, err := typesOf(gvk).ObjectToTyped(object)
	if err != nil {
		return nil
	}
	return value
}

func typesOf(gvk schema.GroupVersionKind) managedfields.TypeConverter {
	if gvk.Group == v1alpha1.GroupName {
		return ourTypes()
	}
	return builtInTypes()
}

// Schemas take a while to build, and are asked for again and again.
var (
	ourTypes     = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigs.NewTypeConverter(Scheme()) })
	builtInTypes = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(Scheme()) })
)
