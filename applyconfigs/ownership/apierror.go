package ownership

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// FromError reads the conflicts from the API server's answer to an unforced apply, sorted and without duplicates.
// It returns true only for a field conflict: a stale resourceVersion or a uid that does not match is a 409 as well, but
// has nothing to do with ownership. Errors may be wrapped.
//
// The API server tells the API version of an Update manager only; use FromErrorAndLive to know more.
func FromError(err error) ([]Conflict, bool) {
	causes := conflictCauses(err)
	conflicts := make([]Conflict, 0, len(causes))
	for _, cause := range causes {
		conflicts = append(conflicts, causeConflict(cause))
	}
	return SortConflicts(conflicts), len(causes) > 0
}

// FromErrorAndLive is FromError with each owner looked up in the managedFields of the live object, so that what is
// shown of an owner comes from its entry and not from the wording of a message. The applier is the manager whose apply
// failed. Owners that live does not know (it may be older than the answer) are kept as the answer tells them.
func FromErrorAndLive(err error, live ManagedFields, applier Manager) ([]Conflict, bool) {
	causes := conflictCauses(err)
	if len(causes) == 0 {
		return nil, false
	}
	owners := indexOwners(live.filter(func(e Entry) bool { return e.Manager != applier }))
	var conflicts []Conflict
	for _, cause := range causes {
		told := causeConflict(cause)
		entries := owners[told.Field]
		if told.Operation != "" {
			entries = entries.filter(func(e Entry) bool {
				return e.Manager == told.Owner() && (told.APIVersion == "" || told.APIVersion == e.APIVersion)
			})
		}
		for _, entry := range entries {
			conflicts = append(conflicts, newConflict(told.Field, entry))
		}
		if len(entries) == 0 {
			conflicts = append(conflicts, told)
		}
	}
	return SortConflicts(conflicts), true
}

// indexOwners maps every owned path, as the API server writes it, to its owners. Comparing written paths is exact where
// reading one back would need the schema.
func indexOwners(live ManagedFields) map[string]ManagedFields {
	owners := map[string]ManagedFields{}
	for _, entry := range live {
		entry.Fields.Iterate(func(path fieldpath.Path) {
			field := path.String()
			owners[field] = append(owners[field], entry)
		})
	}
	return owners
}

func conflictCauses(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(status.Status().Details.Causes), func(cause metav1.StatusCause) bool {
		return cause.Type != metav1.CauseTypeFieldManagerConflict
	})
}

func causeConflict(cause metav1.StatusCause) Conflict {
	owner, _ := parseCauseMessage(cause.Message)
	return newConflict(cause.Field, owner)
}
