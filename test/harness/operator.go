package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"mycompany.io/application-operator/test/cluster"
)

// startTimeout is how long the operator may take to become ready. Two busy cores are slow.
const startTimeout = 2 * time.Minute

// StartOperator starts the operator's binary with more flags and waits until it is ready.
func (e *Environment) StartOperator(ctx context.Context, flags ...string) error {
	if e.operator != nil {
		return errors.New("the operator runs already")
	}
	var err error
	if e.metrics, err = freeAddress(); err != nil {
		return err
	}
	process, err := e.launch(ctx, e.kubeconfig, append([]string{"--metrics-bind-address=" + e.metrics}, flags...)...)
	e.operator = process
	return err
}

// launch starts one process of the operator and waits until it is ready. The process is not nil once it was started.
func (e *Environment) launch(ctx context.Context, kubeconfig string, flags ...string) (*cluster.Process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	e.starts++
	process, err := e.StartProcess(cluster.ProcessOptions{
		Name: fmt.Sprintf("application-operator-%d", e.starts),
		Path: e.binary,
		Args: append([]string{
			"--kubeconfig=" + kubeconfig,
			"--metrics-bind-address=0",
			"--metrics-secure=false",
			"--health-probe-bind-address=" + address,
			"--zap-encoder=console",
			"--zap-time-encoding=rfc3339nano",
		}, flags...),
		Output: e.output,
		// The race detector ends the operator at the first race.
		Env: []string{"GORACE=halt_on_error=1"},
	})
	if err != nil {
		return nil, err
	}
	return process, waitReady(ctx, process, address)
}

func waitReady(ctx context.Context, operator *cluster.Process, address string) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-operator.Done():
			return false, fmt.Errorf("the operator ended: %w", operator.Err())
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil // not listening yet
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK, nil
	})
	if err != nil {
		log, _ := os.ReadFile(operator.Log())
		return fmt.Errorf("waiting for the operator to become ready: %w\n%s", err, log)
	}
	return nil
}

// StopOperator stops the operator gracefully. It is an error if it does not end with code 0.
func (e *Environment) StopOperator() error {
	process := e.operator
	if process == nil {
		return nil
	}
	e.operator = nil
	return process.Stop()
}

// KillOperator ends the operator at once, in whatever it is doing.
func (e *Environment) KillOperator() {
	if e.operator != nil {
		_ = e.operator.Kill() // the process's end is all that counts
		<-e.operator.Done()
		e.operator = nil
	}
}

// RestartOperator stops the operator gracefully and starts it again.
func (e *Environment) RestartOperator(ctx context.Context, flags ...string) error {
	if err := e.StopOperator(); err != nil {
		return err
	}
	return e.StartOperator(ctx, flags...)
}

// OperatorLog returns what the running operator has logged.
func (e *Environment) OperatorLog() (string, error) {
	if e.operator == nil {
		return "", errors.New("the operator does not run")
	}
	log, err := os.ReadFile(e.operator.Log())
	return string(log), err
}

// OperatorCommand returns the operator's command, not yet started, for tests of the command line itself.
func (e *Environment) OperatorCommand(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, e.binary, args...)
}

// buildOperator builds the operator's command for tests, with the race detector if there is a C compiler.
func buildOperator(ctx context.Context, root string) (string, error) {
	binary := filepath.Join(root, "bin", "test", "application-operator")
	args := []string{"build", "-o", binary}
	if hasCompiler(ctx, root) {
		args = append(args, "-race")
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/application-operator")...)
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the operator: %w\n%s", err, output)
	}
	return binary, nil
}

func hasCompiler(ctx context.Context, root string) bool {
	query := exec.CommandContext(ctx, "go", "env", "CC", "CGO_ENABLED")
	query.Dir = root
	output, err := query.Output()
	if err != nil {
		return false
	}
	compiler, enabled, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	_, err = exec.LookPath(strings.Fields(compiler + " cc")[0])
	return err == nil && enabled != "0"
}

// repositoryRoot returns the folder of go.mod, found upwards from the working directory.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "applyconfigs")); statErr == nil {
			return dir, nil
		}
	}
	return "", errors.Join(errors.New("not inside the repository"), err)
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
