package cluster

import (
	"errors"
	"fmt"
	"os/exec"
)

// startKwok starts the program that plays the nodes: it reports them ready, runs
// their Pods without containers, and ends Pods that are deleted.
func (c *Cluster) startKwok() error {
	stages, err := c.writeStages()
	if err != nil {
		return err
	}
	kubeconfig, err := c.KubeconfigFor("kwok", adminGroup)
	if err != nil {
		return err
	}
	return c.startComponent("kwok",
		[]string{"HOME=" + c.layout.root}, // else it also reads ~/.kwok
		"--kubeconfig="+kubeconfig,
		"--config="+stages,
		"--manage-all-nodes=true",
		"--cidr=10.244.0.0/16",
		"--node-lease-duration-seconds=40",
	)
}

// writeStages writes kwok's configuration: its own fast stages, changed so that
// Pods with a broken image stay pending, and a stage for those.
func (c *Cluster) writeStages() (string, error) {
	path, err := binary("kwok-stages")
	if err != nil {
		return "", err
	}
	upstream, err := exec.Command(path).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("print kwok's stages: %w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("print kwok's stages: %w", err)
	}
	stages, err := stagesFrom(upstream)
	if err != nil {
		return "", err
	}
	return c.layout.writeConfig("kwok.yaml", stages)
}
