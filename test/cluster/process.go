package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// stopTimeout is how long Process.Stop waits before it kills.
const stopTimeout = 30 * time.Second

// ProcessOptions say how to run a program beside a cluster.
type ProcessOptions struct {
	// Name is used in messages and names the log file.
	Name string
	// Path is the program, Args are its arguments without the program's name.
	Path string
	Args []string
	// Env is added to this process's environment.
	Env []string
	// Output receives a copy of what the program prints, if not nil.
	Output io.Writer
}

// Process is a program that runs beside a cluster and ends with it at the latest.
type Process struct {
	name string
	cmd  *exec.Cmd
	log  string

	done    chan struct{}
	err     error       // valid once done is closed
	stopped atomic.Bool // its end was asked for
}

// startProcess starts a program in a process group of its own, so that Ctrl-C in
// a terminal reaches only the owner, which then ends things in order.
func startProcess(g *guard, logs string, o ProcessOptions) (*Process, error) {
	p := &Process{
		name: o.Name,
		cmd:  exec.Command(o.Path, o.Args...),
		log:  filepath.Join(logs, o.Name+".log"),
		done: make(chan struct{}),
	}
	// Appending keeps what was logged before a restart.
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", o.Name, err)
	}

	p.cmd.Env = append(os.Environ(), o.Env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stdout = log
	if o.Output != nil {
		p.cmd.Stdout = io.MultiWriter(log, o.Output)
	}
	p.cmd.Stderr = p.cmd.Stdout
	// A grandchild that keeps the output open must not delay the end.
	p.cmd.WaitDelay = 5 * time.Second

	if err := p.cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("start %s: %w", o.Name, err)
	}
	group := p.cmd.Process.Pid
	guardErr := g.add(group)
	go func() {
		p.err = p.cmd.Wait()
		log.Close()
		_ = g.remove(group) // fails only if the guard ended first
		close(p.done)
	}()
	if guardErr != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", o.Name, guardErr), p.Kill())
	}
	return p, nil
}

// Pid returns the process's id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Log returns the file that holds everything the process printed.
func (p *Process) Log() string { return p.log }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the process ended: nil for exit code 0. It waits for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Stop asks the process to end (SIGTERM) and waits for it; after half a minute it
// kills it and returns an error. Like Err, it reports an exit code other than 0.
func (p *Process) Stop() error {
	p.stopped.Store(true)
	if err := p.signal(p.Pid(), syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("%s ended with %w; its last lines:\n%s", p.name, p.err, p.LogTail())
		}
		return nil
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("%s didn't end within %s after SIGTERM and was killed", p.name, stopTimeout), p.Kill())
	}
}

// Kill ends the process as a crash would (SIGKILL), along with its children, and
// waits until it is gone.
func (p *Process) Kill() error {
	p.stopped.Store(true)
	if err := p.signal(-p.Pid(), syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// signal sends a signal to the process, or to its group if target is negative.
// That it has ended already is no error.
func (p *Process) signal(target int, s syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := syscall.Kill(target, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %s to %s: %w", s, p.name, err)
	}
	return nil
}

// failure returns an error if the process has ended without having been asked to.
func (p *Process) failure() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.stopped.Load() {
		return nil
	}
	state := "exit code 0"
	if p.err != nil {
		state = p.err.Error()
	}
	return fmt.Errorf("%s ended by itself (%s); its last lines:\n%s", p.name, state, p.LogTail())
}
