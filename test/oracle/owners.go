package oracle

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// owner is a field manager as the API server tells them apart.
type owner struct {
	name, operation, subresource, apiVersion string
}

// The names are written out: a changed name would make the operator a stranger to what it applied before.
const (
	operatorName  = "application-operator"
	handoverName  = "application-operator-handover"
	finalizerName = "application-operator-finalizer"
	statusName    = "application-operator-status"
	unknownName   = "before-first-apply"
)

func (o owner) isOperator() bool { return o.name == operatorName && o.operation == "Apply" }
func (o owner) isHandover() bool { return o.name == handoverName && o.operation == "Apply" }

func compareOwners(a, b owner) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.operation, b.operation),
		cmp.Compare(a.subresource, b.subresource), cmp.Compare(a.apiVersion, b.apiVersion))
}

// ownership tells which fields each manager of an object owns.
type ownership map[owner]map[string]bool

// readOwnership reads managedFields. An object without any is, from its next apply on, owned by nobody known.
func readOwnership(object metav1.Object, flat fields) ownership {
	owners := ownership{}
	for _, entry := range object.GetManagedFields() {
		by := owner{entry.Manager, string(entry.Operation), entry.Subresource, entry.APIVersion}
		owners[by] = map[string]bool{}
		if entry.FieldsV1 == nil {
			continue
		}
		if paths, err := ownedPaths(entry.FieldsV1.GetRawBytes()); err == nil {
			owners[by] = paths
		}
	}
	if len(owners) == 0 {
		all := map[string]bool{}
		for path := range flat {
			all[path] = true
		}
		owners[owner{name: unknownName, operation: "Update", apiVersion: apiVersionOf(object)}] = all
	}
	return owners
}

// own returns what the operator owns.
func (o ownership) own() map[string]bool {
	for by, paths := range o {
		if by.isOperator() {
			return paths
		}
	}
	return nil
}

// others returns who else owns a field, sorted. The hand-over manager is the operator's own.
func (o ownership) others(path string) []owner {
	var others []owner
	for by, paths := range o {
		if paths[path] && !by.isOperator() && !by.isHandover() {
			others = append(others, by)
		}
	}
	slices.SortFunc(others, compareOwners)
	return others
}

// hasOthers reports whether others own anything of a field.
func (o ownership) hasOthers(field string) bool {
	for by, paths := range o {
		if by.isOperator() || by.isHandover() {
			continue
		}
		for path := range paths {
			if isInside(path, field) {
				return true
			}
		}
	}
	return false
}

// anybody reports whether a field has an owner.
func (o ownership) anybody(path string) bool {
	for _, paths := range o {
		if paths[path] {
			return true
		}
	}
	return false
}

// isOlder: an entry that an operator of an older kind, which did not apply, would leave behind under the same name.
func (o owner) isOlder() bool {
	return o.name == operatorName && o.operation == "Update" && o.subresource == ""
}

// older reports whether there is such an entry.
func (o ownership) older() bool {
	for by := range o {
		if by.isOlder() {
			return true
		}
	}
	return false
}

// folds reports whether a write took over what an older operator had left behind, before this one came to apply for the
// first time. Afterwards, who writes under that name is a manager like any other.
func (o ownership) folds(by owner, after ownership) bool {
	_, stays := after[by]
	return by.isOlder() && o.own() == nil && !stays
}
