package main

import (
	"github.com/spf13/cobra"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/conflicts"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/diff"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/owners"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/render"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/transfer"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/tree"
)

// newRootCommand puts the plugin together. Each command has a package of its own.
func newRootCommand(f *cli.Factory) *cobra.Command {
	root := &cobra.Command{
		Use:         "kubectl-application",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl application"},
		Short:       "See who owns which field of an Application and its children",
		Long: `See who owns which field of an Application and its children, what is contested, and what an apply would change.

The API server notes in metadata.managedFields which field manager owns which field of an object. These commands read that
with your own rights, and say it in words.`,
		Version:       versionString(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(f.In)
	root.SetOut(f.Out)
	root.SetErr(f.ErrOut)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetUsageTemplate(usageTemplate)
	root.CompletionOptions.HiddenDefaultCmd = true
	f.AddFlags(root.PersistentFlags())
	utilruntime.Must(root.RegisterFlagCompletionFunc("namespace", f.CompleteNamespaces))

	root.AddCommand(
		owners.NewCommand(f),
		tree.NewCommand(f),
		conflicts.NewCommand(f),
		diff.NewCommand(f),
		render.NewCommand(f),
		transfer.NewTakeCommand(f),
		transfer.NewReleaseCommand(f),
		newOptionsCommand(),
		newVersionCommand(f),
	)
	return root
}
