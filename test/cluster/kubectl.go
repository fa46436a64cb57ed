package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Kubectl runs kubectl as the admin and returns what it printed on standard
// output. Flags among args win: --kubeconfig makes it someone else. An error
// holds what kubectl printed on standard error.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	cmd, err := c.KubectlCommand(ctx, args...)
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// KubectlCommand prepares a run of kubectl as the admin for a caller that wants
// its input or output for itself.
func (c *Cluster) KubectlCommand(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := KubectlPath()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+c.kubeconfig,
		// The cache is keyed by address, and another cluster may have had this port.
		"KUBECACHEDIR="+c.layout.kubectlCache(),
		"KUBERC=off", // the user's own defaults and aliases
	)
	return cmd, nil
}
