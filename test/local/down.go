package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

func downCommand(s *state) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the control plane in the background",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return down(cmd.Context(), cmd.OutOrStdout(), s)
		},
	}
}

// down ends the owner of the cluster and waits until it is gone. The logs stay
// until the next start.
func down(ctx context.Context, out io.Writer, s *state) error {
	running, err := s.owner()
	if err != nil {
		return err
	}
	if running == nil {
		// A killed owner can't have removed it.
		if err := os.Remove(s.kubeconfig()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fmt.Fprintln(out, "No cluster runs.")
		return nil
	}
	if err := syscall.Kill(running.pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop process %d, which owns the cluster: %w", running.pid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, upTimeout)
	defer cancel()
	err = waitFor(ctx, func() (bool, error) {
		now, err := s.owner()
		return now == nil || now.pid != running.pid, err
	})
	if err != nil {
		return fmt.Errorf("wait for process %d to stop the cluster: %w", running.pid, err)
	}
	fmt.Fprintln(out, "The cluster is stopped.")
	return nil
}
