package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// sourceImage is the image as the manifests name it.
const sourceImage = "mycompany.io/application-operator"

// manifests returns what the release is installed from: the manifests, with the image of the release.
func (r *release) manifests(ctx context.Context) ([]byte, error) {
	overlay, err := os.MkdirTemp("", "application-operator-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(overlay)
	// kustomize takes relative paths only.
	deploy, err := filepath.Abs(r.deploy)
	if err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(overlay, deploy)
	if err != nil {
		return nil, err
	}
	kustomization := fmt.Sprintf("resources: [%q]\nimages: [{name: %s, newName: %q, newTag: %s}]\n", relative, sourceImage, r.image, r.version)
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	build := exec.CommandContext(ctx, r.kustomize, "build", overlay)
	build.Stdout, build.Stderr = &stdout, &stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, &stderr)
	}
	if stderr.Len() > 0 {
		return nil, fmt.Errorf("kustomize warns: %s", &stderr)
	}
	return stdout.Bytes(), nil
}
