package children

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/partial"
	"mycompany.io/application-operator/applyconfigs/transition"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// Objects are the children that an Application can have, in the order in which the operator applies them.
var Objects = []cli.Object{cli.DeploymentObject, cli.ServiceObject}

// Child is one child of an Application: as the spec wants it, and as it is.
type Child struct {
	Object cli.Object
	App    *v1alpha1.Application
	// Intent is what the operator applies, or nil if the spec wants no such child.
	Intent *ownership.Intent
	// Live is the object of the child's name, whoever controls it, or nil if there is none.
	Live *unstructured.Unstructured
}

// Read reads all children of an Application, those that are neither wanted nor there left out.
func Read(ctx context.Context, c *cli.Client, app *v1alpha1.Application, application *unstructured.Unstructured) ([]*Child, error) {
	var all []*Child
	for _, object := range Objects {
		child, err := ReadOne(ctx, c, app, application, object)
		if err != nil {
			return nil, err
		}
		if child.Intent != nil || child.Live != nil {
			all = append(all, child)
		}
	}
	return all, nil
}

// ReadOne reads one child, which may be neither wanted nor there.
func ReadOne(ctx context.Context, c *cli.Client, app *v1alpha1.Application, application *unstructured.Unstructured, object cli.Object) (*Child, error) {
	live, err := c.Object(ctx, application, object)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	return New(app, object, live)
}

// New returns the child of an Application. Live is nil if there is no object of its name.
func New(app *v1alpha1.Application, object cli.Object, live *unstructured.Unstructured) (*Child, error) {
	intent, err := Wanted(app, object)
	if err != nil {
		return nil, err
	}
	return &Child{Object: object, App: app, Intent: intent, Live: live}, nil
}

// Wanted returns what the operator applies for an Application, or nil if it wants no such child.
func Wanted(app *v1alpha1.Application, object cli.Object) (*ownership.Intent, error) {
	wanted, err := desired.ForApplication(cli.TypesOf(object), app)
	if invalid := (*partial.InvalidError)(nil); errors.As(err, &invalid) {
		return nil, fmt.Errorf("the spec of Application %s is invalid, and the operator applies nothing of it: %w", app.Name, err)
	}
	if err != nil {
		return nil, err
	}
	var config any
	switch object {
	case cli.DeploymentObject:
		config = wanted.Deployment
	case cli.ServiceObject:
		config = wanted.Service
	default:
		return nil, fmt.Errorf("%s is no child of an Application", object)
	}
	if config == nil {
		return nil, nil
	}
	return ownership.NewIntent(cli.TypesOf(object), ownership.Applier(v1alpha1.FieldManager), config)
}

// Plan plans how the operator would get the child to what is wanted, under the Application's conflict policy.
func (c *Child) Plan() (*transition.Plan, error) {
	return transition.For(cli.TypesOf(c.Object), c.Intent, asObject(c.Live), c.App.Spec.ConflictPolicy)
}

// WithRecord returns the child as it would be with other managedFields.
func (c *Child) WithRecord(entries []metav1.ManagedFieldsEntry) *Child {
	other := *c
	other.Live = c.Live.DeepCopy()
	other.Live.SetManagedFields(entries)
	return &other
}

// Source returns the field of the spec that a field of the child comes from, or could come from.
func (c *Child) Source(path fieldpath.Path) (desired.Source, bool) {
	return desired.SourceOf(c.App, c.Object.GroupVersionKind().Kind, path)
}

// Reference names the child for kubectl and for people: deployment/web.
func (c *Child) Reference() string { return string(c.Object) + "/" + c.App.Name }

// Hindrance says why the operator leaves an existing object alone, or nothing if it applies to it.
func (c *Child) Hindrance() string {
	if c.Live == nil {
		return ""
	}
	owner := metav1.GetControllerOf(c.Live)
	switch {
	case !c.Live.GetDeletionTimestamp().IsZero():
		return "is being deleted"
	case metav1.IsControlledBy(c.Live, c.App):
		return ""
	case owner != nil:
		return fmt.Sprintf("is controlled by %s %s and not by this Application, so the operator leaves it alone", owner.Kind, owner.Name)
	}
	objection := c.objectionToAdopt()
	switch consents := c.Live.GetAnnotations()[v1alpha1.AnnotationAdopt] == c.App.Name; {
	case consents && objection == "":
		return ""
	case consents:
		return fmt.Sprintf("asks to be adopted by the annotation %s, which cannot be done: %s", v1alpha1.AnnotationAdopt, objection)
	case objection != "":
		return "does not belong to this Application, so the operator leaves it alone: delete it, or give the Application another name. It cannot be adopted: " + objection
	default:
		return fmt.Sprintf("does not belong to this Application, so the operator leaves it alone: delete or rename it, or let it be adopted by the annotation %s=%s on it",
			v1alpha1.AnnotationAdopt, c.App.Name)
	}
}

// objectionToAdopt says why the Application cannot take over a child that nobody controls, or nothing if it can.
func (c *Child) objectionToAdopt() string {
	if c.Object != cli.DeploymentObject {
		return ""
	}
	selector := &metav1.LabelSelector{}
	content, _, err := unstructured.NestedMap(c.Live.Object, "spec", "selector")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, selector)
	}
	if err != nil {
		return fmt.Sprintf("its selector cannot be read: %v", err)
	}
	return desired.ObjectionToSelector(selector, c.App)
}

// asObject keeps a nil pointer from becoming an interface that is not nil.
func asObject(live *unstructured.Unstructured) ownership.Object {
	if live == nil {
		return nil
	}
	return live
}

// After returns the child as the spec of an edited Application wants it.
func (c *Child) After(edited *unstructured.Unstructured) (*Child, error) {
	app, err := cli.AsApplication(edited)
	if err != nil {
		return nil, err
	}
	return New(app, c.Object, c.Live)
}
