package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newRelease returns a release into a folder of its own, whose plugin is its platform's name.
func newRelease(t *testing.T) *release {
	t.Helper()
	kustomize := filepath.Join(t.TempDir(), "kustomize")
	script := "#!/bin/sh\necho built from:\ncat \"$2/kustomization.yaml\"\n"
	if err := os.WriteFile(kustomize, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &release{
		version: "v1.2.3", commit: "abcdef", image: "registry.example/operator",
		plugin: filepath.Join("..", "..", "cmd", pluginName), deploy: filepath.Join("..", "..", "deploy", "default"),
		kustomize: kustomize, output: filepath.Join(t.TempDir(), "dist"),
		build: func(_ context.Context, p platform, binary string) error {
			return os.WriteFile(binary, []byte("plugin for "+p.String()), 0o600)
		},
	}
}

func TestRelease(t *testing.T) {
	r := newRelease(t)
	if err := r.make(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	files := contents(t, r.output)
	license, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	var sums strings.Builder
	for _, name := range []string{
		"install.yaml",
		"kubectl-application_v1.2.3_darwin_amd64.tar.gz", "kubectl-application_v1.2.3_darwin_arm64.tar.gz",
		"kubectl-application_v1.2.3_linux_amd64.tar.gz", "kubectl-application_v1.2.3_linux_arm64.tar.gz",
		"kubectl-application_v1.2.3_windows_amd64.zip", "kubectl-application_v1.2.3_windows_arm64.zip",
	} {
		content, found := files[name]
		if !found {
			t.Fatalf("there is no %s", name)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(content)), name)
		delete(files, name)
		if name == "install.yaml" {
			continue
		}
		parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(name, ".tar.gz"), ".zip"), "_")
		want := map[string]string{
			"-rwxr-xr-x kubectl-application": "plugin for " + parts[2] + "/" + parts[3],
			"-rw-r--r-- LICENSE":             string(license),
		}
		if parts[2] == "windows" {
			want["-rwxr-xr-x kubectl-application.exe"] = want["-rwxr-xr-x kubectl-application"]
			delete(want, "-rwxr-xr-x kubectl-application")
		}
		if diff := cmp.Diff(want, unpack(t, name, content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"checksums.txt": sums.String()}, files); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
}

func TestReleaseIsReproducible(t *testing.T) {
	r := newRelease(t)
	if err := r.make(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	first := contents(t, r.output)["checksums.txt"]
	if err := os.WriteFile(filepath.Join(r.output, "stale"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.make(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	second := contents(t, r.output)["checksums.txt"]
	// The overlay's path is in what the fake kustomize says.
	_, first, _ = strings.Cut(first, "install.yaml")
	_, second, _ = strings.Cut(second, "install.yaml")
	if diff := cmp.Diff(first, second); diff != "" || strings.Contains(second, "stale") {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
}

func TestManifestsNameTheImage(t *testing.T) {
	r := newRelease(t)
	manifests, err := r.manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`images: [{name: mycompany.io/application-operator, newName: "registry.example/operator", newTag: v1.2.3}]`, `/deploy/default"]`,
	} {
		if !strings.Contains(string(manifests), part) {
			t.Errorf("%q is not in %s", part, manifests)
		}
	}
	if err := os.WriteFile(r.kustomize, []byte("#!/bin/sh\necho Warning: deprecated >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := r.manifests(t.Context()); err == nil || !strings.Contains(err.Error(), "deprecated") {
		t.Errorf("a warning: %v", err)
	}
}

func TestReleaseFails(t *testing.T) {
	for name, change := range map[string]func(*release){
		"no version":         func(r *release) { r.version = "" },
		"no v":               func(r *release) { r.version = "1.2.3" },
		"not a version":      func(r *release) { r.version = "v1.2" },
		"an image by digest": func(r *release) { r.image = "registry.example/operator@sha256:1234" },
		"the working tree":   func(r *release) { r.output = "./" },
		"no build":           func(r *release) { r.build = func(context.Context, platform, string) error { return errors.New("no") } },
		"no kustomize":       func(r *release) { r.kustomize = filepath.Join(t.TempDir(), "missing") },
	} {
		r := newRelease(t)
		change(r)
		if err := r.make(t.Context(), io.Discard); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGoBuild(t *testing.T) {
	r := newRelease(t)
	r.plugin = filepath.Join("testdata", "hello")
	binary := filepath.Join(t.TempDir(), "hello")
	if err := r.goBuild(t.Context(), platform{runtime.GOOS, runtime.GOARCH}, binary); err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), binary).Output()
	if err != nil || string(output) != "v1.2.3 abcdef\n" {
		t.Errorf("it says %q, %v", output, err)
	}
	if err := r.goBuild(t.Context(), platform{"plan10", "amd64"}, binary); err == nil || !strings.Contains(err.Error(), "plan10") {
		t.Errorf("got %v: the compiler's words are missing", err)
	}
}

// contents returns the files of a folder by name.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(content)
	}
	return files
}

// unpack returns what an archive holds, by mode and name.
func unpack(t *testing.T, name, content string) map[string]string {
	t.Helper()
	files := map[string]string{}
	add := func(info os.FileInfo, r io.Reader) {
		t.Helper()
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[info.Mode().String()+" "+info.Name()] = string(text)
	}
	if strings.HasSuffix(name, ".zip") {
		archive, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range archive.File {
			r, err := entry.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(entry.FileInfo(), r)
		}
		return files
	}
	unzipped, err := gzip.NewReader(bytes.NewReader([]byte(content)))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		add(header.FileInfo(), archive)
	}
}
