package cluster

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// guardScript outlives the process that owns the cluster by a moment. Its input
// is a pipe that only the owner can write to: each line lists the process groups
// that run now, and the end of input means that the owner has ended, in whatever
// way. What then still runs is killed, and the folder in $1, if any, removed.
// Signals are ignored because a terminal sends them to the owner's whole group.
const guardScript = `
trap '' HUP INT TERM
groups=
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
[ -n "$1" ] || exit 0
for attempt in 1 2 3 4 5; do
  rm -rf -- "$1" && exit 0
  sleep 1
done`

// guard cleans up for an owner that can't: one that is killed, panics, calls
// os.Exit or is stopped by a signal that it doesn't handle.
type guard struct {
	cmd   *exec.Cmd
	input io.WriteCloser

	mu     sync.Mutex
	groups []int
}

// startGuard starts a guard. It removes dir in the end, unless that is empty.
func startGuard(dir string) (*guard, error) {
	g := &guard{cmd: exec.Command("/bin/sh", "-c", guardScript, "cluster-guard", dir)}
	g.cmd.Dir = "/"
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := g.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	g.input = input
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the process that cleans up if this one is killed: %w", err)
	}
	return g, nil
}

func (g *guard) add(group int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups = append(g.groups, group)
	return g.tell()
}

func (g *guard) remove(group int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups = slices.DeleteFunc(g.groups, func(other int) bool { return other == group })
	return g.tell()
}

func (g *guard) tell() error {
	ids := make([]string, len(g.groups))
	for i, group := range g.groups {
		ids[i] = strconv.Itoa(group)
	}
	_, err := fmt.Fprintln(g.input, strings.Join(ids, " "))
	return err
}

// finish lets the guard do its work now and waits for it.
func (g *guard) finish() error {
	g.mu.Lock()
	err := g.input.Close()
	g.mu.Unlock()
	if err != nil {
		return err
	}
	return g.cmd.Wait()
}
