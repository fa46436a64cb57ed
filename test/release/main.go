// Command release makes what a release consists of besides its image: install.yaml, an archive of the kubectl plugin for
// each platform, and their checksums. The same sources always make the same files.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/util/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := &release{}
	flag.StringVar(&r.version, "version", "", "the release's version, as in v1.2.3")
	flag.StringVar(&r.commit, "commit", "unknown", "the commit that it is made of")
	flag.StringVar(&r.image, "image", "mycompany.io/application-operator", "the operator's image, without a tag")
	flag.StringVar(&r.plugin, "plugin", "", "folder of the plugin's command; empty: no archives of it")
	flag.StringVar(&r.deploy, "deploy", filepath.Join("deploy", "default"), "folder of the manifests")
	flag.StringVar(&r.kustomize, "kustomize", filepath.Join("bin", "tools", "kustomize"), "kustomize's binary")
	flag.StringVar(&r.output, "output", "dist", "folder for the release; what it holds is replaced")
	flag.Parse()
	r.build = r.goBuild
	if err := r.make(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is what to make.
type release struct {
	version, commit, image            string
	plugin, deploy, kustomize, output string
	build                             func(ctx context.Context, p platform, binary string) error
}

func (r *release) make(ctx context.Context, out io.Writer) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := os.RemoveAll(r.output); err != nil {
		return err
	}
	if err := os.MkdirAll(r.output, 0o755); err != nil {
		return err
	}
	manifests, err := r.manifests(ctx)
	if err != nil {
		return fmt.Errorf("making install.yaml: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.output, "install.yaml"), manifests, 0o644); err != nil {
		return err
	}
	if r.plugin != "" {
		for _, p := range platforms {
			fmt.Fprintf(out, "release: building the plugin for %s\n", p)
			if err := r.archive(ctx, p); err != nil {
				return fmt.Errorf("making the plugin's archive for %s: %w", p, err)
			}
		}
	}
	if err := writeChecksums(r.output); err != nil {
		return fmt.Errorf("making the checksums: %w", err)
	}
	fmt.Fprintf(out, "release: %s is in %s\n", r.version, r.output)
	return nil
}

func (r *release) check() error {
	if !strings.HasPrefix(r.version, "v") {
		return fmt.Errorf("%q is no version of a release: it reads as v1.2.3", r.version)
	}
	if _, err := version.ParseSemantic(r.version); err != nil {
		return fmt.Errorf("%q is no version of a release: %w", r.version, err)
	}
	if r.image == "" || strings.ContainsAny(r.image, "@ ") {
		return fmt.Errorf("%q is no name of an image: it has neither tag nor digest", r.image)
	}
	if r.output == "" || filepath.Clean(r.output) == "." || filepath.Clean(r.output) == string(filepath.Separator) {
		return errors.New("the output needs a folder of its own")
	}
	return nil
}
