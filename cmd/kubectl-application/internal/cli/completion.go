package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// completionTimeout is how long a person who pressed the tabulator is kept waiting.
const completionTimeout = 5 * time.Second

// CompleteNames offers the names of Applications as the only argument.
func (f *Factory) CompleteNames(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return f.complete(cmd, toComplete, func(ctx context.Context, c *Client) ([]string, error) {
		return c.Names(ctx, v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind))
	})
}

// CompleteNamespaces offers the names of namespaces.
func (f *Factory) CompleteNamespaces(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return f.complete(cmd, toComplete, func(ctx context.Context, c *Client) ([]string, error) {
		everywhere := *c
		everywhere.Namespace = ""
		return everywhere.Names(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	})
}

// CompleteFrom returns a completion that offers what candidates finds in the cluster.
func (f *Factory) CompleteFrom(candidates func(ctx context.Context, c *Client, args []string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return f.complete(cmd, toComplete, func(ctx context.Context, c *Client) ([]string, error) {
			return candidates(ctx, c, args)
		})
	}
}

// CompleteObjects offers the values of --object.
func CompleteObjects(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return strings.Split(joinObjects(" "), " "), cobra.ShellCompDirectiveNoFileComp
}

// Names returns the names of all objects of the kind in the client's namespace. Only metadata is fetched.
func (c *Client) Names(ctx context.Context, gvk schema.GroupVersionKind) ([]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk)
	if err := c.List(ctx, list, client.InNamespace(c.Namespace)); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}

func (f *Factory) complete(cmd *cobra.Command, toComplete string, candidates func(context.Context, *Client) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, completionTimeout)
	defer cancel()
	c, err := f.Client()
	if err != nil {
		cobra.CompErrorln(err.Error())
		return nil, cobra.ShellCompDirectiveError
	}
	found, err := candidates(ctx, c)
	if err != nil {
		cobra.CompErrorln(err.Error())
		return nil, cobra.ShellCompDirectiveError
	}
	found = slices.DeleteFunc(found, func(s string) bool { return !strings.HasPrefix(s, toComplete) })
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
}
