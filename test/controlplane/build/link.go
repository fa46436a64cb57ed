package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// link makes a symbolic link for each component. The binary itself knows their
// names, so that there is one list of them.
func link(ctx context.Context, folder string) ([]string, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(folder, binaryName), "--names").Output()
	if err != nil {
		return nil, fmt.Errorf("ask the built binary for its components: %w", err)
	}
	names := strings.Fields(string(out))
	for _, name := range names {
		path := filepath.Join(folder, name)
		if target, err := os.Readlink(path); err == nil && target == binaryName {
			continue
		}
		// A link can't be made over an existing file, but it can be moved over one.
		unfinished := path + ".new"
		if err := os.RemoveAll(unfinished); err != nil {
			return nil, err
		}
		if err := os.Symlink(binaryName, unfinished); err != nil {
			return nil, err
		}
		if err := os.Rename(unfinished, path); err != nil {
			return nil, err
		}
	}
	return names, nil
}
