package conflicts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/partial"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// options are the flags of the command.
type options struct {
	factory       *cli.Factory
	allNamespaces bool
	format        string
	redact        bool
}

var formats = []string{string(Wide), string(Table), string(JSON), string(YAML)}

// NewCommand returns "kubectl application conflicts".
func NewCommand(f *cli.Factory) *cobra.Command {
	o := &options{factory: f, format: string(Wide)}
	cmd := &cobra.Command{
		Use:   "conflicts [NAME]",
		Short: "Show what is contested now, and the commands that end each conflict",
		Long: `Show each field of the Deployment and the Service that the Application wants and that another field manager owns with
another value: both values, the owner, since when, and the commands that end the conflict either way.

The answer is computed from the objects as they are, by the operator's own code. So it is right as well while the operator
does not run or has not come to report. Of the Application's own status, only the operator knows what it would write: such
fields are listed if the operator has reported them and they are still held. Without NAME, all Applications of the
namespace are looked at.

The exit code is 0 if nothing is contested, 1 if something is, and 2 if that could not be found out.`,
		Example: `  # What is contested of the Application web, and what can I do about it?
  kubectl application conflicts web

  # Is anything contested anywhere?
  kubectl application conflicts --all-namespaces --output=table

  # For scripts
  kubectl application conflicts web --output=json | jq -r '.items[].field'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Look at the Applications of all namespaces.")
	flags.StringVarP(&o.format, "output", "o", o.format, "How to print: "+strings.Join(formats, ", ")+".")
	flags.BoolVar(&o.redact, "redact", false, "Hide the values of environment variables.")
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
	return cli.AnswersByExitCode(cmd)
}

func (o *options) run(ctx context.Context, args []string) error {
	switch {
	case !slices.Contains(formats, o.format):
		return fmt.Errorf("--output=%s: must be one of %s", o.format, strings.Join(formats, ", "))
	case o.allNamespaces && len(args) > 0:
		return errors.New("a name and --all-namespaces exclude each other: an Application has its name in one namespace")
	}
	c, err := o.factory.Client()
	if err != nil {
		return err
	}
	applications, err := o.applications(ctx, c, args)
	if err != nil {
		return err
	}
	found := []Conflict{}
	for i := range applications {
		conflicts, err := o.ofApplication(ctx, c, &applications[i])
		if err != nil {
			return err
		}
		found = append(found, conflicts...)
	}
	p := &printer{out: o.factory.Out, format: Format(o.format), namespaces: o.allNamespaces, now: time.Now()}
	if err := p.print(found); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	if len(found) > 0 {
		return cli.Found()
	}
	switch {
	case len(applications) > 0:
		fmt.Fprintln(o.factory.ErrOut, "Nothing is contested.")
	case o.allNamespaces:
		fmt.Fprintln(o.factory.ErrOut, "No Applications found.")
	default:
		fmt.Fprintf(o.factory.ErrOut, "No Applications found in %s namespace.\n", c.Namespace)
	}
	return nil
}

// applications reads what is asked for, sorted by namespace and name.
func (o *options) applications(ctx context.Context, c *cli.Client, args []string) ([]unstructured.Unstructured, error) {
	if len(args) > 0 {
		_, application, err := c.Application(ctx, args[0])
		if err != nil {
			return nil, err
		}
		return []unstructured.Unstructured{*application}, nil
	}
	namespace := c.Namespace
	if o.allNamespaces {
		namespace = ""
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind + "List"))
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, cli.Explain(err, cli.Request{Verb: "list", Resource: cli.ApplicationResource, Namespace: namespace})
	}
	slices.SortFunc(list.Items, func(a, b unstructured.Unstructured) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return list.Items, nil
}

func (o *options) ofApplication(ctx context.Context, c *cli.Client, application *unstructured.Unstructured) ([]Conflict, error) {
	app, err := cli.AsApplication(application)
	if err != nil {
		return nil, err
	}
	if !app.DeletionTimestamp.IsZero() {
		// The operator applies nothing any more.
		return nil, nil
	}
	there := *c
	there.Namespace = app.Namespace
	all, err := children.Read(ctx, &there, app, application)
	if errors.As(err, new(*partial.InvalidError)) {
		fmt.Fprintf(o.factory.ErrOut, "Warning: in namespace %s, %v\n", app.Namespace, err)
		all, err = nil, nil // and so nothing is contested; others shall be told of all the same
	}
	if err != nil {
		return nil, err
	}
	var found []Conflict
	for _, child := range all {
		if hindrance := child.Hindrance(); hindrance != "" && child.Intent != nil {
			fmt.Fprintf(o.factory.ErrOut, "Warning: %s in namespace %s %s\n", child.Reference(), app.Namespace, hindrance)
		}
		conflicts, err := Find(o.factory.Target(app.Namespace), application, child)
		if err != nil {
			return nil, err
		}
		for i := range conflicts {
			if o.redact {
				conflicts[i].Redact()
			}
		}
		found = append(found, conflicts...)
	}
	ofStatus, err := FindInStatus(o.factory.Target(app.Namespace), application, app)
	return append(found, ofStatus...), err
}
