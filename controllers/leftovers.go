package controllers

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

var (
	// specPath is where the entries are that the operator does not know.
	specPath = fieldpath.MakePathOrDie("spec")
	// podPath is where every field changes what runs.
	podPath = fieldpath.MakePathOrDie("spec", "template", "spec")
)

// nobody stands for the owner that a field has no more.
const nobody = "nobody"

// leftoversMessage names what a child has beside what the spec wants: all that others own of the pod, and their entries of
// other lists (the ports of a Service), if the child was adopted; entries that belong to a wiped record; and entries that
// nobody owns any more. They stay, since they are not the operator's to remove, but users should know that the child has
// more than the spec says.
func leftoversMessage(result *childResult) string {
	if result.live == nil || result.intent == nil {
		return ""
	}
	foreign, err := result.intent.Foreign(result.live, isDefault)
	if err != nil {
		return "" // the live object was compared with the intent before
	}
	unowned, err := result.intent.UnownedItems(result.live)
	if err != nil {
		return ""
	}
	owners := map[string][]string{}
	adopted := result.live.GetAnnotations()[v1alpha1.AnnotationAdopt] == result.name
	for _, entry := range foreign {
		// What the API server took over from a wiped record belongs to nobody who could remove it.
		if entry.Subresource != "" || !adopted && entry.Name != ownership.BeforeFirstApply {
			continue
		}
		entry.Fields.Iterate(func(path fieldpath.Path) {
			part := foreignPart(path, result.intent.Fields())
			if adopted && isBelow(path, podPath) || isBelow(path, specPath) && part[len(part)-1].Key != nil {
				owners[part.String()] = append(owners[part.String()], fmt.Sprintf("%q", entry.Name))
			}
		})
	}
	unowned.Iterate(func(path fieldpath.Path) {
		if isBelow(path, specPath) {
			owners[path.String()] = append(owners[path.String()], nobody)
		}
	})
	if len(owners) == 0 {
		return ""
	}
	return fmt.Sprintf("%s has more than the spec says: %s. That stays until somebody removes it", result.describe(), listOwned(owners))
}

// foreignPart returns the outermost part of the object around a field that the operator has no field in.
func foreignPart(path fieldpath.Path, own *fieldpath.Set) fieldpath.Path {
	for n := 1; n < len(path); n++ {
		// A list is named by its items.
		if !ownership.Holds(own, path[:n]) && path[n].Key == nil {
			return path[:n]
		}
	}
	return path
}

func isBelow(path, parent fieldpath.Path) bool {
	return len(path) > len(parent) && path[:len(parent)].Equals(parent)
}

// podDefaults are what the API server sets in a pod where nobody says otherwise, by the name of the field. Whoever creates
// an object owns its defaults, too, without having asked for them.
var podDefaults = map[string][]any{
	"dnsPolicy":                     {"ClusterFirst"},
	"failureThreshold":              {int64(3)},
	"imagePullPolicy":               {"Always", "IfNotPresent"},
	"periodSeconds":                 {int64(10)},
	"protocol":                      {"TCP"},
	"restartPolicy":                 {"Always"},
	"schedulerName":                 {"default-scheduler"},
	"scheme":                        {"HTTP"},
	"successThreshold":              {int64(1)},
	"terminationGracePeriodSeconds": {int64(30)},
	"terminationMessagePath":        {"/dev/termination-log"},
	"terminationMessagePolicy":      {"File"},
	"timeoutSeconds":                {int64(1)},
}

// isDefault reports whether a field of a pod has the value that it has by default.
func isDefault(path fieldpath.Path, value any) bool {
	name := path[len(path)-1].FieldName
	if name == nil {
		return false
	}
	// The deprecated twin of serviceAccountName says nothing new.
	return *name == "serviceAccount" || slices.Contains(podDefaults[*name], value)
}

func listOwned(owners map[string][]string) string {
	fields := make([]string, 0, len(owners))
	for field := range owners {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	for i, field := range fields {
		if i == maxListedFields {
			return strings.Join(append(fields[:i], "and more"), "; ")
		}
		slices.Sort(owners[field])
		fields[i] = fmt.Sprintf("%s of %s", field, strings.Join(slices.Compact(owners[field]), " and "))
	}
	return strings.Join(fields, "; ")
}
