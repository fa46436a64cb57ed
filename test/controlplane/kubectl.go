package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // credentials of cloud kubeconfigs
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func runKubectl() {
	// Building the command already logs (plugins, kuberc), so the verbosity has
	// to be known before cobra parses the flags. A bad value is reported there.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
