package main

import (
	"os"
	_ "time/tzdata" // CronJobs and certificates must not depend on the host's time zones

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // build info metric
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func runAPIServer()         { runServer(apiserver.NewAPIServerCommand()) }
func runControllerManager() { runServer(controllermanager.NewControllerManagerCommand()) }
func runScheduler()         { runServer(scheduler.NewSchedulerCommand()) }

func runServer(command *cobra.Command) {
	os.Exit(cli.Run(command))
}
