package desired

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/partial"
)

// override is a field of the spec that holds a partial child.
type override struct {
	kind partial.Kind
	// field is the path in the Application.
	field string
	// reserved are the fields of the child that the partial object must not hold, nor anything inside them.
	reserved []reservation
	// needs is the field of the spec without which there is no child.
	needs string
	// ignored reports what of a merged child the API server would not heed, nor refuse.
	ignored func(child map[string]any) []partial.Problem
}

// The fields of the spec that hold partial children.
const (
	deploymentField = "spec.deployment"
	serviceField    = "spec.service"
)

var (
	deploymentOverride = override{kind: deploymentKind, field: deploymentField, reserved: reservedOfDeployment, ignored: ignoredOfDeployment}
	serviceOverride    = override{kind: serviceKind, field: serviceField, reserved: reservedOfService, needs: "spec.expose", ignored: ignoredOfService}
)

// path is that of the field in the Application.
func (o override) path() fieldpath.Path {
	return fieldpath.MakePathOrDie("spec", strings.TrimPrefix(o.field, "spec."))
}

// isReserved reports whether a field of the child is not for users to set.
func (o override) isReserved(path fieldpath.Path) bool {
	return slices.ContainsFunc(o.reserved, func(r reservation) bool { return hasPrefix(path, r.path) })
}

// merge merges the partial object in raw over config and returns the result, which is config itself if there is nothing
// to merge. Nothing is merged by halves: the error is a *partial.InvalidError that names every problem.
func (o override) merge(types managedfields.TypeConverter, raw *runtime.RawExtension, config any) (any, error) {
	if raw == nil || len(raw.Raw) == 0 {
		return config, nil
	}
	if config == nil {
		return nil, &partial.InvalidError{Problems: []partial.Problem{{
			Path: o.field, Message: fmt.Sprintf("without %s there is no %s: set it, or remove %s", o.needs, o.kind.Kind, o.field),
		}}}
	}
	object, err := partial.Parse(types, o.kind, o.field, raw.Raw)
	if err != nil || object == nil {
		return config, err
	}
	problems := o.taken(object)
	overlap, err := object.Overlap(config)
	if err != nil {
		return nil, err
	}
	if len(problems) == 0 {
		problems = o.overlapping(overlap)
	}
	if len(problems) > 0 {
		return nil, &partial.InvalidError{Problems: problems}
	}
	merged, err := object.MergeOver(config)
	if err != nil {
		return nil, err
	}
	if problems := o.ignored(merged.Object); len(problems) > 0 {
		return nil, &partial.InvalidError{Problems: problems}
	}
	return merged, nil
}

// ignoredOfDeployment reports a second name of the service account.
func ignoredOfDeployment(deployment map[string]any) []partial.Problem {
	name := partial.ValueAt(deployment, fieldpath.MakePathOrDie("spec", "template", "spec", "serviceAccountName"))
	old := fieldpath.MakePathOrDie("spec", "template", "spec", "serviceAccount")
	if value := partial.ValueAt(deployment, old); name == nil || value == nil || value == name {
		return nil
	}
	return []partial.Problem{{
		Path:    deploymentField + old.String(),
		Message: "it is an old name of serviceAccountName, which decides, and has another value: remove it",
	}}
}

// ignoredOfService reports settings of an affinity that the Service does not have.
func ignoredOfService(service map[string]any) []partial.Problem {
	affinity := partial.ValueAt(service, fieldpath.MakePathOrDie("spec", "sessionAffinity"))
	settings := fieldpath.MakePathOrDie("spec", "sessionAffinityConfig")
	if affinity == string(corev1.ServiceAffinityClientIP) || partial.ValueAt(service, settings) == nil {
		return nil
	}
	return []partial.Problem{{
		Path:    serviceField + settings.String(),
		Message: "it has an effect only beside sessionAffinity ClientIP: set that as well, or remove it",
	}}
}

// taken reports the fields of the object that are reserved.
func (o override) taken(object *partial.Object) []partial.Problem {
	var problems []partial.Problem
	for _, r := range o.reserved {
		found := false
		object.Fields().Iterate(func(path fieldpath.Path) {
			found = found || hasPrefix(path, r.path)
		})
		if found {
			problems = append(problems, partial.Problem{Path: o.field + r.path.String(), Message: r.why + ": remove it"})
		}
	}
	return problems
}

// overlapping reports the fields of the object that the rest of the spec, or the operator itself, sets as well. Which of
// two values counts shall not have to be known by heart.
func (o override) overlapping(fields *fieldpath.Set) []partial.Problem {
	var problems []partial.Problem
	fields.Iterate(func(path fieldpath.Path) {
		problem := partial.Problem{Path: o.field + path.String()}
		if short, exists := shortSource(o.kind.Kind, path); exists {
			problem.Message = fmt.Sprintf("spec.%s sets this field as well: keep one of the two", *short.Path[1].FieldName)
		} else {
			problem.Message = "the operator sets this field: remove it"
		}
		problems = append(problems, problem)
	})
	return problems
}
