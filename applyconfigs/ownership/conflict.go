package ownership

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conflict is one field that another manager owns with another value, or that must not be there. It never holds the value.
type Conflict struct {
	// Field is the path as the API server writes it, for instance .spec.template.spec.containers[name="app"].image.
	Field string
	// Manager is the owner's name.
	Manager string
	// Operation and Subresource complete the owner's identity, which may be ScaledToZero. Operation is empty only if the
	// API server did not tell the owner in a form that is known here; Manager is empty then, too.
	Operation   metav1.ManagedFieldsOperationType
	Subresource string
	// APIVersion at which the owner wrote the field. It is empty where the API server does not tell.
	APIVersion string
	// Against is the desired field that cannot be as desired while this one stands, if that is another one: the other
	// member of a union, a list item of the same name. It is empty if the intent wants another value in Field itself.
	Against string
}

func newConflict(field string, owner Entry) Conflict {
	return Conflict{
		Field:       field,
		Manager:     owner.Name,
		Operation:   owner.Operation,
		Subresource: owner.Subresource,
		APIVersion:  owner.APIVersion,
	}
}

// Owner returns the identity of the manager that holds the field.
func (c Conflict) Owner() Manager {
	return Manager{Name: c.Manager, Operation: c.Operation, Subresource: c.Subresource}
}

// String renders the conflict for logs and condition messages. It holds nothing that changes with time.
func (c Conflict) String() string {
	if c.Operation == "" {
		return c.Field + " (owner unknown)"
	}
	return fmt.Sprintf("%s (%s)", c.Field, c.Owner())
}

// SortConflicts returns a sorted copy without duplicates: by field, then by manager, operation, subresource and version.
func SortConflicts(conflicts []Conflict) []Conflict {
	sorted := slices.Clone(conflicts)
	slices.SortFunc(sorted, compareConflicts)
	return slices.Compact(sorted)
}

func compareConflicts(a, b Conflict) int {
	return cmp.Or(
		cmp.Compare(a.Field, b.Field),
		compareManagers(a.Owner(), b.Owner()),
		cmp.Compare(a.APIVersion, b.APIVersion),
		cmp.Compare(a.Against, b.Against),
	)
}

// FieldConflict is one contested field with all its other owners.
type FieldConflict struct {
	Field     string
	Conflicts []Conflict
}

// GroupByField returns one element for each contested field, sorted as SortConflicts sorts.
func GroupByField(conflicts []Conflict) []FieldConflict {
	var groups []FieldConflict
	for _, c := range SortConflicts(conflicts) {
		if n := len(groups); n > 0 && groups[n-1].Field == c.Field {
			groups[n-1].Conflicts = append(groups[n-1].Conflicts, c)
			continue
		}
		groups = append(groups, FieldConflict{Field: c.Field, Conflicts: []Conflict{c}})
	}
	return groups
}
