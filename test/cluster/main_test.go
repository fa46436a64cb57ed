package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// envOwner makes the test binary an owner of a cluster for others to kill.
const envOwner = "CLUSTER_TEST_OWNER"

// patience suits two slow cores that other suites keep busy.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(envOwner) != "" {
		runOwner()
	}
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	os.Exit(m.Run())
}

// runOwner starts a cluster, prints its folder and processes, and waits for death.
func runOwner() {
	c, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.Dir(), strings.Trim(fmt.Sprint(pids(c)), "[]"))
	if os.Getenv(envOwner) == "panic" {
		panic("as a test that fails badly")
	}
	select {}
}

// start starts a cluster that ends with the test.
func start(t *testing.T, options Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func pids(c *Cluster) []int {
	ids := []int{c.guard.cmd.Process.Pid}
	for _, p := range c.processes {
		ids = append(ids, p.Pid())
	}
	return ids
}

// running reports whether a process exists that isn't just waiting for its parent
// to notice its end.
func running(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

func expectGone(t *testing.T, dir string, pids []int) {
	t.Helper()
	g := NewWithT(t)
	for _, pid := range pids {
		g.Eventually(func() bool { return running(pid) }).Should(BeFalse(), "process %d still runs", pid)
	}
	g.Eventually(func() error { _, err := os.Stat(dir); return err }).Should(MatchError(os.IsNotExist, "is gone"), dir)
}

// startOwner starts a process that owns a cluster.
func startOwner(t *testing.T, mode string) (owner *exec.Cmd, dir string, ids []int) {
	t.Helper()
	owner = exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), envOwner+"="+mode)
	owner.Stderr = t.Output()
	stdout, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = owner.Process.Kill()
		_ = owner.Wait()
	})

	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the owner didn't start its cluster: %v", err)
	}
	fields := strings.Fields(line)
	for _, field := range fields[1:] {
		id, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("unexpected output %q", line)
		}
		ids = append(ids, id)
	}
	return owner, fields[0], ids
}
