package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/test/cluster"
)

// paste runs a command line as a person would who has copied it into a shell, and answers questions with yes.
func paste(ctx context.Context, line string) result {
	GinkgoHelper()
	kubectl, err := cluster.KubectlPath()
	Expect(err).NotTo(HaveOccurred())
	like, err := env.KubectlCommand(ctx)
	Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(ctx, "sh", "-c", "PATH="+filepath.Dir(kubectl)+":$PATH\n"+line)
	command.Env = like.Env
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader("y\n"), &stdout, &stderr
	_ = command.Run() // the code tells
	r := result{stdout: stdout.String(), stderr: stderr.String(), code: command.ProcessState.ExitCode()}
	GinkgoWriter.Printf("$ %s\n%s%s[exit code %d]\n", line, r.stdout, r.stderr, r.code)
	return r
}

// conflict is what "conflicts --output=json" prints, read by somebody who knows the documentation only.
type conflict struct {
	Kind, Name, Field, Excludes, Application, Namespace string
	Wanted, Live                                        any
	Owners                                              []struct{ Manager, Operation, Subresource, Since string }
	Redacted                                            bool
	Resolutions                                         []resolution
}

type resolution struct {
	Outcome, Description string
	Commands             []string
}

// listConflicts asks the plugin what is contested.
func listConflicts(ctx context.Context, args ...string) []conflict {
	GinkgoHelper()
	r := plugin(ctx, append([]string{"conflicts", "--output=json"}, args...)...)
	Expect(r.code).To(BeElementOf(0, 1), r.stderr)
	var list struct{ Items []conflict }
	Expect(json.Unmarshal([]byte(r.stdout), &list)).To(Succeed(), r.stdout)
	Expect(r.code).To(Equal(min(len(list.Items), 1)), "the exit code tells")
	return list.Items
}
