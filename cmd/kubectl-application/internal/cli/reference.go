package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Reference is an object of any kind, as TYPE/NAME.
type Reference struct {
	Kind schema.GroupVersionKind
	Name string
	// Ambiguity is a note for the user if other kinds have that name too. It is empty as a rule.
	Ambiguity string
}

// applicationNames are the names by which kubectl knows our kind.
var applicationNames = []string{v1alpha1.Resource, "application", "appl"}

// Resolve finds the kind of TYPE/NAME, where TYPE is anything that kubectl get accepts. The bare names of our kind always mean
// ours, whatever other kinds are called so.
func (c *Client) Resolve(typeAndName string) (Reference, error) {
	resource, name, _ := strings.Cut(typeAndName, "/")
	if resource == "" || name == "" || strings.Contains(name, "/") {
		return Reference{}, fmt.Errorf("%q is not TYPE/NAME, as in deployment/web", typeAndName)
	}
	full, partial := schema.ParseResourceArg(strings.ToLower(resource))
	if partial.Group == "" && slices.Contains(applicationNames, partial.Resource) {
		return Reference{
			Kind:      v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind),
			Name:      name,
			Ambiguity: c.ambiguity(partial.Resource, name),
		}, nil
	}
	if full != nil {
		if kind, err := c.RESTMapper().KindFor(*full); err == nil {
			return Reference{Kind: kind, Name: name}, nil
		}
	}
	kind, err := c.RESTMapper().KindFor(partial.WithVersion(""))
	if err != nil {
		return Reference{}, Explain(err, Request{Verb: "get", Resource: partial, Namespace: c.Namespace, Name: name})
	}
	return Reference{Kind: kind, Name: name}, nil
}

// ambiguity says which other kinds of the cluster the name could mean.
func (c *Client) ambiguity(resource, name string) string {
	found, err := c.RESTMapper().ResourcesFor(schema.GroupVersionResource{Resource: resource})
	if err != nil {
		return "" // not even ours is there, which the read will tell
	}
	var others []string
	for _, other := range found {
		if other.Group != v1alpha1.GroupName {
			others = append(others, other.GroupResource().String()+"/"+name)
		}
	}
	if len(others) == 0 {
		return ""
	}
	slices.Sort(others)
	return fmt.Sprintf("%q means %s here. This cluster has other kinds of that name: write %s for those",
		resource, ApplicationResource, strings.Join(slices.Compact(others), " or "))
}

// Read reads the object that the reference names.
func (c *Client) Read(ctx context.Context, ref Reference) (*unstructured.Unstructured, error) {
	object, err := c.read(ctx, ref.Kind, ref.Name)
	if err != nil {
		return nil, Explain(err, c.getRequest(ref))
	}
	return object, nil
}

func (c *Client) getRequest(ref Reference) Request {
	request := Request{
		Verb:      "get",
		Resource:  schema.GroupResource{Group: ref.Kind.Group, Resource: strings.ToLower(ref.Kind.Kind)},
		Namespace: c.Namespace,
		Name:      ref.Name,
	}
	if mapping, err := c.RESTMapper().RESTMapping(ref.Kind.GroupKind(), ref.Kind.Version); err == nil {
		request.Resource = mapping.Resource.GroupResource()
		if mapping.Scope.Name() == meta.RESTScopeNameRoot {
			request.Namespace = ""
		}
	}
	return request
}
