// Command application-operator runs the operator: it turns Applications into Deployments and Services by unforced
// Server-Side Apply.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 after a graceful stop, 1 if the operator could not run, 2 if it was called wrongly.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	options, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "application-operator: %v\nRun application-operator --help for its flags.\n", err)
		return 2
	case options.printVersion:
		fmt.Fprintln(stdout, versionString())
		return 0
	}

	// Before the libraries may log: they would tell the same with a stack trace.
	config, err := restConfig(options)
	if err != nil {
		fmt.Fprintf(stderr, "application-operator: %v\n", err)
		return 1
	}
	logger := zap.New(zap.UseFlagOptions(&options.log), zap.WriteTo(stderr))
	setLogger(logger)
	if err := runManager(ctx, logger, config, options); err != nil {
		fmt.Fprintf(stderr, "application-operator: %v\n", err)
		return 1
	}
	return 0
}

// setLogger makes the libraries log as the operator does.
func setLogger(logger logr.Logger) {
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
}
