package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

func runPlugin(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	code = run(t.Context(), streams, args)
	return out.String(), errOut.String(), code
}

func TestVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}, {"-v"}} {
		out, errOut, code := runPlugin(t, append([]string{"kubectl-application"}, args...)...)
		if code != 0 || errOut != "" || out != versionString()+"\n" || !strings.HasPrefix(out, "kubectl-application v") {
			t.Errorf("%v: %q, %q, code %d", args, out, errOut, code)
		}
	}
}

// Wrong use ends with 1, and with 2 for the commands that answer by their exit code, where 1 means something else.
func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{args: []string{"nonsense"}, code: 1, want: `error: unknown command "nonsense" for "kubectl application"`},
		{args: []string{"owners"}, code: 1, want: "error: name an Application"},
		{args: []string{"owners", "--nonsense"}, code: 1, want: "error: unknown flag: --nonsense"},
		{args: []string{"tree"}, code: 1, want: "error: accepts 1 arg(s), received 0"},
		{args: []string{"owners", "web", "--color=blue"}, code: 1, want: `error: invalid argument "blue" for "--color" flag: must be auto, always or never`},
		{args: []string{"conflicts", "--nonsense"}, code: 2, want: "error: unknown flag: --nonsense"},
		{args: []string{"diff", "--nonsense"}, code: 2, want: "error: unknown flag: --nonsense"},
	} {
		out, errOut, code := runPlugin(t, append([]string{"kubectl-application"}, test.args...)...)
		if code != test.code || out != "" || !strings.HasPrefix(errOut, test.want) {
			t.Errorf("%v: %q, %q, code %d", test.args, out, errOut, code)
		}
	}
}

// kubectl starts the completer with what is to be completed.
func TestCompleter(t *testing.T) {
	for name, want := range map[string]bool{
		"/usr/bin/kubectl_complete-application":   true,
		"kubectl_complete-application.exe":        true,
		"/home/me/kubectl-application":            false,
		"/kubectl_complete-application/something": false,
	} {
		if got := arguments([]string{name, "own"}); slices.Equal(got, []string{cobra.ShellCompRequestCmd, "own"}) != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	out, _, code := runPlugin(t, completer, "own")
	if code != 0 || !strings.HasPrefix(out, "owners\t") {
		t.Errorf("%q, code %d", out, code)
	}
}

// Every command says what it does, how it is called and what for, and completes what it can.
func TestHelp(t *testing.T) {
	root := newRootCommand(cli.NewFactory(genericiooptions.NewTestIOStreamsDiscard()))
	for _, command := range root.Commands() {
		if command.Hidden {
			continue
		}
		if command.Short == "" || command.Long == "" || !strings.Contains(command.Example, "kubectl application "+command.Name()) {
			t.Errorf("%s has no description, or no example", command.Name())
		}
		if command.ValidArgsFunction == nil {
			t.Errorf("%s offers files as arguments", command.Name())
		}
		command.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s is not explained", command.Name(), f.Name)
			}
		})
		help, _, code := runPlugin(t, "kubectl-application", command.Name(), "--help")
		if code != 0 || !strings.Contains(help, "\n  kubectl application "+command.Name()) {
			t.Errorf("%s --help: code %d\n%s", command.Name(), code, help)
		}
		for line := range strings.Lines(help) {
			if strings.Contains(line, "kubectl-application ") {
				t.Errorf("%s --help names the binary: %s", command.Name(), line)
			}
		}
	}
}

// The help of these commands is what the README and people quote.
func TestHelpGolden(t *testing.T) {
	for _, name := range []string{"owners", "tree", "version", "options"} {
		help, _, _ := runPlugin(t, "kubectl-application", name, "--help")
		path := filepath.Join("testdata", name+".help.txt")
		if *update {
			if err := os.WriteFile(path, []byte(help), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), help); diff != "" {
			t.Errorf("%s, written anew with -update (-want +got):\n%s", path, diff)
		}
	}
}

// The flags are kubectl's own.
func TestOptions(t *testing.T) {
	out, _, code := runPlugin(t, "kubectl-application", "options")
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	for _, flag := range []string{"--kubeconfig", "--context", "-n, --namespace", "--as ", "--as-group", "--request-timeout", "--color"} {
		if !strings.Contains(out, flag) {
			t.Errorf("%s is missing", flag)
		}
	}
}
