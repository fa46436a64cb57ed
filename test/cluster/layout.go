package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// layout is where a cluster keeps its files.
type layout struct {
	root      string
	temporary bool // root is removed in the end
}

func (l layout) etcdData() string        { return filepath.Join(l.root, "etcd") }
func (l layout) pki() string             { return filepath.Join(l.root, "pki") }
func (l layout) logs() string            { return filepath.Join(l.root, "logs") }
func (l layout) kubeconfigs() string     { return filepath.Join(l.root, "kubeconfigs") }
func (l layout) kubectlCache() string    { return filepath.Join(l.root, "kubectl-cache") }
func (l layout) config() string          { return filepath.Join(l.root, "config") }
func (l layout) auditLog() string        { return filepath.Join(l.logs(), "audit.log") }
func (l layout) pkiFile(n string) string { return filepath.Join(l.pki(), n) }

// newLayout makes the folders, empty ones: a cluster always starts from nothing.
func newLayout(dir string) (layout, error) {
	l := layout{root: dir, temporary: dir == ""}
	if l.temporary {
		root, err := os.MkdirTemp("", "cluster-")
		if err != nil {
			return layout{}, err
		}
		l.root = root
	}
	var err error
	if l.root, err = filepath.Abs(l.root); err != nil {
		return layout{}, err
	}
	if err := l.makeFolders(); err != nil {
		return layout{}, errors.Join(fmt.Errorf("prepare the cluster's folder: %w", err), l.remove())
	}
	return l, nil
}

func (l layout) makeFolders() error {
	for _, folder := range []string{l.etcdData(), l.pki(), l.logs(), l.kubeconfigs(), l.kubectlCache(), l.config()} {
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
		// The folders hold keys.
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes a temporary folder. In any other it deletes what is of no use
// any more, and large.
func (l layout) remove() error {
	if l.temporary {
		return os.RemoveAll(l.root)
	}
	if l.root == "" {
		return nil // never made
	}
	return os.RemoveAll(l.etcdData())
}

func (l layout) writeConfig(name string, content []byte) (string, error) {
	path := filepath.Join(l.config(), name)
	return path, os.WriteFile(path, content, 0o600)
}
