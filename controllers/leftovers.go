package controllers

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// specPath is where the entries are that change what runs.
var specPath = fieldpath.MakePathOrDie("spec")

// strangersMessage names the list entries (environment variables, ports, containers) that are not the Application's, of a
// child that was adopted or whose managedFields were wiped. They stay, since they are not the operator's to remove, but
// users should know that it runs with more than the spec says.
func strangersMessage(result *childResult) string {
	if result.live == nil {
		return ""
	}
	managed := managedFields(result.live)
	adopted := result.live.GetAnnotations()[v1alpha1.AnnotationAdopt] == result.name
	own := managed.Fields(applier)
	owners := map[string][]string{}
	for _, entry := range managed {
		// What the API server took over from a wiped record belongs to nobody who could remove it.
		if entry.Manager == applier || entry.Subresource != "" || !adopted && entry.Name != ownership.BeforeFirstApply {
			continue
		}
		entry.Fields.Iterate(func(path fieldpath.Path) {
			if isEntry(path) && path[:1].Equals(specPath) && !own.Has(path) {
				owners[path.String()] = append(owners[path.String()], fmt.Sprintf("%q", entry.Name))
			}
		})
	}
	if len(owners) == 0 {
		return ""
	}
	return fmt.Sprintf("%s has entries that are not this Application's: %s. They stay until somebody removes them",
		result.describe(), listOwned(owners))
}

// isEntry reports whether a path is that of an item of a list with keys, not of a field within it.
func isEntry(path fieldpath.Path) bool {
	return len(path) > 1 && path[len(path)-1].Key != nil
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
