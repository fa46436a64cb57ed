package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/manifest"
)

const (
	formatYAML = "yaml"
	formatJSON = "json"
)

var formats = []string{formatYAML, formatJSON}

type options struct {
	factory *cli.Factory
	files   []string
	format  string
	redact  bool
}

// NewCommand returns "kubectl application render".
func NewCommand(f *cli.Factory) *cobra.Command {
	o := &options{factory: f, format: formatYAML}
	cmd := &cobra.Command{
		Use:   "render -f FILE",
		Short: "Show what the operator applies for an Application, without a cluster",
		Long: `Show the apply configurations that the operator makes of the Applications in a file: just the fields that it owns on the
Deployment and the Service. No cluster is asked.

The output is what "kubectl apply --server-side --field-manager=application-operator" accepts. It has no owner reference
unless the file has the Application's uid, which only the API server knows. To apply such output to a child that the
operator has made would take its owner from it.`,
		Example: `  # What will the operator make of this?
  kubectl application render -f app.yaml

  # The same of what is in the cluster, with the owner reference
  kubectl get applications.application.mycompany.io web --output=yaml | kubectl application render -f -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q: render takes no name, but a file, with --filename. Of what is in the cluster, kubectl writes one: "+
					"kubectl get %s NAME --output=yaml | kubectl application render --filename=-", args[0], cli.ApplicationResource)
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return o.run() },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "filename", "f", nil, "Files with Applications, in YAML or JSON; - is the standard input.")
	flags.StringVarP(&o.format, "output", "o", o.format, "How to print: "+strings.Join(formats, ", ")+".")
	flags.BoolVar(&o.redact, "redact", false, "Hide the values of environment variables. The output cannot be applied then.")
	utilruntime.Must(cmd.MarkFlagFilename("filename", "yaml", "yml", "json"))
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *options) run() error {
	switch {
	case len(o.files) == 0:
		return errors.New("no file: name one with --filename, or - for the standard input")
	case !slices.Contains(formats, o.format):
		return fmt.Errorf("--output=%s: must be one of %s", o.format, strings.Join(formats, ", "))
	}
	w := &writer{out: o.factory.Out, format: o.format, redact: o.redact}
	for _, file := range o.files {
		read, err := manifest.Read(file, o.factory.In)
		if err != nil {
			return err
		}
		for _, skipped := range read.Skipped {
			fmt.Fprintf(o.factory.ErrOut, "Skipped: %s is no Application of %s.\n", skipped, cli.ApplicationResource.Group)
		}
		for i := range read.Applications {
			app := &read.Applications[i]
			// Only what was asked for: without a cluster nothing else tells the namespace.
			app.SetNamespace(ptr.Deref(o.factory.Config.Namespace, ""))
			configs, err := Configurations(app.Application)
			if err != nil {
				return fmt.Errorf("%s: %w", app.Origin, err)
			}
			if err := w.add(app.Application, configs); err != nil {
				return err
			}
		}
	}
	return w.close()
}
