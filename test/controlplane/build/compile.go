package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const kubernetesModule = "k8s.io/kubernetes"

// compile builds the binary beside its final path and moves it there. Components
// that still run the old binary keep it.
func compile(ctx context.Context, module, path string) error {
	release, err := kubernetesRelease(ctx, module)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "control plane: building Kubernetes %s, etcd and kwok from source. "+
		"The first build takes about five minutes on two cores; later ones reuse it.\n", release.version)

	started := time.Now()
	unfinished := path + ".new"
	defer os.Remove(unfinished)

	build := exec.CommandContext(ctx, "go", "build", "-v", "-buildvcs=false", "-ldflags", release.linkerFlags(), "-o", unfinished, ".")
	build.Dir = module
	build.Stdout = os.Stdout
	progress := newProgress(os.Stderr, packageCount(ctx, module))
	build.Stderr = progress
	// Interrupt rather than kill: go then ends the compilers it started.
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) }
	build.WaitDelay = 10 * time.Second

	err = build.Run()
	progress.Close()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted; what was compiled so far is kept for the next build")
	case err != nil:
		return fmt.Errorf("go build: %w", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "control plane: built in %s\n", time.Since(started).Round(time.Second))
	return nil
}

// packageCount returns how many packages the binary is made of, for the progress
// display only; 0 means unknown.
func packageCount(ctx context.Context, module string) int {
	list := exec.CommandContext(ctx, "go", "list", "-deps", ".")
	list.Dir = module
	out, err := list.Output()
	if err != nil {
		return 0
	}
	return strings.Count(string(out), "\n")
}

// release is the Kubernetes release that go.mod pins, the only place that names
// its version.
type release struct {
	version   string // v1.36.3
	buildDate string // RFC 3339; fixed, so that equal sources give equal binaries
}

func kubernetesRelease(ctx context.Context, module string) (release, error) {
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", `{{.Version}} {{.Time.UTC.Format "2006-01-02T15:04:05Z"}}`, kubernetesModule)
	list.Dir = module
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return release{}, fmt.Errorf("find the version of %s in go.mod: %w", kubernetesModule, err)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 2 {
		return release{}, fmt.Errorf("find the version of %s in go.mod: unexpected answer %q", kubernetesModule, out)
	}
	return release{version: fields[0], buildDate: fields[1]}, nil
}

// linkerFlags stamps the release as upstream's own build does. The commit isn't
// known from a module; left empty, user agents say "unknown" for it.
func (r release) linkerFlags() string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(r.version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	values := [][2]string{
		{"gitVersion", r.version},
		{"gitMajor", major},
		{"gitMinor", minor},
		{"gitCommit", ""},
		{"gitTreeState", "archive"},
		{"buildDate", r.buildDate},
	}

	// Debug information would double the time of the link.
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, v := range values {
			flags = append(flags, fmt.Sprintf("-X=%s.%s=%s", pkg, v[0], v[1]))
		}
	}
	return strings.Join(flags, " ")
}
