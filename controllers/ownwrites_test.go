package controllers

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// at returns an object as the cache or the API server shows it.
func at(uid types.UID, resourceVersion string, deleting bool) client.Object {
	object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: resourceVersion}}
	if deleting {
		object.DeletionTimestamp = &metav1.Time{Time: start}
	}
	return object
}

func TestOwnWritesAhead(t *testing.T) {
	applied := func(uid types.UID, resourceVersion string) func(*ownWrites) {
		return func(w *ownWrites) { w.recordApply(webKey, "Service", at(uid, resourceVersion, false)) }
	}
	deleted := func(w *ownWrites) { w.recordDelete(webKey, "Service", "a") }
	for _, c := range []struct {
		name   string
		write  func(*ownWrites)
		cached client.Object
		want   bool
	}{
		{"nothing was written", func(*ownWrites) {}, at("a", "10", false), false},
		{"the cache is older", applied("a", "11"), at("a", "10", false), true},
		{"the cache is older by a digit", applied("a", "100"), at("a", "99", false), true},
		{"the cache is as new", applied("a", "11"), at("a", "11", false), false},
		{"the cache is newer", applied("a", "11"), at("a", "12", false), false},
		{"the cache is newer by a digit", applied("a", "99"), at("a", "100", false), false},
		{"the cache has a successor", applied("a", "11"), at("b", "10", false), false},
		{"versions are not ordered here", applied("a", "xyz"), at("a", "abc", false), false},
		{"the cached version is not ordered", applied("a", "11"), at("a", "", false), false},
		{"the cache does not show the deletion", deleted, at("a", "10", false), true},
		{"the cache shows the deletion", deleted, at("a", "10", true), false},
		{"the cache has a successor of what was deleted", deleted, at("b", "10", false), false},
		{"the last of two writes counts", func(w *ownWrites) { applied("a", "10")(w); applied("a", "12")(w) }, at("a", "11", false), true},
		{"an apply after a deletion", func(w *ownWrites) { deleted(w); applied("b", "12")(w) }, at("b", "11", false), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			writes := newOwnWrites()
			c.write(writes)
			if got := writes.ahead(webKey, "Service", c.cached); got != c.want {
				t.Fatalf("ahead: %t, want %t", got, c.want)
			}
			// Asking again changes nothing while the cache is behind, and once it has caught up it has for good.
			if got := writes.ahead(webKey, "Service", c.cached); got != c.want {
				t.Errorf("asked again: %t, want %t", got, c.want)
			}
			if _, kept := writes.last[webKey]["Service"]; kept != c.want {
				t.Errorf("the write is remembered: %t, want %t", kept, c.want)
			}
		})
	}
}

func TestOwnWritesAreSeparate(t *testing.T) {
	writes := newOwnWrites()
	other := client.ObjectKey{Namespace: "other", Name: webKey.Name}
	writes.recordApply(webKey, "Service", at("a", "11", false))
	old := at("a", "10", false)
	if writes.ahead(webKey, "Deployment", old) || writes.ahead(other, "Service", old) {
		t.Error("a write of one object counts for another")
	}
	writes.recordApply(webKey, "Deployment", at("a", "11", false))
	writes.recordApply(other, "Service", at("a", "11", false))
	writes.forget(webKey)
	if writes.ahead(webKey, "Service", old) || writes.ahead(webKey, "Deployment", old) {
		t.Error("something is remembered of a forgotten Application")
	}
	if !writes.ahead(other, "Service", old) {
		t.Error("another Application was forgotten as well")
	}
	if _, found := writes.last[webKey]; found {
		t.Error("a forgotten Application still takes memory")
	}
}

// TestOwnWritesConcurrently is for the race detector.
func TestOwnWritesConcurrently(t *testing.T) {
	writes := newOwnWrites()
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			own := client.ObjectKey{Name: fmt.Sprint(worker)}
			for n := range 200 {
				for _, key := range []client.ObjectKey{webKey, own} {
					version := fmt.Sprint(n + 1)
					writes.recordApply(key, "Service", at("a", version, false))
					writes.recordDelete(key, "Deployment", "a")
					writes.ahead(key, "Service", at("a", "0", false))
					writes.ahead(key, "Deployment", at("a", version, true))
				}
				if n%50 == 0 {
					writes.forget(webKey)
				}
			}
			writes.recordApply(own, "Service", at("a", "2", false))
			if !writes.ahead(own, "Service", at("a", "1", false)) {
				t.Errorf("worker %d lost its own write", worker)
			}
		})
	}
	group.Wait()
}
