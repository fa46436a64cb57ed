package cluster

import (
	"errors"
	"slices"
)

// Stop ends everything that Start and StartProcess started and removes the
// cluster's temporary folder. An existing cluster goes on running. The error
// tells about a component that had ended too early. Calling Stop again does
// nothing.
func (c *Cluster) Stop() error {
	return errors.Join(c.failure(), c.cleanUp())
}

func (c *Cluster) cleanUp() error {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return nil
	}
	c.stopped = true
	processes := c.processes
	c.mu.Unlock()

	var errs []error
	// The newest first: they depend on the older ones. Nothing reads the data
	// again, so an orderly end would save nothing and take longer.
	for _, p := range slices.Backward(processes) {
		errs = append(errs, p.Kill())
	}
	for _, port := range []*reservedPort{c.apiPort, c.etcdPort, c.peerPort} {
		if port != nil {
			errs = append(errs, port.release())
		}
	}
	if c.guard != nil {
		errs = append(errs, c.guard.finish())
	}
	return errors.Join(append(errs, c.layout.remove())...)
}
