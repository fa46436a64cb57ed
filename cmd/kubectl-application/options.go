package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// usageTemplate shows a command's own flags. Those for choosing a cluster are many, and kubectl's: "options" lists them.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}{{end}}
{{- if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if and .HasParent .HasAvailableLocalFlags}}

Options:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" tells more about a command.{{end}}
"{{.Root.CommandPath}} options" lists the options that choose a cluster, a namespace and a user, as in kubectl.
`

func newOptionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "options",
		Short:             "List the options that all commands have",
		Long:              "List the options that all commands have: those by which kubectl chooses a cluster, a namespace and a user, and when to use colours.",
		Example:           "  kubectl application options",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), "These options can be given to any command:\n\n"+cmd.Root().PersistentFlags().FlagUsages())
			return err
		},
	}
}
