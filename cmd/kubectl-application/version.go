package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// version and commit are set when the command is linked.
var (
	version = "v0.0.0-dev"
	commit  = "unknown"
)

func versionString() string {
	return fmt.Sprintf("kubectl-application %s (commit %s, %s, %s/%s)", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersionCommand(f *cli.Factory) *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version of the plugin",
		Long:              "Print the version of the plugin. No cluster is asked.",
		Example:           "  kubectl application version",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(f.Out, versionString())
			return err
		},
	}
}
