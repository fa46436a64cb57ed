package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// fieldManager names the plugin to the API server. Since it changes no value it comes to own nothing.
const fieldManager = "kubectl-application"

// attempts is how often a patch is made anew for an object that changes all the time.
const attempts = 10

var (
	errNotConfirmed = errors.New("nothing was changed, since you did not agree; with --yes you are not asked")
	errTooBusy      = errors.New("the object changes all the time: nothing was changed; try again later")
)

// transfer is one run of take or release.
type transfer struct {
	*options
	verb verb
	plan func(*children.Child) (*Change, error)

	// application is as it was read last, with the change.
	application *unstructured.Unstructured
}

func (t *transfer) run(ctx context.Context, name string) error {
	c, err := t.factory.Client()
	if err != nil {
		return err
	}
	change, err := t.read(ctx, c, name)
	if err != nil {
		return err
	}
	t.announce(change)
	if len(change.Patch) == 0 {
		t.next(change)
		return nil
	}
	if t.dryRun == dryRunClient {
		return nil
	}
	if err := t.confirm(ctx); err != nil {
		return err
	}
	agreed := change
	for range attempts {
		raced, err := t.send(ctx, c, change)
		if err != nil {
			return err
		}
		if !raced {
			return t.conclude(ctx, c, change)
		}
		// Most changes of an object are about other things: somebody's status, another field.
		if change, err = t.read(ctx, c, name); err != nil {
			return err
		}
		if !change.sameAs(agreed) {
			t.announce(change)
			return fmt.Errorf("%s has changed meanwhile, and so has what is to be done, as shown last: nothing was changed; look at it and repeat the command", change.Child.Reference())
		}
	}
	return errTooBusy
}

// read plans the change for the objects as they are now.
func (t *transfer) read(ctx context.Context, c *cli.Client, name string) (*Change, error) {
	app, application, err := c.Application(ctx, name)
	if err != nil {
		return nil, err
	}
	t.application = application
	if !app.DeletionTimestamp.IsZero() {
		return nil, refuse("Application %s is being deleted: the operator applies nothing any more", name)
	}
	object, err := t.which()
	if err != nil {
		return nil, err
	}
	child, err := children.ReadOne(ctx, c, app, application, object)
	if err != nil {
		return nil, err
	}
	return t.plan(child)
}

// which returns the object that the flags mean.
func (t *transfer) which() (cli.Object, error) {
	if t.object != "" {
		return t.object, nil
	}
	var fitting []cli.Object
	var reason error
	for _, object := range children.Objects {
		err := t.fits(object)
		if err == nil {
			fitting = append(fitting, object)
		}
		reason = errors.Join(reason, err)
	}
	switch len(fitting) {
	case 0:
		return "", fmt.Errorf("neither a Deployment nor a Service has such a field: %w", reason)
	case 1:
		return fitting[0], nil
	}
	return "", errors.New("both a Deployment and a Service have such a field: choose one with --object")
}

func (t *transfer) fits(object cli.Object) error {
	for _, path := range t.fields {
		if _, err := ownership.ParsePath(cli.TypesOf(object), object.GroupVersionKind(), path); err != nil {
			return err
		}
	}
	return nil
}

// confirm asks for agreement, unless that was given beforehand or nothing can happen.
func (t *transfer) confirm(ctx context.Context) error {
	if t.yes || t.dryRun != dryRunNone {
		return nil
	}
	fmt.Fprint(t.factory.ErrOut, "Do it? [y/N] ")
	answers := make(chan string, 1)
	go func() {
		// A line that cannot be read is no agreement. A read cannot be cancelled: it ends with the process.
		line, _ := bufio.NewReader(t.factory.In).ReadString('\n')
		answers <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
	case answer := <-answers:
		if answer == "y" || answer == "yes" {
			return nil
		}
	}
	return errNotConfirmed
}

// send sends the patch. It returns true if the object is no longer the one that the patch was made for.
func (t *transfer) send(ctx context.Context, c *cli.Client, change *Change) (raced bool, err error) {
	live := change.Child.Live
	answer := &unstructured.Unstructured{}
	answer.SetGroupVersionKind(change.Child.Object.GroupVersionKind())
	answer.SetNamespace(live.GetNamespace())
	answer.SetName(live.GetName())
	options := []client.PatchOption{client.FieldOwner(fieldManager)}
	if t.dryRun == dryRunServer {
		options = append(options, client.DryRunAll)
	}
	err = c.Patch(ctx, answer, client.RawPatch(types.JSONPatchType, change.Patch), options...)
	if mayBeStale(err) {
		now, readErr := c.Object(ctx, t.application, change.Child.Object)
		if readErr == nil && now.GetResourceVersion() != live.GetResourceVersion() {
			return true, nil
		}
	}
	if err != nil {
		return false, cli.Explain(err, cli.Request{
			Verb: "patch", Resource: change.Child.Object.Resource(), Namespace: live.GetNamespace(), Name: live.GetName(),
		})
	}
	return false, verify(change, answer)
}

// mayBeStale reports whether an error is the API server's answer to a patch whose tests fail, or to one that came too late.
func mayBeStale(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code == http.StatusConflict || code == http.StatusUnprocessableEntity
}

// verify looks whether the claims are as planned: admission may have had its way.
func verify(change *Change, answer *unstructured.Unstructured) error {
	managed, err := ownership.Parse(answer.GetManagedFields())
	if err != nil {
		return fmt.Errorf("reading the API server's answer: %w", err)
	}
	for i := range change.Fields {
		field := &change.Fields[i]
		for _, manager := range field.From {
			if managed.Fields(manager).Has(field.Path) {
				return fmt.Errorf("%s of %s still belongs to %s: a webhook or policy of the API server may have put it back", field.Path, change.Child.Reference(), words.Managers([]ownership.Manager{manager}))
			}
		}
		if field.To != nil && !managed.Fields(*field.To).Has(field.Path) {
			return fmt.Errorf("%s of %s did not go to %s: a webhook or policy of the API server may have prevented it", field.Path, change.Child.Reference(), words.Managers([]ownership.Manager{*field.To}))
		}
	}
	return nil
}

// conclude tells what was done, here and by an Event.
func (t *transfer) conclude(ctx context.Context, c *cli.Client, change *Change) error {
	if t.dryRun == dryRunServer {
		fmt.Fprintln(t.factory.Out, "The API server would accept it. Nothing was changed (server dry run).")
		return nil
	}
	fmt.Fprintln(t.factory.Out, "Done.")
	t.next(change)
	if err := t.leaveEvent(ctx, c, change); err != nil {
		fmt.Fprintf(t.factory.ErrOut, "Warning: it was done, but no Event says so: %v\n", err)
	}
	return nil
}
