package transfer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// maxManager is the API server's limit on the name of a manager, in bytes.
const maxManager = 128

// Recipient is who shall own what the operator releases.
type Recipient struct {
	Name string
	// Operation chooses between the entries of that name, or the kind of a new one. Empty means the one that there is,
	// else Apply.
	Operation metav1.ManagedFieldsOperationType
}

// Release plans how the operator gives up fields without a change of their values.
//
// What the spec wants, the operator would claim again at once. So with a recipient the two come to share such a field,
// and the operator lets go, by its own next apply, when the field leaves the spec; without a recipient it is refused. What
// the spec does not want any more, but the operator still owns (it does not run, is paused or held up by a conflict), it
// loses at once, in favour of the recipient if there is one.
//
// The error is a *RefusalError if that cannot be or would make no sense.
func Release(child *children.Child, fields []string, to *Recipient) (*Change, error) {
	rewrite, err := begin(child)
	if err != nil {
		return nil, err
	}
	managed := record(child)
	owned := managed.Fields(operator).Union(managed.Fields(handover))
	recipient, err := to.manager(managed)
	if err != nil {
		return nil, err
	}
	var changes []FieldChange
	for _, text := range fields {
		path, err := field(child, text, owned)
		if err != nil {
			return nil, err
		}
		if !owned.Has(path) {
			return nil, refuse("the operator does not own %s of %s, so there is nothing to release: %s", path, child.Reference(), ownedBy(managed, path))
		}
		change := FieldChange{Path: path}
		if change.Live, change.Wanted, err = values(child, path); err != nil {
			return nil, err
		}
		wanted := child.Intent.Fields().Has(path)
		claim := claimOn(path, owned)
		switch {
		case wanted && recipient == nil:
			return nil, refuse("the Application wants %s of %s, so the operator would own it again at once: %s", path, child.Reference(), dropInstead(child, managed, path))
		case recipient != nil:
			if !managed.Fields(*recipient).Has(path) {
				change.To = recipient
				rewrite.Add(claim, *recipient, child.Object.GroupVersionKind().GroupVersion().String(), now())
			}
		}
		if !wanted {
			// What the spec still wants of the list items around the field stays the operator's.
			change.From = rewrite.Drop(claim.Difference(child.Intent.Fields()), isOperator)
		}
		changes = append(changes, change)
	}
	return end(child, rewrite, changes)
}

// claimOn returns what has to be owned for a field to stay: the field itself, and each list item around it with its keys,
// since an item goes with its last owner. The operator owns these.
func claimOn(path fieldpath.Path, owned *fieldpath.Set) *fieldpath.Set {
	claim := fieldpath.NewSet(path)
	for n := 1; n < len(path); n++ {
		item := path[:n]
		if item[n-1].Key == nil || !owned.Has(item) {
			continue
		}
		claim.Insert(item.Copy())
		for _, key := range *item[n-1].Key {
			if name := append(item.Copy(), fieldpath.FieldNameElement(key.Name)); owned.Has(name) {
				claim.Insert(name)
			}
		}
	}
	return claim
}

// manager returns the manager that the recipient is or becomes, or nil for no recipient.
func (r *Recipient) manager(managed ownership.ManagedFields) (*ownership.Manager, error) {
	if r == nil {
		return nil, nil
	}
	switch {
	case r.Name == "" || len(r.Name) > maxManager || strings.ContainsFunc(r.Name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return nil, refuse("%q is no name of a manager: use 1 to %d printable characters", r.Name, maxManager)
	case strings.HasPrefix(r.Name, operator.Name):
		return nil, refuse("%q is the operator itself", r.Name)
	}
	var candidates []ownership.Manager
	for _, entry := range managed {
		if entry.Name == r.Name && (r.Operation == "" || r.Operation == entry.Operation) {
			candidates = append(candidates, entry.Manager)
		}
	}
	candidates = slices.Compact(candidates)
	switch {
	case len(candidates) == 1:
		return &candidates[0], nil
	case len(candidates) == 0:
		manager := ownership.Manager{Name: r.Name, Operation: r.Operation}
		if r.Operation == "" {
			manager.Operation = metav1.ManagedFieldsOperationApply
		}
		return &manager, nil
	}
	// Writes through subresources are about few fields; the entry of the main resource may hold any.
	for _, candidate := range candidates {
		if candidate.Subresource == "" && r.Operation != "" {
			return &candidate, nil
		}
	}
	return nil, refuse("%q writes in several ways, as %s: choose one with --to-operation", r.Name, words.Managers(candidates))
}

func ownedBy(managed ownership.ManagedFields, path fieldpath.Path) string {
	var owners []ownership.Manager
	for _, entry := range managed.Owners(path) {
		owners = append(owners, entry.Manager)
	}
	if len(owners) == 0 {
		return "nobody does"
	}
	return "it belongs to " + words.Managers(owners)
}

// dropInstead says what to do about a field that the spec wants.
func dropInstead(child *children.Child, managed ownership.ManagedFields, path fieldpath.Path) string {
	advice := "name who shall have it with --to"
	source, exists := child.Source(path)
	exists = exists && source.Held && source.Copied
	var others []ownership.Manager
	for _, entry := range managed.Owners(path) {
		if isOther(entry.Manager) {
			others = append(others, entry.Manager)
		}
	}
	switch {
	case exists && source.Removable && len(others) > 0:
		return fmt.Sprintf("remove %s from the Application, and the operator lets go of it; the value stays, since %s owns it as well", source.Path, words.Managers(others))
	case !exists:
		return advice + "; no field of the Application's spec is about it, so the two will share it"
	case !source.Removable:
		return fmt.Sprintf("%s, and the two will share it, since %s cannot be removed from the Application", advice, source.Path)
	case path.Equals(fieldpath.MakePathOrDie("spec", "replicas")):
		return fmt.Sprintf("remove %s from the Application, and the operator hands it over: the number stays until somebody else writes it. Or %s", source.Path, advice)
	default:
		return fmt.Sprintf("%s, and then remove %s from the Application. Without another owner the value would go with the spec's, or fall back to the API server's default", advice, source.Path)
	}
}
