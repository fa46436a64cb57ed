package cli

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Client talks to the user's cluster with the user's rights. Objects are read as the API server sends them, since a Go type
// would hide empty values and fields of other versions, all of which have owners.
type Client struct {
	client.Client
	// Namespace is the one that the flags or the context choose.
	Namespace string
}

// Application reads the named Application and returns it as its Go type, and as the API server sent it. It asks for our
// group by name: other kinds called Application may exist beside it.
func (c *Client) Application(ctx context.Context, name string) (*v1alpha1.Application, *unstructured.Unstructured, error) {
	object, err := c.read(ctx, v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind), name)
	if err != nil {
		return nil, nil, Explain(err, Request{Verb: "get", Resource: ApplicationResource, Namespace: c.Namespace, Name: name})
	}
	app, err := AsApplication(object)
	return app, object, err
}

// AsApplication converts an object as the API server sent it.
func AsApplication(object *unstructured.Unstructured) (*v1alpha1.Application, error) {
	app := &v1alpha1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, app); err != nil {
		return nil, fmt.Errorf("reading Application %s: %w", object.GetName(), err)
	}
	return app, nil
}

// Object reads one object of an Application. For ApplicationObject and StatusObject that is the Application as it was
// given, so that all parts of an answer stem from one read.
func (c *Client) Object(ctx context.Context, application *unstructured.Unstructured, which Object) (*unstructured.Unstructured, error) {
	if !which.IsChild() {
		return application, nil
	}
	object, err := c.read(ctx, which.GroupVersionKind(), application.GetName())
	if err != nil {
		return nil, Explain(err, Request{Verb: "get", Resource: which.Resource(), Namespace: c.Namespace, Name: application.GetName()})
	}
	return object, nil
}

// Controls reports whether the Application controls the object. One of a child's name that it does not control is
// somebody else's.
func Controls(application, object *unstructured.Unstructured) bool {
	return metav1.IsControlledBy(object, application)
}

func (c *Client) read(ctx context.Context, gvk schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	key := client.ObjectKey{Name: name, Namespace: c.Namespace}
	mapping, err := c.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		key.Namespace = ""
	}
	if err := c.Get(ctx, key, object); err != nil {
		return nil, err
	}
	return object, nil
}
