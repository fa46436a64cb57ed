package ownership

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	applyconfigurations "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

var (
	types         = applyconfigurations.NewTypeConverter(scheme.Scheme)
	deploymentGVK = appsv1.SchemeGroupVersion.WithKind("Deployment")
	us            = Applier("application-operator")
)

const identity = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"

// history makes a Deployment's live state by the field manager that API servers run, though without their defaulting.
type history struct {
	t  testing.TB
	fm managedfieldstest.TestFieldManager
}

func newHistory(t testing.TB) *history {
	t.Helper()
	return &history{t: t, fm: managedfieldstest.NewTestFieldManager(types, deploymentGVK)}
}

// apply does an unforced apply that must succeed.
func (h *history) apply(manager, config string) *history {
	h.t.Helper()
	if err := h.fm.Apply(fromYAML(h.t, identity+config), manager, false); err != nil {
		h.t.Fatalf("apply by %s: %v", manager, err)
	}
	return h
}

// update changes the object in any other way than by apply.
func (h *history) update(manager string, edit func(content map[string]any)) *history {
	h.t.Helper()
	live := h.fm.Live().(*unstructured.Unstructured)
	edit(live.Object)
	if err := h.fm.Update(live, manager); err != nil {
		h.t.Fatalf("update by %s: %v", manager, err)
	}
	return h
}

// live returns the object as a typed client reads it.
func (h *history) live(edits ...func(*appsv1.Deployment)) *appsv1.Deployment {
	h.t.Helper()
	var d appsv1.Deployment
	content := h.fm.Live().(*unstructured.Unstructured).Object
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &d); err != nil {
		h.t.Fatal(err)
	}
	d.UID = "11111111-2222-3333-4444-555555555555"
	for _, edit := range edits {
		edit(&d)
	}
	return &d
}

// through moves what a manager owns to one of its subresources.
func through(subresource, manager string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		for i := range d.ManagedFields {
			if d.ManagedFields[i].Manager == manager {
				d.ManagedFields[i].Subresource = subresource
			}
		}
	}
}

func fromYAML(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func newTestIntent(t testing.TB, config string) *Intent {
	t.Helper()
	intent, err := NewIntent(types, us, fromYAML(t, identity+config))
	if err != nil {
		t.Fatal(err)
	}
	return intent
}

// set reads paths of a Deployment.
func set(t testing.TB, paths ...string) *fieldpath.Set {
	t.Helper()
	s := fieldpath.NewSet()
	for _, path := range paths {
		parsed, err := ParsePath(types, deploymentGVK, path)
		if err != nil {
			t.Fatal(err)
		}
		s.Insert(parsed)
	}
	return s
}

func paths(s *fieldpath.Set) []string {
	var all []string
	s.Iterate(func(path fieldpath.Path) { all = append(all, path.String()) })
	slices.Sort(all)
	return all
}

func wantEqual[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

func entry(manager string, operation metav1.ManagedFieldsOperationType, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager:     manager,
		Operation:   operation,
		Subresource: subresource,
		APIVersion:  "apps/v1",
		FieldsType:  fieldsV1,
		FieldsV1:    metav1.NewFieldsV1(fields),
	}
}

var forms = []string{"typed", "typed, without apiVersion and kind", "unstructured", "unstructured, without apiVersion and kind"}

// inForm returns the live object in one of the forms in which callers may hold it.
func inForm(t testing.TB, form string, d *appsv1.Deployment) Object {
	t.Helper()
	if d == nil {
		return d
	}
	d = d.DeepCopy()
	d.SetGroupVersionKind(deploymentGVK)
	if strings.HasSuffix(form, "without apiVersion and kind") {
		d.TypeMeta = metav1.TypeMeta{}
	}
	if strings.HasPrefix(form, "typed") {
		return d
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}
