package yamlview_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

var update = flag.Bool("update", false, "write the golden files anew")

// now is when the tests take place: a while after the entries in testdata.
var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func read(t testing.TB, path string) *fieldtree.Tree {
	t.Helper()
	encoded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(encoded, &object.Object); err != nil {
		t.Fatal(err)
	}
	return fieldtree.Build(object.Object, object.GetManagedFields(), cli.SchemaOf(object.GroupVersionKind()))
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s, written anew with -update (-want +got):\n%s", path, diff)
	}
}
