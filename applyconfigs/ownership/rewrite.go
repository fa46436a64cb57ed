package ownership

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

var (
	// ErrNoRecord says that an object has no managedFields that could be rewritten. The API server would at the next apply
	// take all of it for owned by BeforeFirstApply.
	ErrNoRecord = errors.New("nothing records who owns the fields of the object")
	// ErrLastClaim says that a rewrite would leave no entry at all. To the API server that is no rewrite, but the wish to
	// leave managedFields as they are.
	ErrLastClaim = errors.New("the object would be left without any owner on record")
)

// Rewrite is a change of the record of who owns which field of an object, and of no value: entries of managedFields lose
// fields or get more, one by one, and all others stay as they are.
type Rewrite struct {
	resourceVersion string
	entries         []rewrittenEntry
	// existing is how many of the entries the object has already.
	existing int
}

type rewrittenEntry struct {
	before  metav1.ManagedFieldsEntry
	manager Manager
	fields  *fieldpath.Set
	changed bool
}

// NewRewrite begins a rewrite of the record of a live object. The error wraps ErrNoRecord if there are no entries, and an
// *EntryError if one cannot be decoded: the API server then knows none of them.
func NewRewrite(live metav1.Object) (*Rewrite, error) {
	encoded := live.GetManagedFields()
	if len(encoded) == 0 {
		return nil, ErrNoRecord
	}
	r := &Rewrite{resourceVersion: live.GetResourceVersion(), existing: len(encoded)}
	for i := range encoded {
		entry, err := parseEntry(&encoded[i])
		if err != nil {
			return nil, errors.Join(ErrNoRecord, &EntryError{Index: i, Manager: entry.Manager, APIVersion: entry.APIVersion, Err: err})
		}
		r.entries = append(r.entries, rewrittenEntry{before: encoded[i], manager: entry.Manager, fields: entry.Fields})
	}
	return r, nil
}

// Drop takes exactly these fields from all managers that are selected. Keys of list items, and what else lies beside the
// fields, stay. It returns the managers that lose something, sorted.
func (r *Rewrite) Drop(fields *fieldpath.Set, selected func(Manager) bool) []Manager {
	var losers []Manager
	for i := range r.entries {
		entry := &r.entries[i]
		if !selected(entry.manager) || entry.fields.Intersection(fields).Empty() {
			continue
		}
		entry.fields = entry.fields.Difference(fields)
		entry.changed = true
		losers = append(losers, entry.manager)
	}
	slices.SortFunc(losers, compareManagers)
	return slices.Compact(losers)
}

// Add makes a manager an owner of these fields, in the entry that it has for this version or in a new one of that time.
func (r *Rewrite) Add(fields *fieldpath.Set, manager Manager, apiVersion string, now metav1.Time) {
	for i := range r.entries {
		entry := &r.entries[i]
		if entry.manager != manager || entry.before.APIVersion != apiVersion {
			continue
		}
		if union := entry.fields.Union(fields); !union.Equals(entry.fields) {
			entry.fields, entry.changed = union, true
		}
		return
	}
	r.entries = append(r.entries, rewrittenEntry{
		before: metav1.ManagedFieldsEntry{
			Manager: manager.Name, Operation: manager.Operation, Subresource: manager.Subresource,
			APIVersion: apiVersion, Time: &now, FieldsType: fieldsV1,
		},
		manager: manager,
		fields:  fields,
		changed: true,
	})
}

// Entries returns the record as it is after the rewrite. Entries that have lost all their fields are gone.
func (r *Rewrite) Entries() ([]metav1.ManagedFieldsEntry, error) {
	entries := make([]metav1.ManagedFieldsEntry, 0, len(r.entries))
	for i := range r.entries {
		entry := &r.entries[i]
		if entry.changed && entry.fields.Empty() {
			continue
		}
		after, err := entry.after()
		if err != nil {
			return nil, err
		}
		entries = append(entries, after)
	}
	return entries, nil
}

// Patch returns the JSON patch that does the rewrite. It holds tests of the resourceVersion and of each entry that it
// changes, so it fails if the object is no longer the one that it was made for.
//
// The error wraps ErrLastClaim if no entry would be left.
func (r *Rewrite) Patch() ([]byte, error) {
	return r.patch(patchOperation{Op: "test", Path: "/metadata/resourceVersion", Value: r.resourceVersion})
}

// PatchLater is Patch for a person to send at some time: it fails only if one of the entries that it changes is another
// then, whatever else has changed of the object.
func (r *Rewrite) PatchLater() ([]byte, error) {
	return r.patch()
}

func (r *Rewrite) patch(operations ...patchOperation) ([]byte, error) {
	entries, err := r.Entries()
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, ErrLastClaim
	}
	// From the last to the first, since to remove an entry renumbers those after it.
	for i := r.existing - 1; i >= 0; i-- {
		entry := &r.entries[i]
		if !entry.changed {
			continue
		}
		path := "/metadata/managedFields/" + strconv.Itoa(i)
		operations = append(operations, patchOperation{Op: "test", Path: path, Value: entry.before})
		if entry.fields.Empty() {
			operations = append(operations, patchOperation{Op: "remove", Path: path})
			continue
		}
		after, err := entry.after()
		if err != nil {
			return nil, err
		}
		operations = append(operations, patchOperation{Op: "replace", Path: path + "/fieldsV1", Value: after.FieldsV1})
	}
	for i := r.existing; i < len(r.entries); i++ {
		added, err := r.entries[i].after()
		if err != nil {
			return nil, err
		}
		operations = append(operations, patchOperation{Op: "add", Path: "/metadata/managedFields/-", Value: added})
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("building the patch: %w", err)
	}
	return patch, nil
}

// patchOperation is one operation of a JSON patch.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

func (e *rewrittenEntry) after() (metav1.ManagedFieldsEntry, error) {
	if !e.changed {
		return e.before, nil
	}
	raw, err := e.fields.ToJSON()
	if err != nil {
		return metav1.ManagedFieldsEntry{}, fmt.Errorf("encoding the fields of %s: %w", e.manager, err)
	}
	after := *e.before.DeepCopy()
	after.FieldsV1 = metav1.NewFieldsV1(string(raw))
	return after, nil
}
