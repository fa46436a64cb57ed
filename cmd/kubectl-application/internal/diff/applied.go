package diff

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// Effect is what becomes of a child.
type Effect string

// The effects on a child.
const (
	Created   Effect = "would be created"
	Changed   Effect = "would be changed"
	Unchanged Effect = "would not be changed"
	Deleted   Effect = "would be deleted"
	// LeftAlone: something keeps the operator from applying anything to it.
	LeftAlone Effect = "would be left as it is"
)

// Outcome is what an Application would do to one child.
type Outcome struct {
	Child  *children.Child
	Effect Effect
	// Reason says why a child is left alone.
	Reason string
	// Before and After are the child now and then. Nil means that there is none.
	Before, After *unstructured.Unstructured
	// Conflicts are the contested fields.
	Conflicts []ownership.Conflict
	// GivenUp are the fields that the operator would give up.
	GivenUp []GivenUp

	// fromFile: the Application is as a file says, and not as it is in the cluster. isNew: it is not there at all.
	fromFile, isNew bool
}

// GivenUp is a field that the operator owns and would give up.
type GivenUp struct {
	Field string
	// Path is the same for the machine.
	path fieldpath.Path
	// Then is what becomes of the field.
	Then string
}

// Differs reports whether the child is not, and does not stay, as the Application wants it.
func (o *Outcome) Differs() bool { return o.Effect != Unchanged || len(o.Conflicts) > 0 }

// attempts is how often a child is looked at anew that somebody has changed between the look and the dry run.
const attempts = 5

// operator is who applies the children.
var (
	operator = ownership.Applier(v1alpha1.FieldManager)
	handover = ownership.Applier(v1alpha1.FieldManagerHandover)
)

// applied returns what the Application would do to one of its children, or nil if it neither wants nor has such a child.
func applied(ctx context.Context, c *cli.Client, app *v1alpha1.Application, application *unstructured.Unstructured, object cli.Object) (*Outcome, error) {
	for range attempts {
		child, err := children.ReadOne(ctx, c, app, application, object)
		if err != nil {
			return nil, err
		}
		outcome, err := outcomeFor(ctx, c, child)
		if apierrors.IsConflict(err) {
			continue // somebody was faster
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", child.Reference(), err)
		}
		return outcome, nil
	}
	return nil, fmt.Errorf("%s %s in namespace %s changes all the time: try again later", object, app.Name, app.Namespace)
}

func outcomeFor(ctx context.Context, c *cli.Client, child *children.Child) (*Outcome, error) {
	outcome := &Outcome{Child: child, Before: child.Live, After: child.Live}
	hindrance := child.Hindrance()
	switch {
	case child.Intent == nil && (child.Live == nil || !metav1.IsControlledBy(child.Live, child.App)):
		return nil, nil
	case hindrance != "":
		outcome.Effect, outcome.Reason = LeftAlone, "it "+hindrance
		return outcome, nil
	case child.Intent == nil:
		outcome.Effect, outcome.After = Deleted, nil
		return outcome, nil
	}
	plan, err := child.Plan()
	if err != nil {
		return nil, err
	}
	outcome.Conflicts = plan.Conflicts
	switch {
	case plan.Blocked:
		outcome.Effect, outcome.Reason = LeftAlone, "fields of it are contested, under conflictPolicy Abort"
		return outcome, nil
	case len(plan.Steps) == 0:
		outcome.Effect = Unchanged
		return outcome, nil
	}
	kept, err := dryRun(ctx, c, outcome, plan)
	if err != nil {
		return nil, err
	}
	outcome.Effect = Changed
	if child.Live == nil {
		outcome.Effect = Created
		return outcome, nil
	}
	outcome.GivenUp, err = givenUp(outcome, plan, kept)
	return outcome, err
}

// dryRun lets the API server answer the plan as one write of the operator, and sets the outcome's After. It returns the
// fields that are handed over.
func dryRun(ctx context.Context, c *cli.Client, outcome *Outcome, plan *transition.Plan) (*fieldpath.Set, error) {
	child := outcome.Child
	short, err := shorten(plan, child)
	if err != nil {
		return nil, err
	}
	if short.intent == nil {
		return short.handedOver, nil
	}
	// The client puts the answer into config.
	config := short.intent.Object()
	verb := "create"
	if child.Live != nil {
		config.SetUID(child.Live.GetUID())
		verb = "patch"
	}
	if short.net == nil {
		err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), client.FieldOwner(operator.Name), client.DryRunAll)
	} else {
		var patch []byte
		if patch, err = short.netPatch(child.Live); err != nil {
			return nil, fmt.Errorf("building the patch of several applies: %w", err)
		}
		err = c.Patch(ctx, config, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(operator.Name), client.DryRunAll)
	}
	if err != nil {
		return nil, cli.Explain(refusal(err), cli.Request{Verb: verb, Resource: child.Object.Resource(), Namespace: child.App.Namespace, Name: child.App.Name})
	}
	outcome.After = config
	return short.handedOver, nil
}

// refusal says whom an error stems from that the user of a diff may not expect.
func refusal(err error) error {
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return fmt.Errorf("the API server would refuse what the operator applies: %w", err)
	}
	return err
}

// givenUp returns the fields that the operator would give up, and what becomes of them.
func givenUp(outcome *Outcome, plan *transition.Plan, kept *fieldpath.Set) ([]GivenUp, error) {
	var all []GivenUp
	var failure error
	managed, _ := ownership.Parse(outcome.Child.Live.GetManagedFields())
	plan.Difference.Extra.Leaves().Iterate(func(path fieldpath.Path) {
		if ownership.IsKey(path) {
			return
		}
		then, err := fallback(outcome, path, managed, kept)
		failure = errors.Join(failure, err)
		all = append(all, GivenUp{Field: path.String(), path: path.Copy(), Then: then})
	})
	return all, failure
}

func fallback(outcome *Outcome, path fieldpath.Path, managed ownership.ManagedFields, kept *fieldpath.Set) (string, error) {
	_, exists, err := outcome.Child.Intent.LiveValue(outcome.After, path)
	if err != nil {
		return "", err
	}
	if kept.Has(path) {
		return fmt.Sprintf("keeps its value, held by %q until somebody else writes it", handover.Name), nil
	}
	if !exists {
		return "is removed", nil
	}
	for _, owner := range managed.Owners(path) {
		if owner.Manager != operator {
			return fmt.Sprintf("keeps its value, which %q owns too", owner.Name), nil
		}
	}
	return "falls back to the API server's default", nil
}
