package fieldtree_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

func parse(t testing.TB, manifest string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	if err := object.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return object
}

// kindOf returns the schema of the object's kind, which must have one.
func kindOf(t testing.TB, object *unstructured.Unstructured) *typed.TypedValue {
	t.Helper()
	kind := cli.SchemaOf(object.GroupVersionKind())
	if kind == nil {
		t.Fatalf("no schema of %s", object.GroupVersionKind())
	}
	return kind
}

func build(object *unstructured.Unstructured, kind *typed.TypedValue) *fieldtree.Tree {
	return fieldtree.Build(object.Object, object.GetManagedFields(), kind)
}

// node finds a field by its path. There may be none.
func node(tree *fieldtree.Tree, path string) *fieldtree.Node {
	var found *fieldtree.Node
	tree.Root.Walk(func(n *fieldtree.Node) bool {
		if len(n.Path) > 0 && n.Path.String() == path {
			found = n
		}
		return found == nil
	})
	return found
}

// owners renders who owns a field: manager, operation and subresource of each.
func owners(tree *fieldtree.Tree, n *fieldtree.Node) []string {
	var all []string
	for _, index := range n.Owners {
		entry := tree.Entries[index]
		text := entry.Name + " " + string(entry.Operation)
		if entry.Subresource != "" {
			text += " " + entry.Subresource
		}
		all = append(all, text)
	}
	return all
}
