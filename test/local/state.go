package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// state is the folder that tells whether a cluster runs here. Its owner, the
// process that the cluster belongs to, holds a lock as long as it lives, so what
// a killed owner left is never taken for a running cluster.
type state struct {
	dir string
}

func (s *state) kubeconfig() string { return filepath.Join(s.dir, "kubeconfig") }
func (s *state) clusterDir() string { return filepath.Join(s.dir, "cluster") }
func (s *state) log() string        { return filepath.Join(s.dir, "cluster.log") }
func (s *state) ownerFile() string  { return filepath.Join(s.dir, "owner") }

// owner is the process that a cluster belongs to.
type owner struct {
	pid     int
	command string // "up" or "run"
}

// errOwned is returned by own if a cluster runs already.
var errOwned = errors.New("a cluster runs here already")

// own makes this process the owner until the returned function is called.
func (s *state) own(command string) (release func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.ownerFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errOwned
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	// What is there now was left by an owner that is gone.
	err = os.Remove(s.kubeconfig())
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = rewrite(f, fmt.Sprintf("%d %s\n", os.Getpid(), command))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		_ = os.Remove(s.kubeconfig())
		f.Close() // the content means nothing without the lock, and others may be reading it
	}, nil
}

// rewrite replaces the content of a file that others may be reading: the first line is never missing.
func rewrite(f *os.File, line string) error {
	if _, err := f.WriteAt([]byte(line), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(line)))
}

// owner returns the owner, nil if there is none.
func (s *state) owner() (*owner, error) {
	f, err := os.OpenFile(s.ownerFile(), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		return nil, nil // nobody holds it
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("look at the lock %s: %w", f.Name(), err)
	}
	content, err := os.ReadFile(f.Name())
	if err != nil {
		return nil, err
	}
	for tries := 0; len(content) == 0 && tries < 100; tries++ {
		time.Sleep(10 * time.Millisecond) // its owner has just come, and is about to write
		if content, err = os.ReadFile(f.Name()); err != nil {
			return nil, err
		}
	}
	line, _, _ := strings.Cut(string(content), "\n")
	id, command, _ := strings.Cut(line, " ")
	pid, err := strconv.Atoi(id)
	if err != nil {
		return nil, fmt.Errorf("%s is locked but names no process: %q", f.Name(), content)
	}
	return &owner{pid: pid, command: command}, nil
}

// publish makes the kubeconfig known. It is there in whole or not at all.
func (s *state) publish(kubeconfig string) error {
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return err
	}
	unfinished := s.kubeconfig() + ".new"
	if err := os.WriteFile(unfinished, content, 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, s.kubeconfig())
}

// waitFor polls until the condition holds: locks and files of another process
// can't be watched portably.
func waitFor(ctx context.Context, condition func() (bool, error)) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		done, err := condition()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
