package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"mycompany.io/application-operator/test/cluster"
)

const (
	ownerUp  = "cluster-up"
	ownerRun = "run"

	// reportFile is the file descriptor on which `up` waits for a report.
	reportFile = 3
	// reportReady is the report of success, reportOwned says that another process
	// was faster; anything else is an error.
	reportReady = "ready"
	reportOwned = "owned"
)

// serveCommand is the process in the background that `up` starts.
func serveCommand(s *state) *cobra.Command {
	return &cobra.Command{
		Use:    "serve",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report := os.NewFile(reportFile, "report")
			if info, err := report.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
				return errors.New("only `local up` starts this")
			}
			// The cluster's processes must not keep it open.
			syscall.CloseOnExec(reportFile)
			err := serve(cmd.Context(), s, report)
			// Nobody reads it any more if the cluster was ready before.
			switch {
			case errors.Is(err, errOwned):
				_, _ = fmt.Fprint(report, reportOwned)
			case err != nil:
				_, _ = fmt.Fprint(report, err)
			}
			return err
		},
	}
}

// serve owns a cluster until a signal ends it.
func serve(ctx context.Context, s *state, report *os.File) (err error) {
	release, err := s.own(ownerUp)
	if err != nil {
		return err
	}
	defer release()

	c, err := cluster.Start(ctx, cluster.Options{Controllers: true, Dir: s.clusterDir()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if err := s.publish(c.Kubeconfig()); err != nil {
		return err
	}
	if _, err := fmt.Fprint(report, reportReady); err != nil {
		return fmt.Errorf("report to `local up`: %w", err)
	}
	report.Close()

	<-ctx.Done()
	return nil
}
