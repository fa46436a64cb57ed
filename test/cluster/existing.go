package cluster

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
)

// connect uses the cluster of a kubeconfig, as the user that it names. Such a
// cluster brings its own controllers and nodes.
func (c *Cluster) connect(ctx context.Context) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.options.Kubeconfig
	admin, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("use the existing cluster: %w", err)
	}
	admin.QPS = -1
	c.existing, c.admin = true, admin
	if c.kubeconfig, err = c.writeKubeconfig("admin", admin); err != nil {
		return err
	}
	if err := c.waitForAPI(ctx); err != nil {
		return err
	}
	if len(c.options.CRDs) > 0 {
		return c.InstallCRDs(c.options.CRDs...)
	}
	return nil
}
