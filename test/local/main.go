// Command local runs control planes for people: in the background, with the
// operator in the foreground, or as a demonstration that checks itself.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal must end the program at once, even if an orderly end hangs.
	context.AfterFunc(ctx, stop)

	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "local",
		Short:         "Run Kubernetes control planes on this machine",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	s := &state{}
	root.PersistentFlags().StringVar(&s.dir, "state-dir", ".local", "folder for the kubeconfig and the data of the cluster in the background")
	root.AddCommand(upCommand(s), serveCommand(s), downCommand(s), runCommand(s), demoCommand())
	return root
}
