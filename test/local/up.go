package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// upTimeout is for another process to finish its start or its end.
const upTimeout = 5 * time.Minute

func upCommand(s *state) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Start a full control plane in the background",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return up(cmd.Context(), cmd.OutOrStdout(), s)
		},
	}
}

// up starts a process that owns a cluster, unless one runs already, and returns
// once the cluster is ready.
func up(ctx context.Context, out io.Writer, s *state) error {
	running, err := s.owner()
	if err != nil {
		return err
	}
	if running == nil {
		fmt.Fprintln(out, "Starting a control plane in the background …")
		started := time.Now()
		err := startServing(ctx, s)
		switch {
		case err == nil:
			fmt.Fprintf(out, "Ready after %s.\n", time.Since(started).Round(100*time.Millisecond))
		case !errors.Is(err, errOwned):
			return err
		}
	}
	if err := waitUntilPublished(ctx, s); err != nil {
		return err
	}
	if running != nil {
		fmt.Fprintln(out, "A control plane runs already.")
	}
	path, err := filepath.Abs(s.kubeconfig())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n\nStop it with `make cluster-down`.\n", exports(path))
	return nil
}

// startServing starts `serve` in a session of its own, so that it outlives the
// terminal, and waits for its report.
func startServing(ctx context.Context, s *state) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer log.Close()
	report, reportEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer report.Close()

	// Not bound to ctx: it is to go on when this process ends.
	serve := exec.Command(self, "serve", "--state-dir", s.dir)
	serve.Stdout, serve.Stderr = log, log
	serve.ExtraFiles = []*os.File{reportEnd}
	serve.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = serve.Start()
	reportEnd.Close()
	if err != nil {
		return err
	}

	stop := context.AfterFunc(ctx, func() { _ = serve.Process.Signal(syscall.SIGTERM) })
	defer stop()
	// The report ends when the process does, at the latest.
	said, err := io.ReadAll(report)
	switch {
	case err != nil:
		return err
	case string(said) == reportReady:
		return serve.Process.Release()
	}
	_ = serve.Wait()
	switch {
	case string(said) == reportOwned:
		return errOwned
	case ctx.Err() != nil:
		return errors.New("interrupted; nothing was left running")
	case len(said) > 0:
		return errors.New(string(said))
	}
	return fmt.Errorf("the process in the background ended without a word; see %s", s.log())
}

// waitUntilPublished waits until the owner, whoever it is, has a ready cluster.
func waitUntilPublished(ctx context.Context, s *state) error {
	ctx, cancel := context.WithTimeout(ctx, upTimeout)
	defer cancel()
	err := waitFor(ctx, func() (bool, error) {
		running, err := s.owner()
		if err != nil {
			return false, err
		}
		if running == nil {
			return false, errors.New("its process has ended")
		}
		_, err = os.Stat(s.kubeconfig())
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the control plane in the background: %w; see %s", err, s.log())
	}
	return nil
}
