package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/manifest"
)

type options struct {
	factory      *cli.Factory
	files        []string
	fieldManager string
	serverSide   bool
	// choice is how the file is applied. Empty means as the Application has been so far.
	choice applyMode
	redact bool
}

const serverSideFlag = "server-side"

// NewCommand returns "kubectl application diff".
func NewCommand(f *cli.Factory) *cobra.Command {
	o := &options{factory: f}
	cmd := &cobra.Command{
		Use:   "diff (NAME | -f FILE)",
		Short: "Show what an Application would do to its Deployment and Service",
		Long: `Show what applying the Applications in a file would do to their Deployments and Services, or what the operator has yet to do
for the Application NAME. Nothing is changed.

The operator's own code builds what it would apply, and the API server answers in unforced dry runs, as the operator's
field manager. Beside the differences there are, in lines that begin with #, the conflicts that the operator would meet and
what they hold up, and the fields that it would give up and what they fall back to.

What a file does depends on how it is applied: kubectl apply keeps what others have set in the Application, and with
--server-side that is told by field managers. The Application is taken to be applied as it has been so far, which a comment
tells, unless you choose.

You need the rights to patch the Deployment and the Service, and to create what is not there yet. KUBECTL_EXTERNAL_DIFF
chooses a program for the differences, as for kubectl diff.

The exit code is 0 if nothing would change and nothing is contested, 1 if something would or is, and 2 if that could not be
found out.`,
		Example: `  # What would this edit do?
  kubectl application diff -f app.yaml

  # Why is the Deployment not as I want it?
  kubectl application diff web`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed(serverSideFlag) {
				o.choice = modes[o.serverSide]
			}
			return o.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "filename", "f", nil, "Files with Applications, in YAML or JSON; - is the standard input.")
	flags.StringVar(&o.fieldManager, "field-manager", "kubectl", "The field manager that the file is applied by.")
	flags.BoolVar(&o.serverSide, serverSideFlag, false, "Whether the file is applied with kubectl apply --server-side. Not needed if that is as before.")
	flags.BoolVar(&o.redact, "redact", false, "Hide the values of environment variables.")
	utilruntime.Must(cmd.MarkFlagFilename("filename", "yaml", "yml", "json"))
	utilruntime.Must(cmd.RegisterFlagCompletionFunc("field-manager", cobra.NoFileCompletions))
	return cli.AnswersByExitCode(cmd)
}

func (o *options) run(ctx context.Context, args []string) error {
	if (len(args) == 0) == (len(o.files) == 0) {
		return errors.New("name either an Application or, with --filename, a file")
	}
	if o.choice != "" && len(o.files) == 0 {
		return fmt.Errorf("--%s is about how a file is applied: name one with --filename", serverSideFlag)
	}
	c, err := o.factory.Client()
	if err != nil {
		return err
	}
	subjects, err := o.subjects(ctx, c, args)
	if err != nil {
		return err
	}
	d := &differ{streams: o.factory.IOStreams, external: strings.TrimSpace(os.Getenv(externalVariable))}
	differs := false
	for _, s := range subjects {
		one, err := o.show(ctx, c, d, s)
		if err != nil {
			return err
		}
		differs = differs || one
	}
	if differs {
		return cli.Found()
	}
	return nil
}

func (o *options) subjects(ctx context.Context, c *cli.Client, args []string) ([]*subject, error) {
	if len(args) > 0 {
		app, application, err := c.Application(ctx, args[0])
		return []*subject{{app: app, application: application}}, err
	}
	var subjects []*subject
	for _, file := range o.files {
		read, err := manifest.Read(file, o.factory.In)
		if err != nil {
			return nil, err
		}
		for _, skipped := range read.Skipped {
			fmt.Fprintf(o.factory.ErrOut, "Skipped: %s is no Application of %s.\n", skipped, cli.ApplicationResource.Group)
		}
		for i := range read.Applications {
			fromFile := &read.Applications[i]
			fromFile.SetNamespace(c.Namespace)
			there := *c
			there.Namespace = fromFile.Namespace
			s, err := written(ctx, &there, fromFile, o.fieldManager, o.choice)
			if err != nil {
				return nil, err
			}
			subjects = append(subjects, s)
		}
	}
	return subjects, nil
}

// show shows what one Application would do, and reports whether it would do anything.
func (o *options) show(ctx context.Context, c *cli.Client, d *differ, s *subject) (differs bool, err error) {
	name := fmt.Sprintf("Application %s in namespace %s", s.app.Name, s.app.Namespace)
	if s.warning != "" {
		fmt.Fprintf(o.factory.ErrOut, "Warning: %s: %s.\n", name, s.warning)
	}
	if !s.app.DeletionTimestamp.IsZero() {
		fmt.Fprintf(o.factory.ErrOut, "Warning: %s is being deleted: the operator applies nothing any more.\n", name)
		return false, nil
	}
	if s.app.Spec.Paused {
		fmt.Fprintf(o.factory.ErrOut, "Warning: %s is paused: what is shown happens once spec.paused is false.\n", name)
	}
	there := *c
	there.Namespace = s.app.Namespace
	for _, object := range children.Objects {
		outcome, err := applied(ctx, &there, s.app, s.application, object)
		if err != nil {
			return false, err
		}
		if outcome == nil || !outcome.Differs() {
			continue
		}
		if comment := s.comment(); comment != "" && !differs {
			fmt.Fprintln(o.factory.Out, comment)
		}
		differs = true
		outcome.fromFile, outcome.isNew = len(o.files) > 0, s.isNew
		before, after, err := outcome.documents(o.redact)
		if err != nil {
			return false, err
		}
		if _, err := fmt.Fprint(o.factory.Out, outcome.comments(o.redact)); err != nil {
			return false, err
		}
		if err := d.write(ctx, outcome.Child.Reference(), before, after); err != nil {
			return false, err
		}
	}
	return differs, nil
}
