// Command build builds the control plane binary and its links. It does nothing
// when they are up to date, and may be interrupted or started twice at once: the
// folder holds either the old binary or the new one, never half of one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	binaryName = "controlplane"
	stampName  = ".stamp"
	lockName   = ".lock"
)

func main() {
	output := flag.String("output", "", "folder of the binary and its links (default: bin/controlplane of the repository)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := run(ctx, *output); err != nil {
		fmt.Fprintln(os.Stderr, "control plane:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, output string) error {
	module, err := moduleRoot()
	if err != nil {
		return err
	}
	if output == "" {
		output = filepath.Join(module, "..", "..", "bin", "controlplane")
	}
	if output, err = filepath.Abs(output); err != nil {
		return err
	}
	if err := os.MkdirAll(output, 0o755); err != nil {
		return err
	}

	unlock, err := lock(filepath.Join(output, lockName))
	if err != nil {
		return err
	}
	defer unlock()

	want, err := fingerprint(module)
	if err != nil {
		return err
	}
	if upToDate(output, want) {
		return nil
	}

	// Without the stamp an interrupted build counts as none.
	if err := os.RemoveAll(filepath.Join(output, stampName)); err != nil {
		return err
	}
	if err := compile(ctx, module, filepath.Join(output, binaryName)); err != nil {
		return err
	}
	names, err := link(ctx, output)
	if err != nil {
		return err
	}
	return writeStamp(output, want, names)
}

// moduleRoot returns the folder of this module's go.mod: `go run` starts the
// program in whatever folder the caller was in.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for the module's folder: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	if _, err := os.Stat(filepath.Join(root, "kubernetes.go")); err != nil {
		return "", fmt.Errorf("%s is not the control plane's module; run this by `go -C test/controlplane run ./build`", root)
	}
	return root, nil
}
