package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

func TestControllerName(t *testing.T) {
	// Metrics, alerts and the reporting controller of Events have it.
	if ControllerName != "application-operator" {
		t.Errorf("the controller is called %q", ControllerName)
	}
}

// TestCacheByObject: the caches hold the operator's own children, whole. A transform that saved memory by dropping
// managedFields would make every ownership fact vanish.
func TestCacheByObject(t *testing.T) {
	var kinds []string
	for object, by := range CacheByObject() {
		kind := kindOf(object)
		kinds = append(kinds, kind)
		if by.Transform != nil {
			t.Errorf("%s: the cache transforms what it holds", kind)
		}
		for namespace, config := range by.Namespaces {
			t.Errorf("%s: the cache has a configuration of its own for namespace %q: %v", kind, namespace, config)
		}
		if by.Field != nil || by.UnsafeDisableDeepCopy != nil {
			t.Errorf("%s: %+v", kind, by)
		}
		if got := by.Label.String(); got != "owner=application-operator" {
			t.Errorf("%s: the cache holds objects with %q", kind, got)
		}
		if !by.Label.Matches(labels.Set(v1alpha1.SelectorLabels("any"))) {
			t.Errorf("%s: the cache misses the operator's own children", kind)
		}
	}
	slices.Sort(kinds)
	if diff := cmp.Diff([]string{"Deployment", "Service"}, kinds); diff != "" {
		t.Errorf("caches with a limit (-want +got):\n%s", diff)
	}
}

// TestNoTransform is FR-35: it finds the other ways to strip what a cache holds, wherever the operator sets one up.
func TestNoTransform(t *testing.T) {
	for _, name := range identifiers(t, ".", "../cmd/application-operator") {
		if strings.Contains(name, "Transform") || strings.Contains(name, "StripManagedFields") {
			t.Errorf("the operator uses %s: ownership is read from the managedFields of cached objects", name)
		}
	}
}

// TestManagedFieldsAreNeverSent: the API server takes them for a wish to reset them.
func TestManagedFieldsAreNeverSent(t *testing.T) {
	for _, name := range identifiers(t, "../cmd/application-operator", "../applyconfigs/desired") {
		if strings.Contains(name, "ManagedFields") {
			t.Errorf("%s where intents and caches are made", name)
		}
	}
}

// identifiers returns every identifier in the source of packages, tests left out.
func identifiers(t *testing.T, folders ...string) []string {
	t.Helper()
	var names []string
	for _, folder := range folders {
		for _, file := range parseSources(t, folder) {
			ast.Inspect(file, func(node ast.Node) bool {
				if identifier, ok := node.(*ast.Ident); ok {
					names = append(names, identifier.Name)
				}
				return true
			})
		}
	}
	return names
}

// parseSources returns the sources of a package by file name, tests left out.
func parseSources(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no source in %s: %v", folder, err)
	}
	sources := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		sources[filepath.Base(path)] = file
	}
	return sources
}

func TestOptions(t *testing.T) {
	type summary struct {
		Concurrent     int
		Timeout        time.Duration
		Delays         []time.Duration
		AfterLongTime  time.Duration
		AfterForgotten time.Duration
	}
	summarize := func(o Options) summary {
		c := o.forController()
		if c.UsePriorityQueue == nil || *c.UsePriorityQueue {
			t.Error("the priority queue can lock up at the end, and keep the Lease")
		}
		request := reconcile.Request{NamespacedName: webKey}
		s := summary{Concurrent: c.MaxConcurrentReconciles, Timeout: c.ReconciliationTimeout}
		for range 3 {
			s.Delays = append(s.Delays, c.RateLimiter.When(request))
		}
		for range 100 {
			s.AfterLongTime = c.RateLimiter.When(request)
		}
		c.RateLimiter.Forget(request)
		s.AfterForgotten = c.RateLimiter.When(request)
		return s
	}
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		options Options
		want    summary
	}{
		// What people have mended is noticed within a minute, however long it was broken.
		{"defaults", Options{}, summary{0, time.Minute, []time.Duration{500 * ms, 1000 * ms, 2000 * ms}, time.Minute, 500 * ms}},
		{
			"all set", Options{MaxConcurrentReconciles: 7, MinBackoff: 10 * ms, MaxBackoff: 30 * ms, ReconciliationTimeout: time.Second},
			summary{7, time.Second, []time.Duration{10 * ms, 20 * ms, 30 * ms}, 30 * ms, 10 * ms},
		},
		{"first delay beyond the default bound", Options{MinBackoff: time.Hour}, summary{0, time.Minute, []time.Duration{time.Hour, time.Hour, time.Hour}, time.Hour, time.Hour}},
	} {
		if diff := cmp.Diff(c.want, summarize(c.options)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestChildKinds: resources and kinds belong together, and no function hands out a shared object.
func TestChildKinds(t *testing.T) {
	for _, c := range []struct {
		child    *childKind
		kind     string
		resource string
	}{
		{deploymentChild, "Deployment", "apps/v1, Resource=deployments"},
		{serviceChild, "Service", "/v1, Resource=services"},
	} {
		if c.child.kind != c.kind || c.child.resource.String() != c.resource || kindOf(c.child.new()) != c.kind {
			t.Errorf("%s: %s, %s, %T", c.kind, c.child.kind, c.child.resource, c.child.new())
		}
		if c.child.new() == c.child.new() {
			t.Errorf("%s: the same object twice", c.kind)
		}
	}
}
