// Package verify checks the rules of this project that a compiler does not know.
package verify

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// TestLintRules runs the linter over testdata/lint, a small repository full of what the rules forbid, and expects
// exactly the findings that its comments announce: // want "part of the message".
func TestLintRules(t *testing.T) {
	linter := os.Getenv("GOLANGCI_LINT")
	if linter == "" {
		t.Skip("GOLANGCI_LINT is not set; `make verify` runs this test")
	}

	repository := t.TempDir()
	if err := os.CopyFS(repository, os.DirFS("testdata/lint")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"go.mod", "go.sum", ".golangci.yml"} {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(repository, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	run := exec.CommandContext(t.Context(), linter, "run", "--enable-only", "depguard,forbidigo,importas,nolintlint",
		"--output.text.print-issued-lines=false", "--output.text.colors=false", "--show-stats=false", "./...")
	run.Dir = repository
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	// 1 stands for findings, more for a failure.
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() > 1) {
		t.Fatalf("golangci-lint: %v\n%s%s", err, out, &stderr)
	}

	wanted, messages := wantedFindings(t, repository), map[string]string{}
	for line := range strings.Lines(string(out)) {
		place, message, ok := cutFinding(line)
		if !ok {
			t.Errorf("not a finding: %s", line)
			continue
		}
		messages[place] += message
	}
	for place, want := range wanted {
		if got := messages[place]; !strings.Contains(got, want) {
			t.Errorf("%s: want a finding with %q, got %q", place, want, got)
		}
		delete(messages, place)
	}
	if diff := cmp.Diff(map[string]string{}, messages); diff != "" {
		t.Errorf("unwanted findings (+):\n%s", diff)
	}
}

var want = regexp.MustCompile(`// want "(.*)"$`)

// wantedFindings returns the announced parts of messages by "file:line".
func wantedFindings(t *testing.T, repository string) map[string]string {
	t.Helper()
	wanted := map[string]string{}
	for _, path := range goFiles(t, repository) {
		content, err := os.ReadFile(filepath.Join(repository, path))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(content))
		for number := 1; lines.Scan(); number++ {
			if match := want.FindStringSubmatch(lines.Text()); match != nil {
				wanted[fmt.Sprintf("%s:%d", path, number)] = match[1]
			}
		}
	}
	if len(wanted) == 0 {
		t.Fatal("testdata/lint announces no findings")
	}
	return wanted
}

// cutFinding splits "file:line:column: message".
func cutFinding(line string) (place, message string, ok bool) {
	parts := strings.SplitN(strings.TrimSpace(line), ":", 4)
	if len(parts) < 4 {
		return "", "", false
	}
	return parts[0] + ":" + parts[1], parts[3], true
}

// forcedText is how a request says "force" without the client's typed options: as a query, in which any value but
// false and 0 means true, even none, as JSON or YAML, as a flag, or as the key alone, which someone else then joins with
// its value.
var forcedText = regexp.MustCompile(`(?i)^force$|(^|[?&])force(=|&|$)|\bforce\W+true\b|--force\b|\bforce-conflicts\b`)

// TestNoForceInText finds what a linter of identifiers can't: requests that are made forced by their text.
func TestNoForceInText(t *testing.T) {
	files := token.NewFileSet()
	for _, path := range goFiles(t, root) {
		if strings.HasPrefix(path, "test/") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, literal := range forcedLiterals(file) {
			t.Errorf("%s: %s asks the server to force", files.Position(literal.Pos()), literal.Value)
		}
	}
}

func TestForcedLiterals(t *testing.T) {
	const forced, harmless = true, false
	for text, want := range map[string]bool{
		`"force"`:                      forced,
		`"?fieldManager=x&force=true"`: forced,
		`"fieldManager=x&force=1"`:     forced,
		`"/web?force&fieldManager=x"`:  forced,
		`"force="`:                     forced,
		`"force-conflicts"`:            forced,
		"`{\"force\": true}`":          forced,
		`"{\"force\":true}"`:           forced,
		`"force: true"`:                forced,
		`"--force-conflicts"`:          forced,
		`"never forced"`:               harmless,
		`"reinforce = true"`:           harmless,
		`"enforce=warn"`:               harmless,
		`"?reinforce=true"`:            harmless,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; var x = "+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(forcedLiterals(file)) > 0; got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

func forcedLiterals(file *ast.File) (found []*ast.BasicLit) {
	ast.Inspect(file, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && forcedText.MatchString(text) {
			found = append(found, literal)
		}
		return true
	})
	return found
}

// goFiles returns the Go files below a folder with slashes in their paths, sorted.
func goFiles(t *testing.T, folder string) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", ".local", "bin", "testdata"}, entry.Name()):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
