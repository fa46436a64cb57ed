package transfer

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// completeFields offers fields of the Application that the line names, contested ones first.
func (o *options) completeFields(candidates func(*children.Child) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		var contested []string
		found, directive := o.factory.CompleteFrom(func(ctx context.Context, c *cli.Client, args []string) ([]string, error) {
			all, err := o.children(ctx, c, args)
			if err != nil {
				return nil, err
			}
			var fields []string
			for _, child := range all {
				offered, err := candidates(child)
				if err != nil {
					return nil, err
				}
				fields = append(fields, offered...)
				contested = append(contested, contestedFields(child)...)
			}
			return fields, nil
		})(cmd, args, toComplete)
		slices.SortStableFunc(found, func(a, b string) int {
			return rank(contested, a) - rank(contested, b)
		})
		return found, directive | cobra.ShellCompDirectiveKeepOrder
	}
}

func rank(first []string, field string) int {
	if slices.Contains(first, field) {
		return 0
	}
	return 1
}

// children reads the children that the line is about.
func (o *options) children(ctx context.Context, c *cli.Client, args []string) ([]*children.Child, error) {
	if len(args) == 0 {
		return nil, nil
	}
	app, application, err := c.Application(ctx, args[0])
	if err != nil {
		return nil, err
	}
	all, err := children.Read(ctx, c, app, application)
	return slices.DeleteFunc(all, func(child *children.Child) bool {
		return child.Live == nil || child.Intent == nil || o.object != "" && o.object != child.Object
	}), err
}

func contestedFields(child *children.Child) []string {
	plan, err := child.Plan()
	if err != nil {
		return nil
	}
	var fields []string
	for _, conflict := range plan.Conflicts {
		fields = append(fields, conflict.Field)
	}
	return fields
}

// takeCandidates returns what the operator wants and others own.
func takeCandidates(child *children.Child) ([]string, error) {
	others := fieldpath.NewSet()
	for _, entry := range record(child) {
		if isOther(entry.Manager) {
			others = others.Union(entry.Fields)
		}
	}
	return leaves(child.Intent.Fields().Intersection(others)), nil
}

// releaseCandidates returns what the operator owns.
func releaseCandidates(child *children.Child) ([]string, error) {
	managed := record(child)
	return leaves(managed.Fields(operator).Union(managed.Fields(handover))), nil
}

func leaves(fields *fieldpath.Set) []string {
	var paths []string
	fields.Leaves().Iterate(func(path fieldpath.Path) {
		if !ownership.IsKey(path) && path[len(path)-1].Key == nil {
			paths = append(paths, path.String())
		}
	})
	return paths
}

// completeManagers offers the managers that own something of the children already.
func (o *options) completeManagers() cobra.CompletionFunc {
	return o.factory.CompleteFrom(func(ctx context.Context, c *cli.Client, args []string) ([]string, error) {
		all, err := o.children(ctx, c, args)
		var names []string
		for _, child := range all {
			for _, entry := range record(child) {
				if isOther(entry.Manager) && entry.Name != ownership.BeforeFirstApply && !strings.ContainsAny(entry.Name, "\n\t") {
					names = append(names, entry.Name)
				}
			}
		}
		return names, err
	})
}
