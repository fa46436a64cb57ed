package ownership

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Wiped reports whether the object has lost its record of owners: it has no managedFields at all (a client reset them,
// or a cache strips them), or nothing but what the API server made up for the fields it found then. An object written
// by any client of a current API server has at least one other entry.
func (m ManagedFields) Wiped() bool {
	return !slices.ContainsFunc(m, func(e Entry) bool { return e.Name != BeforeFirstApply })
}

// Legacy returns the entries that a client left under one of these names by creating or updating the object instead of
// applying it. They hold fields against a later apply of the same name. Writes through subresources are not meant: an
// autoscaler or a status writer may go on using them.
func (m ManagedFields) Legacy(names ...string) ManagedFields {
	return m.filter(func(e Entry) bool {
		return e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == "" && slices.Contains(names, e.Name)
	})
}
