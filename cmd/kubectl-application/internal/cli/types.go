package cli

import (
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"

	"mycompany.io/application-operator/applyconfigs"
)

// TypesOf returns the schemas of the object's kind: those of Kubernetes for children, ours for the Application.
func TypesOf(object Object) managedfields.TypeConverter {
	if object.IsChild() {
		return applyconfigurations.NewTypeConverter(Scheme())
	}
	return applyconfigs.NewTypeConverter(Scheme())
}
