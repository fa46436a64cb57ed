package transition_test

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

var types = applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)

var (
	operator = ownership.Applier(v1alpha1.FieldManager)
	handover = ownership.Applier(v1alpha1.FieldManagerHandover)
)

// server is one Deployment as the API server's own field manager keeps it. What it lacks is defaulting and validation,
// which the suites on a real API server add.
type server struct {
	t       *testing.T
	manager managedfieldstest.TestFieldManager
}

func newServer(t *testing.T) *server {
	return &server{t: t, manager: managedfieldstest.NewTestFieldManager(types, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
}

// apply sends an unforced apply.
func (s *server) apply(manager, config string) {
	s.t.Helper()
	if err := s.manager.Apply(deployment(s.t, config), manager, false); err != nil {
		s.t.Fatalf("apply by %s: %v", manager, err)
	}
}

// force sends a forced apply.
func (s *server) force(manager, config string) {
	s.t.Helper()
	if err := s.manager.Apply(deployment(s.t, config), manager, true); err != nil {
		s.t.Fatalf("forced apply by %s: %v", manager, err)
	}
}

// update merges into the live object and writes it back, as every write does that is no apply.
func (s *server) update(manager, change string) {
	s.t.Helper()
	live := s.live()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		s.t.Fatal(err)
	}
	merge(content, deployment(s.t, change).Object)
	delete(content["metadata"].(map[string]any), "managedFields")
	if err := s.manager.Update(&unstructured.Unstructured{Object: content}, manager); err != nil {
		s.t.Fatalf("update by %s: %v", manager, err)
	}
}

// scaleToZero leaves what a scale to zero does: a count of 0 that nobody owns.
func (s *server) scaleToZero() { s.count(0) }

// count leaves a count that nobody owns.
func (s *server) count(replicas int) {
	s.t.Helper()
	const scaler = "scale"
	s.update(scaler, fmt.Sprintf("{replicas: %d}", replicas))
	live := s.live()
	live.ManagedFields = slices.DeleteFunc(live.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == scaler })
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		s.t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	if err := s.manager.Update(object, scaler); err != nil {
		s.t.Fatal(err)
	}
}

// live returns the Deployment as a client reads it.
func (s *server) live() *appsv1.Deployment {
	s.t.Helper()
	live := &appsv1.Deployment{}
	raw, err := yaml.Marshal(s.manager.Live())
	if err == nil {
		err = yaml.Unmarshal(raw, live)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return live
}

// owners returns the managers of a field, sorted.
func (s *server) owners(path string) []string {
	s.t.Helper()
	field, err := ownership.ParsePath(types, appsv1.SchemeGroupVersion.WithKind("Deployment"), path)
	if err != nil {
		s.t.Fatal(err)
	}
	managed, err := ownership.Parse(s.live().ManagedFields)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, entry := range managed.Owners(field) {
		names = append(names, entry.Name)
	}
	return names
}

func intent(t *testing.T, config string) *ownership.Intent {
	t.Helper()
	i, err := ownership.NewIntent(types, operator, deployment(t, config))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func deployment(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: "+spec+"}"), &content); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

// merge writes change over content, maps key by key, everything else whole.
func merge(content, change map[string]any) {
	for key, value := range change {
		inner, isMap := value.(map[string]any)
		existing, wasMap := content[key].(map[string]any)
		switch {
		case value == nil:
			delete(content, key)
		case isMap && wasMap:
			merge(existing, inner)
		default:
			content[key] = value
		}
	}
}
