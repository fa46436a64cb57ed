package fieldtree_test

import (
	"encoding/json"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

func asValue(content any) value.Value { return value.NewValueInterface(content) }

// FuzzBuild gives the tree any managedFields about any object: it never panics, loses no claim, and invents none.
func FuzzBuild(f *testing.F) {
	for _, object := range readRecordings(f) {
		encoded, err := json.Marshal(object.Object)
		if err != nil {
			f.Fatal(err)
		}
		managed, err := json.Marshal(object.GetManagedFields())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded, managed)
	}
	f.Add([]byte(`{"kind":"X","env":{"A":"1"},"a":[null,1,1.5,[],{}]}`), []byte(`[{"manager":"","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{"v:null":{},"v:1":{},"i:4":{"f:x":{}},"k:{}":{}}}}]`))
	f.Add([]byte(`{"a":[{"k":{"x":1}},{"k":null}]}`), []byte(`[{"operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{".":{},"f:a":{"k:{\"k\":null}":{".":{}}}}},{"operation":"Other"},{}]`))
	deployment := kindOf(f, parse(f, "{apiVersion: apps/v1, kind: Deployment}"))

	f.Fuzz(func(t *testing.T, encoded, encodedManaged []byte) {
		content, managed := map[string]any{}, []metav1.ManagedFieldsEntry{}
		if json.Unmarshal(encoded, &content) != nil || json.Unmarshal(encodedManaged, &managed) != nil {
			t.Skip()
		}
		for _, kind := range []*typed.TypedValue{nil, deployment} {
			before := runtime.DeepCopyJSON(content)
			tree := fieldtree.Build(content, managed, kind)
			if !reflect.DeepEqual(before, content) {
				t.Error("the object was changed")
			}
			checkClaims(t, tree, managed)
			checkContent(t, tree, content)
			tree.Redact()
			for _, path := range tree.Paths() {
				if again := fieldtree.Build(content, managed, kind); !again.KeepField(path) {
					t.Errorf("the tree says that there is a field %s, and does not find it", path)
				}
				break // one is enough: each costs a tree
			}
			tree.KeepManager("")
		}
	})
}

// checkContent compares the tree's content with the object's, of which managedFields are left out.
func checkContent(t testing.TB, tree *fieldtree.Tree, content map[string]any) {
	t.Helper()
	want := runtime.DeepCopyJSON(content)
	if metadata, ok := want["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	if got := tree.Root.Content(); !reflect.DeepEqual(any(want), got) {
		t.Errorf("content is %v, not %v", got, want)
	}
}
