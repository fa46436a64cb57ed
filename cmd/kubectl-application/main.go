// Command kubectl-application is a plugin of kubectl: "kubectl application" shows who owns which field of an Application
// and its children, and what an apply would change, before and after.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(run(ctx, streams, os.Args))
}

// run returns the exit code. The first argument is the name that the plugin was started by.
func run(ctx context.Context, streams genericiooptions.IOStreams, args []string) int {
	root := newRootCommand(cli.NewFactory(streams))
	root.SetArgs(arguments(args))
	executed, err := root.ExecuteContextC(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(streams.ErrOut, "error: %v\n", err)
	}
	return cli.ExitCode(executed, err)
}
