// Package suggest completes what is to be found in objects: the paths of their fields, and their managers.
package suggest

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

// Fields completes paths of fields of the objects that the first argument names: an Application's children, or those that
// which chooses; or TYPE/NAME.
func Fields(f *cli.Factory, which func() []cli.Object) cobra.CompletionFunc {
	return fromTrees(f, which, (*fieldtree.Tree).Paths)
}

// Managers completes names of managers of those objects.
func Managers(f *cli.Factory, which func() []cli.Object) cobra.CompletionFunc {
	return fromTrees(f, which, func(tree *fieldtree.Tree) []string {
		names := make([]string, 0, len(tree.Entries))
		for _, entry := range tree.Entries {
			names = append(names, entry.Name)
		}
		return names
	})
}

func fromTrees(f *cli.Factory, which func() []cli.Object, candidates func(*fieldtree.Tree) []string) cobra.CompletionFunc {
	return f.CompleteFrom(func(ctx context.Context, c *cli.Client, args []string) ([]string, error) {
		if len(args) == 0 {
			return nil, nil
		}
		objects, err := read(ctx, c, args[0], which())
		if err != nil {
			return nil, err
		}
		var found []string
		for _, object := range objects {
			tree := fieldtree.Build(object.Object, object.GetManagedFields(), cli.SchemaOf(object.GroupVersionKind()))
			found = append(found, candidates(tree)...)
		}
		return found, nil
	})
}

func read(ctx context.Context, c *cli.Client, arg string, which []cli.Object) ([]*unstructured.Unstructured, error) {
	if strings.Contains(arg, "/") {
		reference, err := c.Resolve(arg)
		if err != nil {
			return nil, err
		}
		object, err := c.Read(ctx, reference)
		return []*unstructured.Unstructured{object}, err
	}
	_, application, err := c.Application(ctx, arg)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, one := range which {
		// A child that is not there has nothing to offer.
		if object, err := c.Object(ctx, application, one); err == nil {
			objects = append(objects, object)
		}
	}
	return objects, nil
}
