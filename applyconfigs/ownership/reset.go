package ownership

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// unownedFields never enter managedFields: they are the object's identity, or are written by the API server alone.
var unownedFields = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"),
	fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "name"),
	fieldpath.MakePathOrDie("metadata", "namespace"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"),
	fieldpath.MakePathOrDie("metadata", "selfLink"),
	fieldpath.MakePathOrDie("metadata", "uid"),
	fieldpath.MakePathOrDie("metadata", "clusterName"),
	fieldpath.MakePathOrDie("metadata", "generation"),
	fieldpath.MakePathOrDie("metadata", "managedFields"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"),
)

var (
	resetByMain   = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	resetByStatus = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(
		fieldpath.MakePathOrDie("metadata"),
		fieldpath.MakePathOrDie("spec"),
	))
	resetByNone = fieldpath.NewExcludeSetFilter(fieldpath.NewSet())
)

// resetFilter leaves out what a write of the manager cannot touch, since the endpoint it goes to resets it: status
// outside the status subresource, and everything else within.
func resetFilter(manager Manager) fieldpath.Filter {
	switch manager.Subresource {
	case "":
		return resetByMain
	case "status":
		return resetByStatus
	default:
		return resetByNone
	}
}
