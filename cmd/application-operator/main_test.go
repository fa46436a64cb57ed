package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asOperator makes the test binary be the operator: some things show only in a process of its own.
const asOperator = "TEST_RUN_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
	}
	os.Exit(m.Run())
}

// operator runs the operator outside of a cluster, without any configuration but the given environment.
func operator(t *testing.T, environment []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append([]string{asOperator + "=1", "HOME=" + t.TempDir(), "GOCOVERDIR=" + t.TempDir()}, environment...)
	command.Stdout, command.Stderr = &out, &errOut
	err := command.Run()
	exit := &exec.ExitError{}
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), errOut.String()
}

func TestOperatorProcess(t *testing.T) {
	noCRD := newAPIServer(t, nil)
	for _, c := range []struct {
		name        string
		environment []string
		args        []string
		code        int
		stdout      string
		says        []string // in one line of stderr
	}{
		{"version", nil, []string{"--version"}, 0, "application-operator " + version, nil},
		{"no configuration at all", nil, nil, 1, "", []string{"application-operator: no configuration of a cluster", "--kubeconfig"}},
		{"KUBECONFIG to nowhere", []string{"KUBECONFIG=/does/not/exist"}, nil, 1, "", []string{"application-operator: no configuration of a cluster"}},
		{"no CRD", []string{"KUBECONFIG=" + kubeconfig(t, noCRD.URL)}, nil, 1, "", []string{"application-operator: the API server ", "CustomResourceDefinition"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := operator(t, c.environment, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.HasPrefix(stdout, c.stdout) || (stdout == "") != (c.stdout == "") {
				t.Errorf("stdout %q, want %q", stdout, c.stdout)
			}
			if (stderr == "") != (c.says == nil) {
				t.Errorf("stderr %q", stderr)
			}
			checkSentence(t, "stderr", stderr, c.says)
		})
	}
}
