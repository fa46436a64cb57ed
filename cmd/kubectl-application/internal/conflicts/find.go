package conflicts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/partial"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// Conflict is one field of a child that others own with a value other than the wanted one.
type Conflict struct {
	Namespace   string `json:"namespace"`
	Application string `json:"application"`
	// Policy is the Application's conflictPolicy.
	Policy v1alpha1.ConflictPolicy `json:"conflictPolicy"`
	Kind   string                  `json:"kind"`
	Name   string                  `json:"name"`
	Field  string                  `json:"field"`
	// Excludes is the wanted field that cannot be as wanted beside this one, if that is another one.
	Excludes string `json:"excludes,omitempty"`
	// Wanted is the value that the operator would apply, at Excludes if that is set. It is not known of fields of the
	// Application's status.
	Wanted any `json:"wanted,omitempty"`
	// Live is the value that the field has. It is absent if the field is.
	Live   any     `json:"live,omitempty"`
	Owners []Owner `json:"owners"`
	// Redacted says that Wanted and Live are hidden.
	Redacted    bool         `json:"redacted,omitempty"`
	Resolutions []Resolution `json:"resolutions"`

	path, against fieldpath.Path
}

// Owner is a manager that owns a contested field.
type Owner struct {
	Manager     string                            `json:"manager"`
	Operation   metav1.ManagedFieldsOperationType `json:"operation"`
	Subresource string                            `json:"subresource,omitempty"`
	APIVersion  string                            `json:"apiVersion,omitempty"`
	// Since is when the manager last changed what it owns: the field came to be contested then at the latest. The API server
	// notes no time for a write through scale; then it is since when the Application reports the conflict.
	Since *metav1.Time `json:"since,omitempty"`
}

// Find returns the conflicts of one child, sorted by field. The application is what the child was read for, as the API
// server sent it.
func Find(target shell.Target, application *unstructured.Unstructured, child *children.Child) ([]Conflict, error) {
	if child.Intent == nil || child.Live == nil || child.Hindrance() != "" {
		return nil, nil
	}
	plan, err := child.Plan()
	if err != nil {
		return nil, fmt.Errorf("%s in namespace %s: %w", child.Reference(), child.App.Namespace, err)
	}
	managed, _ := ownership.Parse(child.Live.GetManagedFields()) // what cannot be read has no time either
	var found []Conflict
	for _, field := range ownership.GroupByField(plan.Conflicts) {
		conflict, err := describe(target, application, child, managed, field)
		if err != nil {
			return nil, fmt.Errorf("%s in namespace %s: %w", child.Reference(), child.App.Namespace, err)
		}
		found = append(found, *conflict)
	}
	return found, nil
}

func describe(target shell.Target, application *unstructured.Unstructured, child *children.Child, managed ownership.ManagedFields, field ownership.FieldConflict) (*Conflict, error) {
	path, err := child.Intent.ParsePath(field.Field)
	if err != nil {
		return nil, err
	}
	live, _, err := child.Intent.LiveValue(child.Live, path)
	if err != nil {
		return nil, err
	}
	wanted, _ := child.Intent.Value(path)
	conflict := &Conflict{
		Namespace:   child.App.Namespace,
		Application: child.App.Name,
		Policy:      words.Policy(child.App),
		Kind:        child.Object.GroupVersionKind().Kind,
		Name:        child.App.Name,
		Field:       field.Field,
		Wanted:      wanted,
		Live:        live,
		path:        path,
	}
	if against := field.Conflicts[0].Against; against != "" {
		if conflict.against, err = child.Intent.ParsePath(against); err != nil {
			return nil, err
		}
		conflict.Excludes = against
		conflict.Wanted = partial.ValueAt(child.Intent.Object().Object, conflict.against)
	}
	for _, c := range field.Conflicts {
		conflict.Owners = append(conflict.Owners, Owner{
			Manager: c.Manager, Operation: c.Operation, Subresource: c.Subresource, APIVersion: c.APIVersion,
			Since: cmp.Or(timeOf(managed, c), reportedSince(child.App, conflict.Kind, c)),
		})
	}
	conflict.Resolutions, err = resolve(&contest{
		target: target, application: application, child: child, path: path, against: conflict.against, field: field, wanted: wanted, live: live,
	})
	return conflict, err
}

// reportedSince returns since when the operator has reported this very conflict, or nil if it has not.
func reportedSince(app *v1alpha1.Application, kind string, c ownership.Conflict) *metav1.Time {
	synced := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionSynced)
	if synced == nil || synced.Status != metav1.ConditionFalse || synced.Reason != v1alpha1.ReasonFieldConflict {
		return nil
	}
	reported := v1alpha1.FieldConflict{
		Kind: kind, Name: app.Name, Field: c.Field,
		Manager: c.Manager, Operation: c.Operation, Subresource: c.Subresource, APIVersion: c.APIVersion,
	}
	if !slices.Contains(app.Status.Conflicts, reported) {
		return nil
	}
	return &metav1.Time{Time: synced.LastTransitionTime.In(time.UTC)}
}

// timeOf returns when an owner's entry changed last, in UTC, or nil if nothing tells.
func timeOf(managed ownership.ManagedFields, c ownership.Conflict) *metav1.Time {
	for _, entry := range managed {
		if entry.Manager == c.Owner() && entry.APIVersion == c.APIVersion && entry.Time != nil {
			return &metav1.Time{Time: entry.Time.In(time.UTC)}
		}
	}
	return nil
}
