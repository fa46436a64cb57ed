// Package tree is the command that shows an Application with all that came of it at one glance.
package tree

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

const long = `Show an Application, its Deployment and Service, and the ReplicaSets and Pods of the Deployment: what is ready, what state it is in,
and how many fields are contested.

CONFLICTS counts the fields of which the Application wants another value than the manager that owns them, as the operator
has reported it; "kubectl application conflicts" tells more. ReplicaSets without pods are counted only.`

const example = `  # The Application web at one glance
  kubectl application tree web

  # In another namespace
  kubectl application tree web --namespace=shop`

// NewCommand returns the command.
func NewCommand(f *cli.Factory) *cobra.Command {
	return &cobra.Command{
		Use:               "tree NAME",
		Short:             "Show an Application and all that came of it at one glance",
		Long:              long,
		Example:           example,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), f, args[0], time.Now())
		},
	}
}

func run(ctx context.Context, f *cli.Factory, name string, now time.Time) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	// What could be read is shown, whatever went wrong with the rest.
	found, err := gather(ctx, c, name)
	if found == nil {
		return err
	}
	return errors.Join(write(f.Out, rows(found, now)), err)
}
