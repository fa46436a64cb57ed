// Command kubectl-application is a plugin of kubectl: "kubectl application" shows who owns which field of an Application
// and its children, and what an apply would change, before and after.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

func main() {
	// What goes wrong is told as an error, in words for people: the libraries would log it, too.
	klog.SetLogger(logr.Discard())
	ctrllog.SetLogger(logr.Discard())
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
