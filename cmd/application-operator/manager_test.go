package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/controllers"
)

func TestScheme(t *testing.T) {
	for _, object := range []runtime.Object{&v1alpha1.Application{}, &appsv1.Deployment{}, &eventsv1.Event{}} {
		if _, _, err := newScheme().ObjectKinds(object); err != nil {
			t.Error(err)
		}
	}
}

func TestNamespaceCaches(t *testing.T) {
	if got := namespaceCaches(nil); got != nil {
		t.Errorf("all namespaces: %v, of which the cache makes none", got)
	}
	got := namespaceCaches([]string{"a", "b"})
	if diff := cmp.Diff(map[string]cache.Config{"a": {}, "b": {}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCacheKeepsManagedFields: every fact about owners is read from the managedFields of a cached object. The usual way
// to save memory would strip them.
func TestCacheKeepsManagedFields(t *testing.T) {
	stored := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: "1", ResourceVersion: "7", Labels: v1alpha1.SelectorLabels("web"),
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale", APIVersion: "apps/v1",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
		}},
	}}
	const path = "/apis/apps/v1/namespaces/shop/deployments"
	versions := []metav1.GroupVersionForDiscovery{{GroupVersion: "apps/v1", Version: "v1"}}
	server := newAPIServer(t, map[string]any{
		"/api": metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
		"/apis": metav1.APIGroupList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"},
			Groups:   []metav1.APIGroup{{Name: "apps", Versions: versions, PreferredVersion: versions[0]}},
		},
		"/api/v1": metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "services", SingularName: "service", Kind: "Service", Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}}},
		},
		"/apis/apps/v1": metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: "apps/v1",
			APIResources: []metav1.APIResource{{Name: "deployments", SingularName: "deployment", Kind: "Deployment", Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}}},
		},
		path: appsv1.DeploymentList{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DeploymentList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"},
			Items: []appsv1.Deployment{stored},
		},
	})
	mgr, err := newManager(&rest.Config{Host: server.URL}, logr.Discard(), &options{metricsAddress: "0", probeAddress: "0", controller: controllers.Options{Scope: controllers.Scope{Namespaces: []string{"shop"}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.GetCache().Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the cache ended with %v", err)
		}
	}()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the cache has not started")
	}
	live := &appsv1.Deployment{}
	if err := mgr.GetClient().Get(ctx, client.ObjectKeyFromObject(&stored), live); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored.ManagedFields, live.ManagedFields, cmp.AllowUnexported(metav1.FieldsV1{})); diff != "" {
		t.Errorf("managedFields (-stored +cached):\n%s", diff)
	}
	// And it asked for the operator's own objects of that namespace alone.
	for _, request := range server.asked() {
		if strings.HasPrefix(request, path) && !strings.Contains(request, "labelSelector=owner%3Dapplication-operator") {
			t.Errorf("the cache asks for more than it may hold: %s", request)
		}
	}
	if err := cachesSynced(mgr.GetCache())(httptest.NewRequest(http.MethodGet, "/readyz", nil)); err != nil {
		t.Errorf("not ready, although the caches are filled: %v", err)
	}
}

// unsynced is a cache that never fills.
type unsynced struct{ cache.Cache }

func (unsynced) WaitForCacheSync(ctx context.Context) bool {
	<-ctx.Done()
	return false
}

func TestNotReadyBeforeCaches(t *testing.T) {
	err := cachesSynced(unsynced{})(httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if err == nil || !strings.Contains(err.Error(), "not synced") {
		t.Errorf("got %v", err)
	}
}

func TestManagerOfABadConfiguration(t *testing.T) {
	_, err := newManager(&rest.Config{Host: "https://api\x00"}, logr.Discard(), &options{metricsAddress: "0", probeAddress: "0"})
	if err == nil || !strings.Contains(err.Error(), "creating the manager") {
		t.Errorf("got %v", err)
	}
}
