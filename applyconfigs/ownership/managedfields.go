package ownership

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// fieldsV1 is the only format of field sets that exists so far.
const fieldsV1 = "FieldsV1"

// Entry is one decoded entry of managedFields.
type Entry struct {
	Manager
	// APIVersion is the version in which the paths of Fields are written.
	APIVersion string
	// Time of the last change of the entry. It may be nil.
	Time *metav1.Time
	// Fields is what the manager owns. It is never nil and must not be changed.
	Fields *fieldpath.Set
}

// ManagedFields are the decoded entries of one object, sorted by manager and then by API version.
type ManagedFields []Entry

// EntryError tells which entry of managedFields could not be decoded, and why.
type EntryError struct {
	// Index is the entry's place in the list that was given to Parse.
	Index int
	// Manager and APIVersion are what the entry says of itself.
	Manager    Manager
	APIVersion string
	// Err is the reason.
	Err error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("managedFields[%d] of manager %s at %q: %v", e.Index, e.Manager, e.APIVersion, e.Err)
}

func (e *EntryError) Unwrap() error { return e.Err }

// Parse decodes managedFields, as the API server does before each write.
//
// Of several entries with one identity the last one counts, and the others are left out: the server drops them with the
// next write. They do occur. An unchanged replica count that is written through the scale subresource splits the entry
// of the manager that owns it.
//
// An entry that the API server would not decode either is left out and reported: the returned error then joins one
// *EntryError for each such entry, and all other entries are still returned.
func Parse(entries []metav1.ManagedFieldsEntry) (ManagedFields, error) {
	var (
		managed ManagedFields
		errs    []error
	)
	indexes := map[entryIdentity]int{}
	for i := range entries {
		entry, err := parseEntry(&entries[i])
		if err != nil {
			errs = append(errs, &EntryError{Index: i, Manager: entry.Manager, APIVersion: entry.APIVersion, Err: err})
			continue
		}
		if n, ok := indexes[entry.identity()]; ok {
			managed[n] = entry
			continue
		}
		indexes[entry.identity()] = len(managed)
		managed = append(managed, entry)
	}
	slices.SortFunc(managed, compareEntries)
	return managed, errors.Join(errs...)
}

func parseEntry(encoded *metav1.ManagedFieldsEntry) (Entry, error) {
	entry := Entry{
		Manager:    Manager{Name: encoded.Manager, Operation: encoded.Operation, Subresource: encoded.Subresource},
		APIVersion: encoded.APIVersion,
		Time:       encoded.Time,
		Fields:     fieldpath.NewSet(),
	}
	switch encoded.Operation {
	case metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate:
	default:
		return entry, fmt.Errorf("operation %q is neither Apply nor Update", encoded.Operation)
	}
	if encoded.APIVersion == "" {
		return entry, errors.New("apiVersion is empty")
	}
	if encoded.FieldsType != fieldsV1 {
		return entry, fmt.Errorf("fieldsType %q is not %s", encoded.FieldsType, fieldsV1)
	}
	if encoded.FieldsV1 == nil {
		return entry, nil
	}
	if err := entry.Fields.FromJSON(encoded.FieldsV1.GetRawReader()); err != nil {
		return entry, fmt.Errorf("fieldsV1: %w", err)
	}
	return entry, nil
}

// entryIdentity is what no two entries have in common. An applier has one entry, at whatever version.
type entryIdentity struct {
	manager          Manager
	updatedAtVersion string
}

func (e Entry) identity() entryIdentity {
	if e.Operation == metav1.ManagedFieldsOperationApply {
		return entryIdentity{manager: e.Manager}
	}
	return entryIdentity{manager: e.Manager, updatedAtVersion: e.APIVersion}
}

func compareEntries(a, b Entry) int {
	return cmp.Or(
		compareManagers(a.Manager, b.Manager),
		cmp.Compare(a.APIVersion, b.APIVersion),
	)
}
