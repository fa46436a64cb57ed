package desired

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/partial"
)

// Source is the field of an Application's spec that a field of a child comes from, or could come from.
type Source struct {
	// Path begins with spec.
	Path fieldpath.Path
	// Partial is the field of the spec that holds the partial child that Path leads into, for instance spec.deployment, and
	// empty if Path leads into none.
	Partial string
	// Held: the partial child has the field. It is always true of other fields of the spec, set or not.
	Held bool
	// Copied: the field of the child is a copy of what stands at Path. Else it is made from that.
	Copied bool
	// Settable: by another value at Path, the Application can want any value that the field of the child has now. If Values
	// is not empty, it can be one of these only.
	Settable bool
	Values   []string
	// Removable: the Application is valid without what stands at Path, and still wants the child.
	Removable bool
}

// SourceOf returns the field of the spec that the field of a child of that kind comes from: the short field, or the one in
// spec.deployment or spec.service. A field that comes from neither, but may be set in these, has a source that is not
// Held. It returns false for what follows from the Application's name, or from the very fact that there is a child, and
// for what is not for users to set.
func SourceOf(app *v1alpha1.Application, kind string, path fieldpath.Path) (Source, bool) {
	var part override
	var raw []byte
	switch kind {
	case deploymentKind.Kind:
		part = deploymentOverride
		if app.Spec.Deployment != nil {
			raw = app.Spec.Deployment.Raw
		}
	case serviceKind.Kind:
		part = serviceOverride
		if app.Spec.Service != nil {
			raw = app.Spec.Service.Raw
		}
	default:
		return Source{}, false
	}
	if len(path) == 0 || path.Equals(mainContainer) || ownership.IsKey(path) {
		return Source{}, false
	}
	short, isShort := shortSource(part.kind.Kind, path)
	if isShort && isPortOf(app, path) {
		return short, true // whatever else the partial child says of that port
	}
	inPartial := Source{Path: append(slices.Clone(part.path()), path...), Partial: part.field, Copied: true, Settable: true}
	if inPartial.Held = holds(raw, path); inPartial.Held {
		inPartial.Removable = true
		return inPartial, true
	}
	if isShort {
		return short, true
	}
	if part.isReserved(path) || isDerived(path) {
		return Source{}, false
	}
	return inPartial, true
}

// shortSource returns the field of the spec outside spec.deployment and spec.service that a field comes from.
func shortSource(kind string, path fieldpath.Path) (Source, bool) {
	source := Source{Held: true, Copied: true, Settable: true, Removable: true}
	switch kind {
	case serviceKind.Kind:
		switch {
		case path.Equals(fieldpath.MakePathOrDie("spec", "type")):
			source.Path = fieldpath.MakePathOrDie("spec", "expose")
			source.Values = []string{string(v1alpha1.ExposeClusterIP), string(v1alpha1.ExposeNodePort), string(v1alpha1.ExposeLoadBalancer)}
			source.Removable = false // there would be no Service
			return source, true
		case hasPrefix(path, fieldpath.MakePathOrDie("spec", "ports")):
			return portSource(path[2:], "port", "targetPort")
		}
		return Source{}, false
	case deploymentKind.Kind:
		if path.Equals(fieldpath.MakePathOrDie("spec", "replicas")) {
			source.Path = path
			return source, true
		}
	}
	if len(path) <= len(mainContainer) || !hasPrefix(path, mainContainer) {
		return Source{}, false
	}
	rest := path[len(mainContainer):]
	switch {
	case rest[0].FieldName == nil:
		return Source{}, false
	case *rest[0].FieldName == "ports":
		return portSource(rest[1:], "containerPort")
	case !slices.Contains(containerFields, *rest[0].FieldName):
		return Source{}, false
	}
	source.Path = append(fieldpath.MakePathOrDie("spec"), rest...)
	source.Removable = !isRequired(rest)
	return source, true
}

// mainContainer is where the container that the spec describes is in a Deployment.
var mainContainer = fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", v1alpha1.ContainerName))

// containerFields are the fields of the spec that are those of the main container, under the same names.
var containerFields = []string{
	"args", "command", "env", "envFrom", "image", "imagePullPolicy", "livenessProbe", "readinessProbe", "resources", "startupProbe",
}

// isRequired reports whether a field of a container cannot be left out where what it is in stays.
func isRequired(path fieldpath.Path) bool {
	switch *path[0].FieldName {
	case "image":
		return true
	case "livenessProbe", "readinessProbe", "startupProbe":
		last := path[len(path)-1]
		return last.FieldName != nil && slices.Contains(requiredOfProbe, *last.FieldName)
	}
	return false
}

// requiredOfProbe are the handlers of a probe, which needs one, and what these need.
var requiredOfProbe = []string{"command", "exec", "grpc", "httpGet", "port", "tcpSocket"}

// portSource is that of a list of ports, of an entry of it, or of what spec.port makes in one. Entries are told by their
// numbers, which are the spec's; their names and targets are the operator's.
func portSource(inList fieldpath.Path, fields ...string) (Source, bool) {
	source := Source{Path: fieldpath.MakePathOrDie("spec", "port"), Held: true}
	switch {
	case len(inList) < 2:
		source.Settable, source.Removable = true, true
	case inList[1].FieldName == nil || !slices.Contains(append(fields, "name"), *inList[1].FieldName):
		return Source{}, false
	}
	return source, true
}

// isPortOf reports whether a path is that of the list item that spec.port makes.
func isPortOf(app *v1alpha1.Application, path fieldpath.Path) bool {
	item := path[len(path)-1]
	if app.Spec.Port == nil || item.Key == nil {
		return false
	}
	return slices.ContainsFunc(*item.Key, func(key value.Field) bool { return key.Value.Unstructured() == int64(*app.Spec.Port) }) &&
		slices.ContainsFunc(*item.Key, func(key value.Field) bool { return key.Value.Unstructured() == string(corev1.ProtocolTCP) })
}

// derivedLabels are those that the operator sets besides those of the selector.
var derivedLabels = []string{v1alpha1.LabelName, v1alpha1.LabelInstance, v1alpha1.LabelManagedBy}

// isDerived reports whether the operator sets the field whatever the spec says.
func isDerived(path fieldpath.Path) bool {
	for _, labels := range []fieldpath.Path{
		fieldpath.MakePathOrDie("metadata", "labels"), fieldpath.MakePathOrDie("spec", "template", "metadata", "labels"),
	} {
		if len(path) == len(labels)+1 && hasPrefix(path, labels) {
			name := path[len(labels)].FieldName
			return name != nil && slices.Contains(derivedLabels, *name)
		}
	}
	return false
}

// holds reports whether the JSON of a partial object has something at the path.
func holds(raw []byte, path fieldpath.Path) bool {
	if len(raw) == 0 {
		return false
	}
	var content any
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return false
	}
	return partial.ValueAt(content, path) != nil
}

func hasPrefix(path, prefix fieldpath.Path) bool {
	return len(path) >= len(prefix) && path[:len(prefix)].Equals(prefix)
}
