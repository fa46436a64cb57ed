package controllers

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// specPath is where the entries are that change what runs.
var specPath = fieldpath.MakePathOrDie("spec")

// strangersMessage names the list entries (environment variables, ports, containers) of an adopted child that are not
// the Application's. They stay, since they are others', but whoever adopts an object should know that it runs with more
// than the spec says.
func strangersMessage(result *childResult) string {
	if result.live == nil || result.live.GetAnnotations()[v1alpha1.AnnotationAdopt] != result.name {
		return ""
	}
	managed := managedFields(result.live)
	own := managed.Fields(applier)
	owners := map[string][]string{}
	for _, entry := range managed {
		if entry.Manager == applier || entry.Subresource != "" {
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
	return fmt.Sprintf("%s was adopted and has entries that are not this Application's: %s. They stay until their managers remove them",
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
