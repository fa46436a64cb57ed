package cluster

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// InstallCRDs creates or updates the CustomResourceDefinitions in the given
// folders and files and waits until the API server serves them.
func (c *Cluster) InstallCRDs(paths ...string) error {
	_, err := envtest.InstallCRDs(c.admin, envtest.CRDInstallOptions{
		Paths:              paths,
		ErrorIfPathMissing: true,
		MaxTime:            2 * time.Minute,
		PollInterval:       100 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("install the CustomResourceDefinitions: %w", err)
	}
	return nil
}
