package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// externalVariable names the variable by which users of kubectl diff choose their own program.
const externalVariable = "KUBECTL_EXTERNAL_DIFF"

// differ writes the differences between two states of objects.
type differ struct {
	streams genericiooptions.IOStreams
	// external is a command that takes two folders, as for kubectl diff. Without it, unified diffs are written.
	external string
}

// write shows the difference between two documents under a name such as deployment/web.
func (d *differ) write(ctx context.Context, name string, before, after []byte) error {
	if d.external != "" {
		return d.run(ctx, name, before, after)
	}
	_, err := d.streams.Out.Write(diff.Diff("live/"+name, before, "applied/"+name, after))
	return err
}

// run calls the external program for two folders with one file each.
func (d *differ) run(ctx context.Context, name string, before, after []byte) error {
	folder, err := os.MkdirTemp("", "kubectl-application-")
	if err != nil {
		return fmt.Errorf("making room for %s: %w", externalVariable, err)
	}
	defer os.RemoveAll(folder)
	file := strings.ReplaceAll(name, "/", ".") + ".yaml"
	sides := []struct {
		folder  string
		content []byte
	}{{filepath.Join(folder, "LIVE"), before}, {filepath.Join(folder, "APPLIED"), after}}
	words := strings.Fields(d.external)
	for _, side := range sides {
		if err := os.Mkdir(side.folder, 0o700); err != nil {
			return fmt.Errorf("making room for %s: %w", externalVariable, err)
		}
		if err := os.WriteFile(filepath.Join(side.folder, file), side.content, 0o600); err != nil {
			return fmt.Errorf("making room for %s: %w", externalVariable, err)
		}
		words = append(words, side.folder)
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stdout, command.Stderr = d.streams.Out, d.streams.ErrOut
	command.Stdin = io.NopCloser(d.streams.In)
	err = command.Run()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.ExitCode() == 1 {
		return nil // as diff says that there are differences
	}
	if err != nil {
		return fmt.Errorf("running %q, as %s says: %w", d.external, externalVariable, err)
	}
	return nil
}
