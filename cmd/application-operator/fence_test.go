package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestFence(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := start
	f := newFence(10 * time.Second)
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
	renew := func(method string, status int) {
		t.Helper()
		answer = status
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/lease", http.NoBody)
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
		{"a look at the Lease is no renewal", func() { renew(http.MethodGet, 200) }, false},
		{"nor is a refused one", func() { renew(http.MethodPut, 409) }, false},
		{"renewed", func() { renew(http.MethodPut, 200) }, true},
		{"just before the deadline", func() { now = start.Add(10*time.Second - 1) }, true},
		{"at the deadline", func() { now = start.Add(10 * time.Second) }, false},
		{"renewed late", func() { renew(http.MethodPut, 200) }, true},
		{"created", func() { now = now.Add(time.Hour); renew(http.MethodPost, 201) }, true},
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
		f := newFence(10 * time.Second)
		f.renewed = &begin
		f.now = func() instant { return instant{wall: begin.wall.Add(c.wall), monotonic: begin.monotonic + c.monotonic} }
		if got := f.open(); got != c.open {
			t.Errorf("%s: open %t", c.name, got)
		}
	}

	f := newFence(time.Hour)
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
