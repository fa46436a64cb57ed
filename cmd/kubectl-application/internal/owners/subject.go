package owners

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

// subject is one object to show.
type subject struct {
	object *unstructured.Unstructured
	tree   *fieldtree.Tree
	notes  []string
	// application is what the object belongs to, or nil if that is not known.
	application *v1alpha1.Application
}

func newSubject(object *unstructured.Unstructured, notes ...string) *subject {
	s := &subject{
		object: object,
		tree:   fieldtree.Build(object.Object, object.GetManagedFields(), cli.SchemaOf(object.GroupVersionKind())),
		notes:  notes,
	}
	if object.GroupVersionKind() == cli.ApplicationObject.GroupVersionKind() {
		if app, err := cli.AsApplication(object); err == nil {
			s.application = app
		}
	}
	return s
}

// heading names the object.
func (s *subject) heading() string {
	heading := s.name()
	if namespace := s.object.GetNamespace(); namespace != "" {
		heading += " in namespace " + namespace
	}
	return heading
}

func (s *subject) name() string {
	kind := s.object.GetKind()
	if kind == v1alpha1.Kind {
		kind += "." + s.object.GroupVersionKind().Group // others have a kind of that name
	}
	return kind + " " + s.object.GetName()
}

// subjects reads what is to be shown.
func (o *options) subjects(ctx context.Context, args []string) ([]*subject, error) {
	if len(o.filenames) > 0 {
		return o.readFiles()
	}
	c, err := o.factory.Client()
	if err != nil {
		return nil, err
	}
	if target := strings.Join(args, "/"); strings.Contains(target, "/") {
		return o.anyObject(ctx, c, target)
	}
	return o.ofApplication(ctx, c, args[0])
}

func (o *options) anyObject(ctx context.Context, c *cli.Client, target string) ([]*subject, error) {
	if o.object != "" {
		return nil, errors.New("--object chooses an object of an Application: leave it out with TYPE/NAME")
	}
	reference, err := c.Resolve(target)
	if err != nil {
		return nil, err
	}
	if reference.Ambiguity != "" {
		fmt.Fprintf(o.factory.ErrOut, "note: %s\n", reference.Ambiguity)
	}
	object, err := c.Read(ctx, reference)
	if err != nil {
		return nil, err
	}
	return []*subject{newSubject(object)}, nil
}

// ofApplication reads the object that was asked for, or else the children that are there.
func (o *options) ofApplication(ctx context.Context, c *cli.Client, name string) ([]*subject, error) {
	app, application, err := c.Application(ctx, name)
	if err != nil {
		return nil, err
	}
	if o.object != "" {
		object, err := c.Object(ctx, application, o.object)
		if err != nil {
			return nil, withoutService(err, o.object, app)
		}
		s := newSubject(object, notesAbout(application, object, o.object)...)
		s.application = app
		if o.object == cli.StatusObject && !s.tree.KeepField(".status") {
			return nil, fmt.Errorf("%s has no status yet: the operator writes it, so see whether it runs", s.name())
		}
		return []*subject{s}, nil
	}
	var subjects []*subject
	for _, which := range []cli.Object{cli.DeploymentObject, cli.ServiceObject} {
		object, err := c.Object(ctx, application, which)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, err
		}
		s := newSubject(object, notesAbout(application, object, which)...)
		s.application = app
		subjects = append(subjects, s)
	}
	if len(subjects) == 0 {
		return nil, fmt.Errorf("there are no children of Application %s yet%s", name, whyNot(app))
	}
	return subjects, nil
}

// notesAbout tells what is odd about an object of an Application.
func notesAbout(application, object *unstructured.Unstructured, which cli.Object) []string {
	if !which.IsChild() || cli.Controls(application, object) {
		return nil
	}
	return []string{fmt.Sprintf("Application %s does not control it, so the operator leaves it alone.", application.GetName())}
}

func withoutService(err error, which cli.Object, app *v1alpha1.Application) error {
	if which == cli.ServiceObject && apierrors.IsNotFound(err) && app.Spec.Expose == "" {
		return fmt.Errorf("there is no Service of Application %s, because its spec does not set expose: %w", app.Name, err)
	}
	return err
}

func whyNot(app *v1alpha1.Application) string {
	if app.Status.Message == "" {
		return ": the operator has not reported on it either, so see whether it runs"
	}
	return ". The operator says: " + app.Status.Message
}

// filter leaves what --field and --manager ask for, and hides what --redact says.
func (o *options) filter(subjects []*subject) ([]*subject, error) {
	var left []*subject
	for _, s := range subjects {
		if o.field != "" && !s.tree.KeepField(o.field) {
			continue
		}
		if o.manager != "" && !s.tree.KeepManager(o.manager) {
			continue
		}
		if o.redact {
			s.tree.Redact()
		}
		left = append(left, s)
	}
	if len(left) > 0 || len(subjects) == 0 {
		return left, nil
	}
	return nil, o.nothingLeft(subjects)
}

func (o *options) nothingLeft(subjects []*subject) error {
	names := make([]string, 0, len(subjects))
	var managers []string
	for _, s := range subjects {
		names = append(names, s.name())
		for _, entry := range s.tree.Entries {
			managers = append(managers, entry.Name)
		}
	}
	where := strings.Join(names, " and ")
	switch {
	case o.field != "" && o.manager != "":
		return fmt.Errorf("no manager %q owns field %s in %s: leave out one of --field and --manager to see more", o.manager, o.field, where)
	case o.field != "":
		return fmt.Errorf("there is no field %s in %s: list the paths of all fields with --output=json, and write one as in .spec.template.spec.containers[name=\"app\"].image", o.field, where)
	default:
		return fmt.Errorf("no manager %q owns anything in %s: their managers are %s", o.manager, where, quoteAll(managers))
	}
}
