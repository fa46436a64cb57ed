package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Cluster is a running control plane.
type Cluster struct {
	options  Options
	layout   layout
	existing bool

	authority   *authority
	auditPolicy string
	kubeconfig  string
	admin       *rest.Config

	apiPort, etcdPort, peerPort *reservedPort

	guard *guard

	mu         sync.Mutex
	processes  []*Process          // everything started, in that order
	components map[string]*Process // the control plane's own, by name
	stopped    bool
}

// Start starts a cluster and returns when it is ready for use. ctx bounds the
// start, not the cluster's life. A failed start leaves nothing behind, and its
// error holds the last lines of the log that tells why.
func Start(ctx context.Context, options Options) (_ *Cluster, err error) {
	c := &Cluster{options: options.withDefaults(), components: map[string]*Process{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start a cluster: %w", err), c.cleanUp())
		}
	}()

	if err := c.prepareFolder(); err != nil {
		return nil, err
	}
	if c.options.useExisting() {
		if err := c.connect(ctx); err != nil {
			return nil, err
		}
		return c, nil
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}

	// kube-apiserver waits for etcd by itself; starting both at once is faster.
	if err := c.startEtcd(); err != nil {
		return nil, err
	}
	if err := c.startAPIServer(); err != nil {
		return nil, err
	}
	if err := c.waitForAPI(ctx); err != nil {
		return nil, err
	}
	if len(c.options.CRDs) > 0 {
		if err := c.InstallCRDs(c.options.CRDs...); err != nil {
			return nil, err
		}
	}
	if c.options.Controllers {
		if err := c.startControllers(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// prepareFolder makes the cluster's folder and the guard that removes it.
func (c *Cluster) prepareFolder() error {
	var err error
	if c.layout, err = newLayout(c.options.Dir); err != nil {
		return err
	}
	dir := ""
	if c.layout.temporary {
		dir = c.layout.root
	}
	c.guard, err = startGuard(dir)
	return err
}

// prepare makes what the components need to start.
func (c *Cluster) prepare() error {
	for _, port := range []**reservedPort{&c.apiPort, &c.etcdPort, &c.peerPort} {
		var err error
		if *port, err = reservePort(); err != nil {
			return err
		}
	}
	var err error
	if c.authority, err = newAuthority(); err != nil {
		return err
	}
	c.admin = c.ConfigFor("admin", adminGroup)
	if c.kubeconfig, err = c.writeKubeconfig("admin", c.admin); err != nil {
		return err
	}
	return c.writeAPIServerFiles()
}

// Config returns the admin's client configuration. It doesn't limit the rate of
// requests. The caller may change it.
func (c *Cluster) Config() *rest.Config {
	return rest.CopyConfig(c.admin)
}

// Kubeconfig returns the path of the admin's kubeconfig.
func (c *Cluster) Kubeconfig() string {
	return c.kubeconfig
}

// Dir returns the folder that holds the cluster's files.
func (c *Cluster) Dir() string {
	return c.layout.root
}

// StartProcess runs a program beside the cluster, for instance an operator. It is
// stopped with the cluster, or killed if this process is.
func (c *Cluster) StartProcess(o ProcessOptions) (*Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil, fmt.Errorf("start %s: the cluster is stopped", o.Name)
	}
	p, err := startProcess(c.guard, c.layout.logs(), o)
	if err != nil {
		return nil, err
	}
	c.processes = append(c.processes, p)
	return p, nil
}

// startComponent starts one of the control plane's own programs.
func (c *Cluster) startComponent(name string, env []string, args ...string) error {
	path, err := binary(name)
	if err != nil {
		return err
	}
	p, err := c.StartProcess(ProcessOptions{Name: name, Path: path, Args: args, Env: env})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.components[name] = p
	return nil
}

// component returns the newest process of a component, nil if it never ran.
func (c *Cluster) component(name string) *Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.components[name]
}

// failure returns an error if a component has ended that should run.
func (c *Cluster) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.components)) {
		errs = append(errs, c.components[name].failure())
	}
	return errors.Join(errs...)
}

// logTails returns the end of every component's log.
func (c *Cluster) logTails() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var tails strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.components)) {
		fmt.Fprintf(&tails, "last lines of %s:\n%s\n", name, c.components[name].LogTail())
	}
	return tails.String()
}
