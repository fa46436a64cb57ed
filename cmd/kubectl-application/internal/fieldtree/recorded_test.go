package fieldtree_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

// recordings are objects as real API servers returned them.
const recordings = "../../../../applyconfigs/ownership/testdata/recordings"

func readRecordings(t testing.TB) map[string]*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(recordings + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	all := map[string]*unstructured.Unstructured{}
	for _, path := range files {
		encoded, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Live map[string]any }
		if err := yaml.Unmarshal(encoded, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[filepath.Base(path)] = &unstructured.Unstructured{Object: file.Live}
	}
	return all
}

// Each claim of each manager is found at exactly its field, and no field has an owner that does not claim it.
func TestRecordings(t *testing.T) {
	for name, object := range readRecordings(t) {
		for schema, kind := range map[string]*typed.TypedValue{"with a schema": kindOf(t, object), "without": nil} {
			t.Run(name+" "+schema, func(t *testing.T) {
				tree := build(object, kind)
				checkClaims(t, tree, object.GetManagedFields())
				if len(tree.Problems) > 0 {
					t.Error(tree.Problems)
				}
			})
		}
	}
}

// Where the schema is known, fields end where the API server's own end.
func TestRecordedLeaves(t *testing.T) {
	for name, object := range readRecordings(t) {
		t.Run(name, func(t *testing.T) {
			kind := kindOf(t, object)
			content := object.DeepCopy()
			unstructured.RemoveNestedField(content.Object, "metadata", "managedFields")
			value, err := typed.AsTyped(asValue(content.Object), kind.Schema(), kind.TypeRef(), typed.AllowDuplicates)
			if err != nil {
				t.Fatal(err)
			}
			fields, err := value.ToFieldSet()
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for path := range fields.Leaves().All() {
				want = append(want, path.String())
			}
			build(object, kind).Root.Walk(func(n *fieldtree.Node) bool {
				if n.Leaf() {
					got = append(got, n.Path.String())
				}
				return !n.Whole
			})
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" {
				t.Errorf("leaves (-the API server's +the tree's):\n%s", diff)
			}
		})
	}
}

// checkClaims compares the tree with managedFields, claim by claim.
func checkClaims(t testing.TB, tree *fieldtree.Tree, entries []metav1.ManagedFieldsEntry) {
	t.Helper()
	managed, _ := ownership.Parse(entries)
	shown := make([]*fieldpath.Set, len(managed))
	for i := range shown {
		shown[i] = fieldpath.NewSet()
	}
	tree.Root.Walk(func(n *fieldtree.Node) bool {
		for _, index := range n.Owners {
			if !n.Inside {
				shown[index].Insert(n.Path)
			}
			if !n.Inside && !managed[index].Fields.Has(n.Path) {
				t.Errorf("%s is said to be owned by %s, which does not claim it", n.Path, managed[index].Manager)
			}
		}
		if n.State == fieldtree.Owned != (len(n.Owners) > 0) {
			t.Errorf("%s has state %d and owners %v", n.Path, n.State, n.Owners)
		}
		return true
	})
	for _, claim := range tree.Absent {
		shown[claim.Owner].Insert(claim.Path)
	}
	for i, entry := range managed {
		missing := entry.Fields.Difference(shown[i])
		// A claim on a part of what is owned as a whole is shown there, if it was made under an older schema.
		if !missing.Empty() && !isInsideWhole(tree, missing) {
			t.Errorf("claims of %s that are shown nowhere:\n%s", entry.Manager, missing)
		}
	}
}

func isInsideWhole(tree *fieldtree.Tree, paths *fieldpath.Set) bool {
	inside := fieldpath.NewSet()
	tree.Root.Walk(func(n *fieldtree.Node) bool {
		if n.Inside {
			inside.Insert(n.Path)
		}
		return true
	})
	return paths.Difference(inside).Empty()
}
