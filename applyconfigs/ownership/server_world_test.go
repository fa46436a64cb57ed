package ownership_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	applicationv1alpha1 "mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/test/cluster"
)

const (
	namespace = "shop"
	us        = "application-operator"
)

// server is a real API server on which nobody but the test writes.
type server struct {
	clients *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
}

func startServer(t testing.TB) server {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{CRDs: []string{"../../deploy/crd"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := c.Config()
	config.WarningHandler = rest.NoWarnings{}
	s := server{}
	if s.clients, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := s.clients.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// world is one object on the server, and the people and programs that write it.
type world struct {
	t        testing.TB
	clients  *kubernetes.Clientset
	objects  dynamic.ResourceInterface
	kind     string
	name     string
	resource schema.GroupVersionResource
}

func (s server) newWorld(t testing.TB, name, kind string) *world {
	t.Helper()
	w := &world{t: t, clients: s.clients, kind: kind, name: name}
	switch kind {
	case "Deployment", "":
		w.kind, w.resource = "Deployment", appsv1.SchemeGroupVersion.WithResource("deployments")
	case "Service":
		w.resource = corev1.SchemeGroupVersion.WithResource("services")
	case "Application":
		w.resource = applicationv1alpha1.SchemeGroupVersion.WithResource(applicationv1alpha1.Resource)
	default:
		t.Fatalf("no resource for %s", kind)
	}
	w.objects = s.dynamic.Resource(w.resource).Namespace(namespace)
	return w
}

func (w *world) object(config string) *unstructured.Unstructured {
	w.t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(config), &u.Object); err != nil {
		w.t.Fatal(err)
	}
	u.SetAPIVersion(w.resource.GroupVersion().String())
	u.SetKind(w.kind)
	u.SetName(w.name)
	u.SetNamespace(namespace)
	return u
}

func (w *world) must(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) send(u *unstructured.Unstructured, manager ownership.Manager) error {
	var subresources []string
	if manager.Subresource != "" {
		subresources = append(subresources, manager.Subresource)
	}
	_, err := w.objects.Apply(w.t.Context(), w.name, u, metav1.ApplyOptions{FieldManager: manager.Name}, subresources...)
	return err
}

// live reads the object in both forms that callers hold: as its Go type and unstructured.
func (w *world) live() (typed, untyped ownership.Object) {
	w.t.Helper()
	u, err := w.objects.Get(w.t.Context(), w.name, metav1.GetOptions{})
	w.must(u, err)
	switch w.kind {
	case "Deployment":
		typed, err = w.clients.AppsV1().Deployments(namespace).Get(w.t.Context(), w.name, metav1.GetOptions{})
	case "Service":
		typed, err = w.clients.CoreV1().Services(namespace).Get(w.t.Context(), w.name, metav1.GetOptions{})
	default:
		typed = &applicationv1alpha1.Application{}
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed)
	}
	w.must(typed, err)
	return typed, u
}

// step is one write by somebody.
type step func(*world)

func apply(manager, config string) step {
	return func(w *world) {
		w.t.Helper()
		w.must(nil, w.send(w.object(config), ownership.Applier(manager)))
	}
}

func applyStatus(manager, config string) step {
	return func(w *world) {
		w.t.Helper()
		w.must(nil, w.send(w.object(config), ownership.Manager{Name: manager, Subresource: "status"}))
	}
}

func forceApply(manager, config string) step {
	return func(w *world) {
		w.t.Helper()
		options := metav1.ApplyOptions{FieldManager: manager, Force: true}
		w.must(w.objects.Apply(w.t.Context(), w.name, w.object(config), options))
	}
}

func create(manager, config string) step {
	return func(w *world) {
		w.t.Helper()
		w.must(w.objects.Create(w.t.Context(), w.object(config), metav1.CreateOptions{FieldManager: manager}))
	}
}

// patch is what `kubectl edit` and `kubectl set` send for built-in kinds.
func patch(manager, body string, subresources ...string) step {
	return patchAs(apitypes.StrategicMergePatchType, manager, body, subresources...)
}

// mergePatch is what they send for custom resources.
func mergePatch(manager, body string, subresources ...string) step {
	return patchAs(apitypes.MergePatchType, manager, body, subresources...)
}

func jsonPatch(manager, body string) step { return patchAs(apitypes.JSONPatchType, manager, body) }

func patchAs(kind apitypes.PatchType, manager, body string, subresources ...string) step {
	return func(w *world) {
		w.t.Helper()
		encoded, err := yaml.YAMLToJSON([]byte(body))
		w.must(nil, err)
		options := metav1.PatchOptions{FieldManager: manager}
		w.must(w.objects.Patch(w.t.Context(), w.name, kind, encoded, options, subresources...))
	}
}

func scale(manager string, replicas int32) step {
	return func(w *world) {
		w.t.Helper()
		body := &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: namespace},
			Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
		}
		w.must(w.clients.AppsV1().Deployments(namespace).UpdateScale(w.t.Context(), w.name, body, metav1.UpdateOptions{FieldManager: manager}))
	}
}

// wipe resets managedFields as clients do that see no use in them.
func wipe() step {
	return jsonPatch("wiper", `[{op: replace, path: /metadata/managedFields, value: [{}]}]`)
}

// crowd makes more Update managers than the API server keeps apart.
func crowd(size int) step {
	return func(w *world) {
		w.t.Helper()
		for n := range size {
			patch(fmt.Sprintf("crowd-%02d", n), fmt.Sprintf("metadata: {annotations: {crowd-%02d: x}}", n))(w)
		}
	}
}

// rewriteVersion makes an entry look as if it had been written at another API version.
func rewriteVersion(manager, version string) step {
	return func(w *world) {
		w.t.Helper()
		_, untyped := w.live()
		entries := untyped.GetManagedFields()
		for i := range entries {
			if entries[i].Manager == manager {
				entries[i].APIVersion = version
			}
		}
		untyped.SetManagedFields(entries)
		w.must(w.objects.Update(w.t.Context(), untyped.(*unstructured.Unstructured), metav1.UpdateOptions{FieldManager: "rewriter"}))
	}
}
