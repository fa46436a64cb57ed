package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const dockerfile = "../../deploy/Dockerfile"

// instructions returns the lines of the Dockerfile that are neither empty nor comments. None goes on in the next line.
func instructions(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(line, `\`) {
			t.Fatalf("%q goes on in the next line", line)
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return found
}

// TestDockerfileBuilds does what an image's build does: it copies what is to be copied, and runs the build command there.
func TestDockerfileBuilds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the binary is to be run")
	}
	source, out := t.TempDir(), t.TempDir()
	environment := append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+runtime.GOARCH, "VERSION=v1.2.3", "COMMIT=abcdef")
	built := false
	for _, line := range instructions(t) {
		name, rest, _ := strings.Cut(line, " ")
		words := strings.Fields(rest)
		switch {
		case name == "COPY" && !strings.HasPrefix(words[0], "--"):
			sources, target := words[:len(words)-1], words[len(words)-1]
			for _, from := range sources {
				to := filepath.Join(source, target)
				if target == "./" {
					to = filepath.Join(source, from)
				}
				copyAll(t, filepath.Join("../..", from), to)
			}
		case name == "RUN" && strings.Contains(rest, "go build"):
			build := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(rest, " /out/", " "+out+"/"))
			build.Dir, build.Env = source, environment
			if output, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", rest, err, output)
			}
			built = true
		}
	}
	if !built {
		t.Fatal("nothing is built")
	}

	path := filepath.Join(out, "application-operator")
	output, err := exec.CommandContext(t.Context(), path, "--version").Output()
	if err != nil || !strings.HasPrefix(string(output), "application-operator v1.2.3 (commit abcdef,") {
		t.Errorf("it says %q, %v", output, err)
	}
	binary, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	if libraries, err := binary.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("it needs %v, %v: the image has no libraries", libraries, err)
	}
	if slices.ContainsFunc(binary.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("it needs a dynamic loader, which the image has not")
	}
}

func TestDockerfileShipsTheBinaryAlone(t *testing.T) {
	lines := instructions(t)
	last := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "FROM gcr.io/distroless/static:nonroot") })
	want := []string{
		"FROM gcr.io/distroless/static:nonroot",
		"COPY --from=build /out/application-operator /application-operator",
		"USER 65532:65532",
		`ENTRYPOINT ["/application-operator"]`,
	}
	if last < 0 || !slices.Equal(lines[last:], want) {
		t.Errorf("the image is made by\n%s", strings.Join(lines[max(0, last):], "\n"))
	}
	// The build runs on the builder's own platform, whatever the target's.
	if !strings.HasPrefix(lines[0], "FROM --platform=$BUILDPLATFORM golang:") || !strings.HasSuffix(lines[0], " AS build") {
		t.Errorf("it begins with %q", lines[0])
	}
	goMod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSuffix(strings.TrimPrefix(lines[0], "FROM --platform=$BUILDPLATFORM golang:"), " AS build")
	if !strings.Contains(string(goMod), "\ngo "+version) {
		t.Errorf("it builds with Go %s, which is not that of go.mod", version)
	}
}

// TestDockerignore: what is copied is sent to the builder, and nothing else is.
func TestDockerignore(t *testing.T) {
	content, err := os.ReadFile(dockerfile + ".dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	ignored := false
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		ignored = ignored || line == "*"
		if name, found := strings.CutPrefix(line, "!"); found {
			sent = append(sent, name)
		}
	}
	var copied []string
	for _, line := range instructions(t) {
		if words := strings.Fields(line); words[0] == "COPY" && !strings.HasPrefix(words[1], "--") {
			copied = append(copied, words[1:len(words)-1]...)
		}
	}
	slices.Sort(sent)
	slices.Sort(copied)
	if !ignored || !slices.Equal(sent, copied) {
		t.Errorf("sends %v, copies %v", sent, copied)
	}
}

func copyAll(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
