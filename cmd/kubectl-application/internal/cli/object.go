package cli

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Object names one of the objects of an Application. It is the value of the flag --object.
type Object string

// The objects of an Application. Status is the Application itself, of which only the status is shown.
const (
	DeploymentObject  Object = "deployment"
	ServiceObject     Object = "service"
	ApplicationObject Object = "application"
	StatusObject      Object = "status"
)

// Objects lists all objects of an Application, those that the operator applies first.
var Objects = []Object{DeploymentObject, ServiceObject, ApplicationObject, StatusObject}

// ApplicationResource is the resource of Applications by its full name.
var ApplicationResource = schema.GroupResource{Group: v1alpha1.GroupName, Resource: v1alpha1.Resource}

// IsChild reports whether the object is one that the operator makes.
func (o Object) IsChild() bool { return o == DeploymentObject || o == ServiceObject }

// GroupVersionKind returns the kind that the operator speaks of.
func (o Object) GroupVersionKind() schema.GroupVersionKind {
	switch o {
	case DeploymentObject:
		return appsv1.SchemeGroupVersion.WithKind("Deployment")
	case ServiceObject:
		return corev1.SchemeGroupVersion.WithKind("Service")
	default:
		return v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind)
	}
}

// Resource returns the resource by which the API server serves the object.
func (o Object) Resource() schema.GroupResource {
	switch o {
	case DeploymentObject:
		return schema.GroupResource{Group: appsv1.GroupName, Resource: "deployments"}
	case ServiceObject:
		return schema.GroupResource{Resource: "services"}
	default:
		return ApplicationResource
	}
}

// String returns the name. With Set and Type it makes an Object the value of a flag.
func (o *Object) String() string { return string(*o) }

// Set accepts the names of Objects.
func (o *Object) Set(value string) error {
	if !slices.Contains(Objects, Object(value)) {
		return fmt.Errorf("must be one of %s", joinObjects(", "))
	}
	*o = Object(value)
	return nil
}

// Type is what the help calls the value.
func (o *Object) Type() string { return joinObjects("|") }

func joinObjects(separator string) string {
	names := make([]string, 0, len(Objects))
	for _, object := range Objects {
		names = append(names, string(object))
	}
	return strings.Join(names, separator)
}
