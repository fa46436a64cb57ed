package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binary returns the path of a component's binary. Each is looked up by itself:
// the usual envtest assets hold no controllers, so those then come from ours.
func binary(name string) (string, error) {
	var folders []string
	if assets := os.Getenv(EnvAssets); assets != "" {
		folders = append(folders, assets)
	}
	if root, err := repositoryRoot(); err == nil {
		folders = append(folders, filepath.Join(root, "bin", "controlplane"))
	}
	for _, folder := range folders {
		path, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	if len(folders) == 0 {
		return "", fmt.Errorf("no %s: set %s, or run from inside the repository after `make controlplane`", name, EnvAssets)
	}
	return "", fmt.Errorf("no %s in %s: run `make controlplane`, or set %s to a folder that holds it",
		name, strings.Join(folders, " or "), EnvAssets)
}

// KubectlPath returns the path of kubectl: the one beside the other binaries or
// else, for use with an existing cluster, the one in PATH.
func KubectlPath() (string, error) {
	path, err := binary("kubectl")
	if err == nil {
		return path, nil
	}
	if inPath, lookErr := exec.LookPath("kubectl"); lookErr == nil {
		return inPath, nil
	}
	return "", err
}

// repositoryRoot finds the repository that the working directory is in: tests
// run in their package's folder.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "test", "controlplane", "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the repository")
		}
		dir = parent
	}
}
