package plugin

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// buildPlugin builds the plugin as `make build` does, and returns the folder that is to be on PATH.
func buildPlugin(ctx context.Context) string {
	GinkgoHelper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	Expect(err).NotTo(HaveOccurred())
	folder := GinkgoT().TempDir()
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-X main.version=v1.2.3-test", "-o", folder, "./cmd/kubectl-application")
	build.Dir = root
	output, err := build.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", output)
	Expect(os.Symlink("kubectl-application", filepath.Join(folder, "kubectl_complete-application"))).To(Succeed())
	return folder
}

// result is what a run of kubectl came to.
type result struct {
	stdout, stderr string
	code           int
}

// plugin runs `kubectl application ARGS` in the spec's namespace.
func plugin(ctx context.Context, args ...string) result {
	GinkgoHelper()
	return pluginWithInput(ctx, "", args...)
}

// pluginWithInput is plugin with something on standard input.
func pluginWithInput(ctx context.Context, input string, args ...string) result {
	GinkgoHelper()
	return kubectl(ctx, input, append([]string{"application"}, append(args, "--namespace="+namespace)...)...)
}

// succeeds runs the plugin, expects success, and returns what it printed.
func succeeds(ctx context.Context, args ...string) string {
	GinkgoHelper()
	r := plugin(ctx, args...)
	Expect(r.code).To(BeZero(), "kubectl application %s: %s", strings.Join(args, " "), r.stderr)
	return r.stdout
}

// kubectl runs kubectl with exactly these arguments.
func kubectl(ctx context.Context, input string, args ...string) result {
	GinkgoHelper()
	command, err := env.KubectlCommand(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &stdout, &stderr
	err = command.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		Expect(err).NotTo(HaveOccurred())
	}
	r := result{stdout: stdout.String(), stderr: stderr.String(), code: command.ProcessState.ExitCode()}
	GinkgoWriter.Printf("$ kubectl %s\n%s%s[exit code %d]\n", strings.Join(args, " "), r.stdout, r.stderr, r.code)
	return r
}
