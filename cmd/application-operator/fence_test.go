package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestFence(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := start
	key := client.ObjectKey{Namespace: "ops", Name: "operator"}
	f := newFence(key, 10*time.Second)
	f.now = func() instant { return instant{wall: now} }

	answer := http.StatusOK
	var writes int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodGet {
			writes++
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer)
		_, _ = w.Write([]byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop"}}`))
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL, QPS: -1}
	lease, err := rest.HTTPClientFor(f.observeRenewals(config))
	if err != nil {
		t.Fatal(err)
	}
	const leases = "/apis/coordination.k8s.io/v1/namespaces/ops/leases"
	send := func(method, path, body string, status int) {
		t.Helper()
		answer = status
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := lease.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		answer = http.StatusOK
	}
	const held = `{"metadata":{"name":"operator"},"spec":{"holderIdentity":"me"}}`
	renew := func(status int) {
		t.Helper()
		send(http.MethodPut, leases+"/operator", held, status)
	}
	// A mapper of its own would ask the server for what it serves.
	scheme := newScheme()
	fenced, err := f.newClient(config, client.Options{Scheme: scheme, Mapper: staticMapper(scheme)})
	if err != nil {
		t.Fatal(err)
	}
	shop := &corev1.Namespace{}
	shop.Name = "shop"

	for _, step := range []struct {
		name string
		do   func()
		open bool
	}{
		{"before the first renewal", func() {}, false},
		{"a look at the Lease is no renewal", func() { send(http.MethodGet, leases+"/operator", held, 200) }, false},
		{"nor is a refused one", func() { renew(409) }, false},
		{"nor an Event about it", func() {
			send(http.MethodPost, "/api/v1/namespaces/ops/events", `{"metadata":{"name":"operator"},"spec":{"holderIdentity":"me"}}`, 201)
		}, false},
		{"nor that of another Lease", func() { send(http.MethodPut, leases+"/other", strings.Replace(held, "operator", "other", 1), 200) }, false},
		{"nor the creation of one", func() { send(http.MethodPost, leases, strings.Replace(held, "operator", "other", 1), 201) }, false},
		{"nor what cannot be read", func() { send(http.MethodPut, leases+"/operator", "k8s\x00", 200) }, false},
		{"renewed", func() { renew(200) }, true},
		{"just before the deadline", func() { now = start.Add(10*time.Second - 1) }, true},
		{"at the deadline", func() { now = start.Add(10 * time.Second) }, false},
		{"lost, which an Event tells", func() { send(http.MethodPost, "/api/v1/namespaces/ops/events", `{}`, 201) }, false},
		{"renewed late", func() { renew(200) }, true},
		{"created", func() { now = now.Add(time.Hour); send(http.MethodPost, leases, held, 201) }, true},
		{"released, though that is refused", func() {
			send(http.MethodPut, leases+"/operator", `{"metadata":{"name":"operator"},"spec":{"holderIdentity":"","leaseDurationSeconds":1}}`, 409)
		}, false},
		{"a renewal that is answered only then", func() { renew(200) }, false},
	} {
		step.do()
		before := writes
		err := fenced.Delete(t.Context(), shop)
		if sent := writes > before; sent != step.open || errors.Is(err, errNotLeading) == step.open {
			t.Errorf("%s: sent %t, error %v", step.name, sent, err)
		}
		if err := fenced.Get(t.Context(), client.ObjectKeyFromObject(shop), &corev1.Namespace{}); err != nil {
			t.Errorf("%s: reading: %v", step.name, err)
		}
	}
}

// TestFenceReadsLeaderElection: what leader election sends is what the fence reads, whatever the encoding of other clients.
func TestFenceReadsLeaderElection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if request.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = w.Write([]byte(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"operator","namespace":"ops"},"spec":{}}`))
	}))
	defer server.Close()
	f := newFence(client.ObjectKey{Namespace: "ops", Name: "operator"}, time.Hour)
	config := f.observeRenewals(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}})
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "ops", "operator", corev1client.NewForConfigOrDie(config),
		coordinationv1client.NewForConfigOrDie(config), resourcelock.ResourceLockConfig{Identity: "me"})
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil || !f.open() {
		t.Errorf("the Lease is created: %v, and the fence open: %t", err, f.open())
	}
	f.renewed = nil
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil || !f.open() {
		t.Errorf("the Lease is renewed: %v, and the fence open: %t", err, f.open())
	}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil || f.open() {
		t.Errorf("the Lease is released: %v, and the fence open: %t", err, f.open())
	}
}

// TestFenceClocks: each of the two clocks may stand still or be set back while the other goes on.
func TestFenceClocks(t *testing.T) {
	begin := instant{wall: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), monotonic: time.Hour}
	for _, c := range []struct {
		name            string
		wall, monotonic time.Duration
		open            bool
	}{
		{"both go on", 9 * time.Second, 9 * time.Second, true},
		{"the machine slept", time.Minute, time.Second, false},
		{"the wall clock was set back", -time.Hour, time.Minute, false},
		{"the wall clock was set back a little", -time.Second, time.Second, true},
	} {
		f := newFence(client.ObjectKey{}, 10*time.Second)
		f.renewed = &begin
		f.now = func() instant { return instant{wall: begin.wall.Add(c.wall), monotonic: begin.monotonic + c.monotonic} }
		if got := f.open(); got != c.open {
			t.Errorf("%s: open %t", c.name, got)
		}
	}

	f := newFence(client.ObjectKey{}, time.Hour)
	first := f.now()
	if second := f.now(); second.since(first) < 0 || second.wall.Before(first.wall) || first.monotonic < 0 {
		t.Errorf("the clocks go from %v to %v", first, second)
	}
}

func staticMapper(scheme *runtime.Scheme) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range scheme.AllKnownTypes() {
		scope := meta.RESTScopeNamespace
		if kind.Kind == "Namespace" {
			scope = meta.RESTScopeRoot
		}
		mapper.Add(kind, scope)
	}
	return mapper
}
