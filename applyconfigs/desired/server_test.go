package desired_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/test/cluster"
)

var (
	programs = flag.Int("programs", 60, "number of random partial objects of each kind")
	seed     = flag.Uint64("seed", 1, "seed of the random partial objects")

	childTypes = applyconfigurations.NewTypeConverter(scheme.Scheme)
)

// TestPartialsAgainstServer compares what a random partial object is merged to with what a real API server makes of it.
// There, somebody else applies the partial object itself over what the operator has applied.
func TestPartialsAgainstServer(t *testing.T) {
	s := startServer(t)
	t.Run("empty", func(t *testing.T) {
		checkEmptyValues(t, map[string]dynamic.ResourceInterface{
			"Deployment": s.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(s.namespace),
			"Service":    s.Resource(corev1.SchemeGroupVersion.WithResource("services")).Namespace(s.namespace),
		})
	})
	for n := range *programs {
		for _, k := range []struct {
			kind     string
			resource schema.GroupVersionResource
			random   func(*rand.Rand) (*v1alpha1.Application, string)
		}{
			{"Deployment", appsv1.SchemeGroupVersion.WithResource("deployments"), randomPartialDeployment},
			{"Service", corev1.SchemeGroupVersion.WithResource("services"), randomPartialService},
		} {
			t.Run(fmt.Sprintf("%s-%d", k.kind, n), func(t *testing.T) {
				app, manifest := k.random(rand.New(rand.NewPCG(*seed, uint64(n))))
				defer func() {
					if t.Failed() {
						t.Logf("repeat with -seed=%d; the partial object was\n%s", *seed, manifest)
					}
				}()
				objects := s.Resource(k.resource).Namespace(s.namespace)
				checkMerge(t, objects, k.kind, app, manifest)
			})
		}
	}
}

func checkMerge(t *testing.T, objects dynamic.ResourceInterface, kind string, app *v1alpha1.Application, manifest string) {
	t.Helper()
	app.Name = fmt.Sprintf("web-%d", rand.Int64())
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	base := childOf(t, app, kind)
	if kind == "Deployment" {
		app.Spec.Deployment = &runtime.RawExtension{Raw: raw}
	} else {
		app.Spec.Service = &runtime.RawExtension{Raw: raw}
	}
	merged := childOf(t, app, kind)

	apply(t, objects, "operator", base.Object())
	partial := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &partial.Object); err != nil {
		t.Fatal(err)
	}
	partial.Object = withoutNulls(partial.Object)
	partial.SetGroupVersionKind(base.Object().GroupVersionKind())
	partial.SetName(app.Name)
	theirs := apply(t, objects, "somebody", partial)
	if err := objects.Delete(t.Context(), app.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	apply(t, objects, "operator", base.Object())
	ours := apply(t, objects, "operator", merged.Object())
	if diff := cmp.Diff(content(theirs), content(ours)); diff != "" {
		t.Errorf("the API server merges otherwise (-server +ours):\n%s", diff)
	}
	owners, err := ownership.Parse(theirs.GetManagedFields())
	if err != nil {
		t.Fatal(err)
	}
	separate := owners.Fields(ownership.Applier("operator")).Union(owners.Fields(ownership.Applier("somebody")))
	unowned := map[string]bool{}
	collectUntold(partial.Object, unowned)
	separate.Difference(merged.Fields()).Iterate(func(path fieldpath.Path) {
		if last := path[len(path)-1].FieldName; last == nil || !unowned[*last] {
			t.Errorf("two managers own, beside ours, %v", path)
		}
	})
	if more := merged.Fields().Difference(separate); !more.Empty() {
		t.Errorf("two managers do not own\n%v", more)
	}
	if owned := fieldsOf(t, ours); !owned.Equals(merged.Fields()) {
		t.Errorf("the operator owns, beside what is merged,\n%v\nand not\n%v", owned.Difference(merged.Fields()), merged.Fields().Difference(owned))
	}
	if difference, err := merged.Compare(ours); err != nil || !difference.Empty() {
		t.Errorf("once applied, the merged object differs from the live one: %v, %v", difference, err)
	}
	if err := objects.Delete(t.Context(), app.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// childOf returns the intent for a child of the Application.
func childOf(t *testing.T, app *v1alpha1.Application, kind string) *ownership.Intent {
	t.Helper()
	children, err := desired.ForApplication(childTypes, app)
	if err != nil {
		t.Fatal(err)
	}
	config := map[string]any{"Deployment": children.Deployment, "Service": children.Service}[kind]
	intent, err := ownership.NewIntent(childTypes, ownership.Applier("operator"), config)
	if err != nil {
		t.Fatal(err)
	}
	return intent
}

func apply(t *testing.T, objects dynamic.ResourceInterface, manager string, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	answer, err := objects.Apply(t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: manager})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// content is what of an object does not depend on when and by whom it was made.
func content(object *unstructured.Unstructured) map[string]any {
	spec := object.DeepCopy().Object["spec"].(map[string]any)
	// The API server gives each Service an address and ports of its own.
	delete(spec, "clusterIP")
	delete(spec, "clusterIPs")
	delete(spec, "healthCheckNodePort")
	ports, _ := spec["ports"].([]any)
	for _, port := range ports {
		delete(port.(map[string]any), "nodePort")
	}
	return map[string]any{"spec": spec, "labels": object.GetLabels(), "annotations": object.GetAnnotations()}
}

// withoutNulls leaves the nulls out of a partial object, and the maps that hold nothing else: an apply would own them.
func withoutNulls(object map[string]any) map[string]any {
	for name, field := range object {
		switch field := field.(type) {
		case nil:
			delete(object, name)
		case map[string]any:
			if len(field) > 0 && len(withoutNulls(field)) == 0 {
				delete(object, name)
			}
		case []any:
			for _, item := range field {
				if item, ok := item.(map[string]any); ok {
					withoutNulls(item)
				}
			}
		}
	}
	return object
}

// told are those of the fields in the random objects of which an empty value is not the same as none.
var told = []string{
	"automountServiceAccountToken", "emptyDir", "enableServiceLinks", "example.com/a", "maxSurge", "replicas", "revisionHistoryLimit",
	"runAsUser", "securityContext", "terminationGracePeriodSeconds",
}

// collectUntold adds the names of the other fields that are empty.
func collectUntold(object any, names map[string]bool) {
	switch object := object.(type) {
	case map[string]any:
		for name, field := range object {
			switch fmt.Sprint(field) {
			case "", "0", "false", "[]", "map[]":
				names[name] = !slices.Contains(told, name)
			}
			collectUntold(field, names)
		}
	case []any:
		for _, item := range object {
			collectUntold(item, names)
		}
	}
}

func fieldsOf(t *testing.T, object *unstructured.Unstructured) *fieldpath.Set {
	t.Helper()
	managed, err := ownership.Parse(object.GetManagedFields())
	if err != nil {
		t.Fatal(err)
	}
	return managed.Fields(ownership.Applier("operator"))
}

// server is a real API server on which nobody but the test writes.
type server struct {
	*dynamic.DynamicClient
	namespace string
}

func startServer(t *testing.T) server {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := rest.CopyConfig(c.Config())
	config.WarningHandler = rest.NoWarnings{}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": application(v1alpha1.ApplicationSpec{}).Namespace},
	}}
	if _, err := client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return server{DynamicClient: client, namespace: namespace.GetName()}
}
