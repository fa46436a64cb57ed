package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mycompany.io/application-operator/test/cluster"
)

// terminal shows commands and their output as a person would see them.
type terminal struct {
	cluster *cluster.Cluster
	out     io.Writer
}

// say prints a paragraph of explanation.
func (t *terminal) say(format string, args ...any) {
	fmt.Fprintf(t.out, "\n"+format+"\n", args...)
}

// kubectl shows a kubectl command, then its output, and returns the latter.
func (t *terminal) kubectl(ctx context.Context, args ...string) (string, error) {
	fmt.Fprintf(t.out, "$ kubectl %s\n", shellJoin(args))
	cmd, err := t.cluster.KubectlCommand(ctx, args...)
	if err != nil {
		return "", err
	}
	var stdout strings.Builder
	cmd.Stdout = io.MultiWriter(t.out, &stdout)
	cmd.Stderr = t.out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w", shellJoin(args), err)
	}
	output := stdout.String()
	if output != "" && !strings.HasSuffix(output, "\n") {
		fmt.Fprintln(t.out) // jsonpath output has no end of line
	}
	return strings.TrimSpace(output), nil
}

// all shows kubectl commands whose output needs no check.
func (t *terminal) all(ctx context.Context, commands ...[]string) error {
	for _, args := range commands {
		if _, err := t.kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// shellJoin quotes arguments so that the line can be pasted into a shell.
func shellJoin(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		flag, value, ok := strings.Cut(arg, "=")
		if ok && strings.HasPrefix(flag, "-") {
			quoted[i] = flag + "=" + shellQuote(value)
		} else {
			quoted[i] = shellQuote(arg)
		}
	}
	return strings.Join(quoted, " ")
}

func shellQuote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`{}[]()*?<>|&;#~!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plugin is where `make build` puts the kubectl plugin.
var plugin = filepath.Join("bin", "kubectl-application")

// exports returns the lines that make another terminal use the cluster and, if it was built, the plugin.
func exports(kubeconfig string) string {
	lines := "export KUBECONFIG=" + shellQuote(kubeconfig)
	if _, err := exec.LookPath("kubectl"); err != nil {
		if path, err := cluster.KubectlPath(); err == nil {
			lines += "\nalias kubectl=" + shellQuote(path)
		}
	}
	if folder, err := filepath.Abs(filepath.Dir(plugin)); err == nil && isFile(plugin) {
		lines += "\nexport PATH=" + shellQuote(folder) + ":$PATH"
	}
	return lines
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
