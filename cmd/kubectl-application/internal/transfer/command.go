package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// How far a transfer goes, as the flag --dry-run says.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

var dryRuns = []string{dryRunNone, dryRunClient, dryRunServer}

// options are the flags that take and release have in common.
type options struct {
	factory *cli.Factory
	object  cli.Object
	fields  []string
	yes     bool
	dryRun  string
	redact  bool
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.fields, "field", nil, "Path of the field, as \"kubectl application owners\" and \"conflicts\" print it. May be given several times.")
	flags.Var(childFlag{&o.object}, "object", "The object that the field is of. Not needed where only one has such a field.")
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask.")
	flags.StringVar(&o.dryRun, "dry-run", dryRunNone, "client: only show what would change. server: let the API server check it as well, and change nothing.")
	flags.BoolVar(&o.redact, "redact", false, "Hide the values of environment variables.")
}

func (o *options) addCompletions(cmd *cobra.Command, candidates func(*children.Child) ([]string, error)) {
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("field", o.completeFields(candidates)))
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("object", cobra.FixedCompletions(objectNames(), cobra.ShellCompDirectiveNoFileComp)))
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(dryRuns, cobra.ShellCompDirectiveNoFileComp)))
}

// complete makes paths of fields whole and checks the flags.
func (o *options) complete() error {
	for i, field := range o.fields {
		if field != "" && !strings.HasPrefix(field, ".") {
			o.fields[i] = "." + field // as kubectl explain writes them
		}
	}
	switch {
	case len(o.fields) == 0:
		return errors.New("no field: name one with --field")
	case !slices.Contains(dryRuns, o.dryRun):
		return fmt.Errorf("--dry-run=%s: must be one of %s", o.dryRun, strings.Join(dryRuns, ", "))
	}
	return nil
}

// childFlag is the value of --object where only children have what is asked for.
type childFlag struct{ *cli.Object }

// Set accepts the names of children.
func (f childFlag) Set(value string) error {
	if !slices.Contains(objectNames(), value) {
		return fmt.Errorf("must be one of %s", strings.Join(objectNames(), ", "))
	}
	return f.Object.Set(value)
}

// Type is what the help calls the value.
func (childFlag) Type() string { return strings.Join(objectNames(), "|") }

func objectNames() []string {
	names := make([]string, 0, len(children.Objects))
	for _, object := range children.Objects {
		names = append(names, string(object))
	}
	return names
}

// NewTakeCommand returns "kubectl application take".
func NewTakeCommand(f *cli.Factory) *cobra.Command {
	o := &options{factory: f}
	cmd := &cobra.Command{
		Use:   "take NAME --field PATH",
		Short: "Take a field from other managers, for the operator",
		Long: `Take a field of the Deployment or the Service from the managers that own it, so that the operator applies the
Application's value without a conflict.

Just this field is removed from the other managers' entries in metadata.managedFields, in one patch that fails if the object
has changed meanwhile. The patch changes no value; the operator does, by its next apply. Nothing is ever forced. A manager
that goes on writing the field will contest it again.

What will happen is shown, and done once you agree. An Event on the Application says who did it.`,
		Example: `  # The Deployment was scaled by hand: let the Application decide again
  kubectl application take web --field=.spec.replicas

  # See what would happen
  kubectl application take web --field='.spec.template.spec.containers[name="app"].image' --dry-run=server`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			t := &transfer{options: o, verb: takeVerb, plan: func(child *children.Child) (*Change, error) { return Take(child, o.fields) }}
			return t.run(cmd.Context(), args[0])
		},
	}
	o.addFlags(cmd.Flags())
	o.addCompletions(cmd, takeCandidates)
	return cmd
}

// NewReleaseCommand returns "kubectl application release".
func NewReleaseCommand(f *cli.Factory) *cobra.Command {
	o := &options{factory: f}
	var to, operation string
	cmd := &cobra.Command{
		Use:   "release NAME --field PATH [--to MANAGER]",
		Short: "Give a field of the operator to another manager, without changing its value",
		Long: `Give up the operator's claim on a field of the Deployment or the Service without changing the field's value.

The operator owns what the Application's spec wants, and would claim it again at once. So such a field needs somebody to go
to: with --to the manager comes to share it, and once you remove the field from the spec, the operator lets go and the
value stays. The command for that is printed. A field that the spec does not want any more, and that the operator still
owns since it is paused, held up or not running, is given up at once.

It is one patch of metadata.managedFields, which fails if the object has changed meanwhile. What will happen is shown, and
done once you agree. An Event on the Application says who did it.`,
		Example: `  # From now on the GitOps tool shall decide about the number of pods
  kubectl application release web --field=.spec.replicas --to=argocd-controller`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			recipient, err := parseRecipient(to, operation)
			if err != nil {
				return err
			}
			t := &transfer{options: o, verb: releaseVerb, plan: func(child *children.Child) (*Change, error) { return Release(child, o.fields, recipient) }}
			return t.run(cmd.Context(), args[0])
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&to, "to", "", "The field manager that shall own the field.")
	cmd.Flags().StringVar(&operation, "to-operation", "", "How that manager writes: Apply or Update. Not needed if it owns something already; else Apply.")
	o.addCompletions(cmd, releaseCandidates)
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("to", o.completeManagers()))
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("to-operation", cobra.FixedCompletions(operations(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func operations() []string {
	return []string{string(metav1.ManagedFieldsOperationApply), string(metav1.ManagedFieldsOperationUpdate)}
}

func parseRecipient(name, operation string) (*Recipient, error) {
	switch {
	case operation != "" && !slices.Contains(operations(), operation):
		return nil, fmt.Errorf("--to-operation=%s: must be Apply or Update", operation)
	case name == "" && operation != "":
		return nil, errors.New("--to-operation needs --to")
	case name == "":
		return nil, nil
	}
	return &Recipient{Name: name, Operation: metav1.ManagedFieldsOperationType(operation)}, nil
}
