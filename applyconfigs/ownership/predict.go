package ownership

import (
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Conflicts foretells the conflicts of an unforced apply of the intent: every field that the apply would set or change
// while another manager owns it, with each of its owners, sorted. There are none if live is nil. Fields that already
// have the desired value are shared, and fields that the intent no longer holds are left to their other owners; neither
// is a conflict.
//
// It does not guess but runs the API server's own merge code on the live object, so the result is what the server
// answers as long as live is current. What the server does for a manager called "kubectl" in order to take over from
// client-side apply is not modelled. Entries at another API version than the intent's are skipped, which is exact for
// kinds with one served version.
//
// The error says that live does not fit the intent's kind.
func (i *Intent) Conflicts(live Object) ([]Conflict, error) {
	if isNil(live) {
		return nil, nil
	}
	_, owners, err := i.merge(live)
	var found merge.Conflicts
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &found):
		return nil, err
	}
	conflicts := make([]Conflict, 0, len(found))
	for _, conflict := range found {
		n, err := strconv.Atoi(conflict.Manager)
		if err != nil {
			return nil, fmt.Errorf("conflict with unknown manager %q", conflict.Manager)
		}
		conflicts = append(conflicts, newConflict(conflict.Path.String(), owners[n]))
	}
	return SortConflicts(conflicts), nil
}

// merge runs the API server's merge code. It returns the object that comes of it and the owners that the apply met. The
// error wraps merge.Conflicts, with the indexes of owners for names, if there are any.
func (i *Intent) merge(live Object) (*typed.TypedValue, ManagedFields, error) {
	object, err := i.kind.live(live)
	if err != nil {
		return nil, nil, err
	}
	owners, err := i.ownersForApply(live.GetManagedFields(), object)
	if err != nil {
		return nil, nil, err
	}
	managers := fieldpath.ManagedFields{}
	for n, owner := range owners {
		managers[i.key(n, owner)] = fieldpath.NewVersionedSet(owner.Fields, fieldpath.APIVersion(owner.APIVersion),
			owner.Operation == metav1.ManagedFieldsOperationApply)
	}
	merged, _, err := i.updater().Apply(object, i.config, i.version(), managers, applierKey, false)
	if err != nil {
		return nil, owners, fmt.Errorf("merging %s: %w", i.kind.gvk.Kind, err)
	}
	if merged == nil {
		merged = object // it changes nothing
	}
	return merged, owners, nil
}

// ownersForApply returns the entries that an apply meets. Where there are none (or none that can be decoded, which is
// the same to the API server), an apply first gives all existing fields to a manager of its own making.
func (i *Intent) ownersForApply(encoded []metav1.ManagedFieldsEntry, object *typed.TypedValue) (ManagedFields, error) {
	if managed, err := Parse(encoded); err == nil && len(managed) > 0 {
		return managed, nil
	}
	_, managers, err := i.updater().Update(i.kind.empty, object, i.version(), fieldpath.ManagedFields{}, BeforeFirstApply)
	if err != nil {
		return nil, fmt.Errorf("merging %s: %w", i.kind.gvk.Kind, err)
	}
	entry := Entry{
		Manager:    Manager{Name: BeforeFirstApply, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: i.manager.Subresource},
		APIVersion: string(i.version()),
		Fields:     fieldpath.NewSet(),
	}
	if existing, ok := managers[BeforeFirstApply]; ok {
		entry.Fields = existing.Set().Difference(unownedFields)
	}
	return ManagedFields{entry}, nil
}

// applierKey is the intent's own manager in the updater's map; all others go by their index.
const applierKey = "applier"

func (i *Intent) key(n int, owner Entry) string {
	if owner.Manager == i.manager {
		return applierKey
	}
	return strconv.Itoa(n)
}

func (i *Intent) version() fieldpath.APIVersion {
	return fieldpath.APIVersion(i.kind.gvk.GroupVersion().String())
}

func (i *Intent) updater() *merge.Updater {
	builder := merge.UpdaterBuilder{
		Converter:    singleVersion(i.version()),
		IgnoreFilter: map[fieldpath.APIVersion]fieldpath.Filter{i.version(): resetFilter(i.manager)},
	}
	return builder.BuildUpdater()
}

// singleVersion is a merge.Converter for a kind with one version. Any other version is missing: the updater then drops
// the entry, as the API server drops entries at versions that it no longer serves.
type singleVersion fieldpath.APIVersion

var errMissingVersion = errors.New("version is not served")

func (v singleVersion) Convert(object *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	if version != fieldpath.APIVersion(v) {
		// As from the API server's converter, the object comes back nevertheless: the updater may go on with it.
		return object, errMissingVersion
	}
	return object, nil
}

func (v singleVersion) IsMissingVersionError(err error) bool {
	return errors.Is(err, errMissingVersion)
}
