package spec

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// Field is a field of an Application's spec.
type Field struct {
	// Path begins with spec.
	Path fieldpath.Path
	// Required fields cannot be removed from the spec.
	Required bool
	// values are the only ones that the field can have, if not nil.
	values []string
}

// containerPath is where the main container is in a Deployment. What the spec says of a container stands there under the
// same names.
var containerPath = fieldpath.MakePathOrDie("spec", "template", "spec", "containers",
	fieldpath.KeyByFields("name", v1alpha1.ContainerName))

// containerFields are the fields of the spec that are fields of a container.
var containerFields = []string{
	"args", "command", "env", "envFrom", "image", "imagePullPolicy", "livenessProbe", "readinessProbe", "resources", "startupProbe",
}

// probes have one field that their handlers need.
var probes = []string{"livenessProbe", "readinessProbe", "startupProbe"}

// Source returns the field of the spec that the operator copies to this field of a child, and false if there is none:
// the field then follows from the Application's name, or from a field of the spec with another meaning.
func Source(object cli.Object, path fieldpath.Path) (Field, bool) {
	switch {
	case object == cli.DeploymentObject && path.Equals(fieldpath.MakePathOrDie("spec", "replicas")):
		return Field{Path: path}, true
	case object == cli.ServiceObject && path.Equals(fieldpath.MakePathOrDie("spec", "type")):
		return Field{
			Path:   fieldpath.MakePathOrDie("spec", "expose"),
			values: []string{string(v1alpha1.ExposeClusterIP), string(v1alpha1.ExposeNodePort), string(v1alpha1.ExposeLoadBalancer)},
		}, true
	case object != cli.DeploymentObject || len(path) <= len(containerPath) || !path[:len(containerPath)].Equals(containerPath):
		return Field{}, false
	}
	rest := path[len(containerPath):]
	if rest[0].FieldName == nil || !slices.Contains(containerFields, *rest[0].FieldName) {
		return Field{}, false
	}
	return Field{
		Path:     append(fieldpath.MakePathOrDie("spec"), rest...).Copy(),
		Required: isRequired(rest),
	}, true
}

func isRequired(path fieldpath.Path) bool {
	first, last := *path[0].FieldName, path[len(path)-1]
	switch {
	case first == "image":
		return true
	case slices.Contains(probes, first):
		return last.FieldName != nil && *last.FieldName == "port"
	case first == "env":
		// An entry needs its name.
		return last.FieldName != nil && *last.FieldName == "name"
	}
	return false
}
