package conflicts

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/spec"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// FindInStatus returns the fields of an Application's own status that the operator has reported as contested and that are
// still held by the manager that it named.
func FindInStatus(target shell.Target, application *unstructured.Unstructured, app *v1alpha1.Application) ([]Conflict, error) {
	managed, _ := ownership.Parse(application.GetManagedFields()) // an entry that cannot be read holds nothing
	var found []Conflict
	for i := range app.Status.Conflicts {
		reported := &app.Status.Conflicts[i]
		owner := ownership.Conflict{
			Field: reported.Field, Manager: reported.Manager, Operation: reported.Operation,
			Subresource: reported.Subresource, APIVersion: reported.APIVersion,
		}
		path, err := ownership.ParsePath(cli.TypesOf(cli.ApplicationObject), v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind), reported.Field)
		if reported.Kind != v1alpha1.Kind || err != nil || !managed.Fields(owner.Owner()).Has(path) {
			continue
		}
		resolutions, err := dropClaim(target, application, owner, path)
		if err != nil {
			return nil, fmt.Errorf("%s of Application %s in namespace %s: %w", reported.Field, app.Name, app.Namespace, err)
		}
		found = append(found, Conflict{
			Namespace: app.Namespace, Application: app.Name, Policy: words.Policy(app), Kind: v1alpha1.Kind, Name: app.Name, Field: reported.Field,
			Live: statusValue(application, path),
			Owners: []Owner{{
				Manager: owner.Manager, Operation: owner.Operation, Subresource: owner.Subresource, APIVersion: owner.APIVersion,
				Since: timeOf(managed, owner),
			}},
			Resolutions: resolutions,
			path:        path,
		})
	}
	return found, nil
}

// dropClaim returns the command that takes one field of the status out of its owner's entry in managedFields.
func dropClaim(target shell.Target, application *unstructured.Unstructured, owner ownership.Conflict, path fieldpath.Path) ([]Resolution, error) {
	rewrite, err := ownership.NewRewrite(application)
	if err != nil {
		return nil, err
	}
	rewrite.Drop(fieldpath.NewSet(path), func(m ownership.Manager) bool { return m == owner.Owner() })
	patch, err := rewrite.PatchLater()
	if err != nil {
		return nil, err
	}
	return []Resolution{{
		Outcome:     GetWanted,
		Description: fmt.Sprintf("Take the field out of what %q owns: the operator applies its value, and owns it alone", owner.Manager),
		Commands:    []string{target.Kubectl("patch", spec.Reference(application.GetName()), "--type=json", "--patch="+string(patch))},
	}}, nil
}

// statusValue returns what the Application has at a path, nil if nothing can be told.
func statusValue(application *unstructured.Unstructured, path fieldpath.Path) any {
	bare := application.DeepCopy()
	bare.SetManagedFields(nil)
	as, err := ownership.NewIntent(cli.TypesOf(cli.ApplicationObject), ownership.Applier(v1alpha1.FieldManagerStatus), bare)
	if err != nil {
		return nil
	}
	value, _ := as.Value(path)
	return value
}
