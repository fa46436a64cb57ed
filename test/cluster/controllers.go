package cluster

import (
	"context"
	"strings"
)

// controllers are the ones that suites depend on. The rest would only compete
// for the processor, or need hardware or a cloud.
var controllers = []string{
	"clusterrole-aggregation-controller", // fills the roles view, edit and admin
	"daemonset-controller",
	"deployment-controller",
	"disruption-controller",
	"endpoints-controller",
	"endpointslice-controller",
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"node-lifecycle-controller", // takes the taint off new nodes
	"pod-garbage-collector-controller",
	"replicaset-controller",
	"resourcequota-controller",
	"root-ca-certificate-publisher-controller",
	"serviceaccount-controller",
	"statefulset-controller",
	"taint-eviction-controller",
}

// startControllers starts what makes workloads run and waits until it works.
func (c *Cluster) startControllers(ctx context.Context) error {
	for _, start := range []func() error{c.startControllerManager, c.startScheduler, c.startKwok} {
		if err := start(); err != nil {
			return err
		}
	}
	if err := c.createNodes(ctx); err != nil {
		return err
	}
	return c.waitForControllers(ctx)
}

func (c *Cluster) startControllerManager() error {
	const user = "system:kube-controller-manager"
	kubeconfig, err := c.KubeconfigFor(user)
	if err != nil {
		return err
	}
	return c.startComponent("kube-controller-manager", nil,
		"--kubeconfig="+kubeconfig,
		"--controllers="+strings.Join(controllers, ","),
		// The audit log then tells the controllers apart.
		"--use-service-account-credentials=true",
		"--root-ca-file="+c.layout.pkiFile("ca.crt"),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--profiling=false",
	)
}

func (c *Cluster) startScheduler() error {
	const user = "system:kube-scheduler"
	kubeconfig, err := c.KubeconfigFor(user)
	if err != nil {
		return err
	}
	return c.startComponent("kube-scheduler", nil,
		"--kubeconfig="+kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--profiling=false",
	)
}
