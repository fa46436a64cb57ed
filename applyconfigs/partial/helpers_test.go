package partial_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/applyconfigs/partial"
)

var (
	types = applyconfigurations.NewTypeConverter(scheme.Scheme)

	deployments = partial.Kind{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"),
		New:              func() runtime.Object { return &appsv1.Deployment{} },
	}
	services = partial.Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Service"),
		New:              func() runtime.Object { return &corev1.Service{} },
	}
)

// parse reads a partial object from YAML, with the root "it".
func parse(t testing.TB, kind partial.Kind, manifest string) (*partial.Object, error) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return partial.Parse(types, kind, "it", raw)
}

func mustParse(t testing.TB, manifest string) *partial.Object {
	t.Helper()
	object, err := parse(t, deployments, manifest)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func deployment(t testing.TB, manifest string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetGroupVersionKind(deployments.GroupVersionKind)
	return u
}
