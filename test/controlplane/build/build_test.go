package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinkerFlags(t *testing.T) {
	flags := release{version: "v1.36.3", buildDate: "2026-01-02T03:04:05Z"}.linkerFlags()
	for _, want := range []string{
		"-X=k8s.io/component-base/version.gitVersion=v1.36.3",
		"-X=k8s.io/client-go/pkg/version.gitVersion=v1.36.3",
		"-X=k8s.io/component-base/version.gitMajor=1",
		"-X=k8s.io/component-base/version.gitMinor=36",
		"-X=k8s.io/component-base/version.buildDate=2026-01-02T03:04:05Z",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q lacks %q", flags, want)
		}
	}
}

func TestFingerprintCoversInputs(t *testing.T) {
	module := t.TempDir()
	write(t, filepath.Join(module, "go.mod"), "module example")
	write(t, filepath.Join(module, "go.sum"), "")
	write(t, filepath.Join(module, "main.go"), "package main")
	write(t, filepath.Join(module, "build", "main.go"), "package main")

	seen := map[string]string{}
	check := func(change string) {
		t.Helper()
		sum, err := fingerprint(module)
		if err != nil {
			t.Fatal(err)
		}
		if earlier, ok := seen[sum]; ok {
			t.Errorf("%s: same fingerprint as %s", change, earlier)
		}
		seen[sum] = change
	}
	check("nothing")
	for _, file := range []string{"go.mod", "go.sum", "main.go", "build/main.go", "new.go"} {
		write(t, filepath.Join(module, file), "changed")
		check(file)
	}

	before, err := fingerprint(module)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(module, "new_test.go"), "package main")
	if after, err := fingerprint(module); err != nil || after != before {
		t.Errorf("a test changed the fingerprint (or %v)", err)
	}
}

func TestUpToDate(t *testing.T) {
	folder := t.TempDir()
	if upToDate(folder, "a") {
		t.Error("an empty folder is up to date")
	}
	write(t, filepath.Join(folder, binaryName), "")
	if err := os.Symlink(binaryName, filepath.Join(folder, "etcd")); err != nil {
		t.Fatal(err)
	}
	if err := writeStamp(folder, "a", []string{"etcd"}); err != nil {
		t.Fatal(err)
	}
	if !upToDate(folder, "a") {
		t.Error("a finished build isn't up to date")
	}
	if upToDate(folder, "b") {
		t.Error("a build of other sources is up to date")
	}
	if err := os.Remove(filepath.Join(folder, binaryName)); err != nil {
		t.Fatal(err)
	}
	if upToDate(folder, "a") {
		t.Error("a build without its binary is up to date")
	}
}

func TestProgressCountsPackagesAndPassesErrorsOn(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out, 3)
	if _, err := io.WriteString(p, "k8s.io/api/core/v1\nfmt\n# example.com/broken\nmain.go:1:2: undefined: x\nunfinished: li"); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p.compiled != 2 {
		t.Errorf("counted %d packages, want 2", p.compiled)
	}
	want := "# example.com/broken\nmain.go:1:2: undefined: x\nunfinished: li\n"
	if out.String() != want {
		t.Errorf("passed on %q, want %q", out.String(), want)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
