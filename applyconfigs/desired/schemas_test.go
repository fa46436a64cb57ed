package desired_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs"
)

// TestKeyedLists: what the CustomResourceDefinition says of the lists inside spec.deployment and spec.service is what the
// API server says of them in the children, and no list with keys is forgotten.
func TestKeyedLists(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	own := keyedLists(t, applyconfigs.NewTypeConverter(scheme), v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind))
	for kind, field := range map[schema.GroupVersionKind]string{
		{Group: "apps", Version: "v1", Kind: "Deployment"}: ".spec.deployment",
		{Version: "v1", Kind: "Service"}:                   ".spec.service",
	} {
		want, got := map[string]string{}, map[string]string{}
		for path, keys := range keyedLists(t, childTypes, kind) {
			switch {
			case !strings.HasPrefix(path, ".spec."): // the operator's
			case strings.Contains(path, ".ownerReferences"): // of what nobody makes by hand
			case strings.Contains(path, ".ephemeralContainers"): // of running pods only
			default:
				want[path] = keys
			}
		}
		for path, keys := range own {
			if inside, ok := strings.CutPrefix(path, field); ok {
				got[inside] = keys
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s has, and %s has not, these lists (-want +got):\n%s", kind.Kind, field, diff)
		}
	}
}

// keyedLists returns the keys, with their defaults, of each list of a kind that has some, by its path.
func keyedLists(t *testing.T, types managedfields.TypeConverter, kind schema.GroupVersionKind) map[string]string {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	root, err := types.ObjectToTyped(object)
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string]string{}
	collectKeyedLists(root, root.TypeRef(), "", lists)
	return lists
}

func collectKeyedLists(root *typed.TypedValue, ref smdschema.TypeRef, path string, lists map[string]string) {
	atom, ok := root.Schema().Resolve(ref)
	switch {
	case !ok || ref.NamedType != nil && strings.HasPrefix(*ref.NamedType, "__untyped"):
	case atom.Map != nil && atom.Map.ElementRelationship != smdschema.Atomic:
		for _, field := range atom.Map.Fields {
			collectKeyedLists(root, field.Type, path+"."+field.Name, lists)
		}
	case atom.List != nil && len(atom.List.Keys) > 0:
		element, _ := root.Schema().Resolve(atom.List.ElementType)
		keys := map[string]string{}
		for _, name := range atom.List.Keys {
			key, _ := element.Map.FindField(name)
			if keys[name] = name; key.Default != nil && key.Default != "" && key.Default != 0 {
				keys[name] += fmt.Sprintf("=%v", key.Default)
			}
		}
		lists[path] = strings.Join(slices.Sorted(maps.Values(keys)), ",")
		collectKeyedLists(root, atom.List.ElementType, path+"[]", lists)
	}
}
