package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mycompany.io/application-operator/test/cluster"
)

// demoTimeout is for all of it, on a slow and busy machine.
const demoTimeout = 15 * time.Minute

func demoCommand() *cobra.Command {
	i := &installation{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show and check what the operator does, in a cluster of its own",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo(cmd.Context(), cmd.OutOrStdout(), i)
		},
	}
	i.bindFlags(cmd)
	return cmd
}

// demo returns an error unless everything that it shows is as it should be.
func demo(ctx context.Context, out io.Writer, i *installation) (err error) {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()

	if err := i.check(); err != nil {
		return err
	}
	c, err := startCluster(ctx, out, cluster.Options{Controllers: true, CRDs: []string{i.crds()}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()

	t := &terminal{cluster: c, out: out}
	if err := i.authorize(ctx, t); err != nil {
		return interrupted(ctx, err)
	}
	// Its log would only hide the commands; it is shown if something fails.
	operator, err := i.start(c, nil)
	if err != nil {
		return err
	}
	if err := whileRunning(ctx, operator, func(ctx context.Context) error { return story(ctx, t, i) }); err != nil {
		return fmt.Errorf("%w\nThe operator's last lines:\n%s", err, operator.LogTail())
	}
	if err := operator.Stop(); err != nil {
		return err
	}
	t.say("All of it held.")
	return nil
}

// whileRunning gives up as soon as the operator has ended: there is nothing left
// to wait for.
func whileRunning(ctx context.Context, operator *cluster.Process, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-operator.Done():
			cancel(errors.New("the operator ended by itself"))
		case <-ctx.Done():
		}
	}()
	if err := do(ctx); err != nil {
		return interrupted(ctx, err)
	}
	return nil
}

// story is what the demo shows, step by step.
func story(ctx context.Context, t *terminal, i *installation) error {
	for _, step := range []func(context.Context, *terminal, *installation) error{
		showDeployment, showOwnership, showConflict, showResolution,
	} {
		if err := step(ctx, t, i); err != nil {
			return err
		}
	}
	return nil
}
