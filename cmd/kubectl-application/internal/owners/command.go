// Package owners is the command that shows who owns which field of an object.
package owners

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/suggest"
)

const long = `Show who owns which field.

The output is the objects as YAML, with the managers of each field beside its line: by which operation they came to own it
(Apply is Server-Side Apply, Update any other write), through which subresource, and how long ago they last wrote. Several
managers that agree on a value own it together. "nobody" marks a field without an owner: as a rule, a default of the API
server. Lines without a comment are either structure, or fields such as the name that never have owners.

NAME is an Application: its children are shown, or what --object chooses. TYPE/NAME is any object of the cluster. With
--filename, objects are read from files and no cluster is asked; they must have been saved with their managedFields.`

const example = `  # Who owns what of the Deployment and the Service of the Application web
  kubectl application owners web

  # … of its status only
  kubectl application owners web --object=status

  # What does this manager own?
  kubectl application owners web --manager=kubectl

  # Who owns this field?
  kubectl application owners web --field='.spec.template.spec.containers[name="app"].image'

  # Any other object, also from a file or a pipe
  kubectl application owners configmap/settings
  kubectl get deployment/web --show-managed-fields --output=yaml | kubectl application owners --filename=-

  # As data: path, value and owners of every field
  kubectl application owners web --output=json | jq '.items[].fields[] | select(.owners == null) | .path'

  # As a page to send to somebody; it shows no values of variables and Secrets
  kubectl application owners web --output=html > web.html`

type options struct {
	factory *cli.Factory
	// now is replaced in tests.
	now func() time.Time

	object    cli.Object
	filenames []string
	output    string
	manager   string
	field     string
	redact    bool
}

// Outputs of the command, besides YAML with comments.
const (
	outputHTML = "html"
	outputJSON = "json"
	outputYAML = "yaml"
)

// NewCommand returns the command.
func NewCommand(f *cli.Factory) *cobra.Command {
	return newCommand(&options{factory: f, now: time.Now})
}

func newCommand(o *options) *cobra.Command {
	command := &cobra.Command{
		Use:     "owners (NAME | TYPE/NAME | --filename=FILE)",
		Short:   "Show who owns which field",
		Long:    long,
		Example: example,
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), args)
		},
		ValidArgsFunction: o.factory.CompleteNames,
	}
	flags := command.Flags()
	flags.Var(&o.object, "object", "The object of the Application to show. Without it, the Deployment and the Service.")
	flags.StringSliceVarP(&o.filenames, "filename", "f", nil, "Read objects from these files, YAML or JSON, instead of the cluster; - is the standard input.")
	flags.StringVarP(&o.output, "output", "o", "", "Print data (json, yaml) or a self-contained page (html) instead of YAML with comments.")
	flags.StringVar(&o.manager, "manager", "", "Show only fields of managers of this name.")
	flags.StringVar(&o.field, "field", "", "Show only this field and what is in it. Its path is written as the operator prints it.")
	flags.BoolVar(&o.redact, "redact", false, "Hide values of environment variables and of Secrets. On by default for html.")

	which := func() []cli.Object {
		if o.object != "" {
			return []cli.Object{o.object}
		}
		return []cli.Object{cli.DeploymentObject, cli.ServiceObject}
	}
	utilruntime.Must(command.RegisterFlagCompletionFunc("object", cli.CompleteObjects))
	utilruntime.Must(command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputHTML, outputJSON, outputYAML}, cobra.ShellCompDirectiveNoFileComp)))
	utilruntime.Must(command.RegisterFlagCompletionFunc("manager", suggest.Managers(o.factory, which)))
	utilruntime.Must(command.RegisterFlagCompletionFunc("field", suggest.Fields(o.factory, which)))
	return command
}

// complete checks the command line.
func (o *options) complete(cmd *cobra.Command, args []string) error {
	switch o.output {
	case "", outputJSON, outputYAML:
	case outputHTML:
		if !cmd.Flags().Changed("redact") {
			o.redact = true
		}
	default:
		return fmt.Errorf("--output=%s: must be json, yaml or html", o.output)
	}
	switch fromFiles := len(o.filenames) > 0; {
	case fromFiles && len(args) > 0:
		return errors.New("give either an object's name or --filename, not both")
	case fromFiles && o.object != "":
		return errors.New("--object chooses an object of an Application in the cluster: leave it out with --filename")
	case !fromFiles && len(args) == 0:
		return fmt.Errorf("name an Application, an object as TYPE/NAME, or a file with --filename; see \"%s --help\"", cmd.CommandPath())
	}
	return nil
}

func (o *options) run(ctx context.Context, args []string) error {
	subjects, err := o.subjects(ctx, args)
	if err != nil {
		return err
	}
	if subjects, err = o.filter(subjects); err != nil {
		return err
	}
	switch o.output {
	case outputJSON, outputYAML:
		return writeData(o.factory.Out, subjects, o.output)
	case outputHTML:
		return o.writePage(subjects)
	default:
		return o.writeText(subjects)
	}
}
