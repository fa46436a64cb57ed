package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// runKwok runs kwok, which reads its configuration from os.Args before its
// command is built: the command's defaults come from that configuration.
func runKwok() {
	// Kubernetes' servers register flags globally, cobra offers those in every
	// command, and their --version isn't the bool that kwok expects. kwok itself
	// registers none.
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ExitOnError)

	early := pflag.NewFlagSet("kwok", pflag.ContinueOnError)
	early.ParseErrorsAllowlist.UnknownFlags = true
	early.Usage = func() {}

	ctx, _ := log.InitFlags(signals.SetupSignalContext(), early)
	ctx, err := config.InitFlags(ctx, early)
	if err != nil {
		exitKwok(fmt.Errorf("read the configuration: %w", err))
	}

	command := cmd.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(early)
	if err := command.ExecuteContext(ctx); err != nil {
		exitKwok(err)
	}
}

func exitKwok(err error) {
	fmt.Fprintln(os.Stderr, "kwok:", err)
	os.Exit(1)
}
