package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// GroupName is the API group of Application. Argo CD and others have a kind of the same name, so people and
	// programs should always name the group: applications.application.mycompany.io.
	GroupName = "application.mycompany.io"
	// Kind is the kind that users write.
	Kind = "Application"
	// Resource is the plural under which the API server serves the kind.
	Resource = "applications"
)

// SchemeGroupVersion is the group and version of the types in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

var (
	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &Application{}, &ApplicationList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
