package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownWrites remembers what the API server answered to the operator's last write of each object. Whoever decides on a
// cache that has not caught up with it undoes or repeats what was just done: a condition, say, would get a second
// transition time. It is nothing to wait for: the event that brings the cache up to date wakes the reconcile again.
type ownWrites struct {
	mu sync.Mutex
	// last is keyed by the Application, then by the kind of the written object.
	last map[client.ObjectKey]map[string]ownWrite
}

type ownWrite struct {
	uid             types.UID
	resourceVersion string
	deleted         bool
}

func newOwnWrites() *ownWrites {
	return &ownWrites{last: map[client.ObjectKey]map[string]ownWrite{}}
}

// recordApply remembers answer, what the API server answered to an apply.
func (w *ownWrites) recordApply(app client.ObjectKey, kind string, answer client.Object) {
	w.record(app, kind, ownWrite{uid: answer.GetUID(), resourceVersion: answer.GetResourceVersion()})
}

// recordDelete remembers that the API server accepted the deletion of an object.
func (w *ownWrites) recordDelete(app client.ObjectKey, kind string, uid types.UID) {
	w.record(app, kind, ownWrite{uid: uid, deleted: true})
}

func (w *ownWrites) record(app client.ObjectKey, kind string, write ownWrite) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last[app] == nil {
		w.last[app] = map[string]ownWrite{}
	}
	w.last[app][kind] = write
}

// ahead reports whether the operator wrote the object after the state that cached shows.
func (w *ownWrites) ahead(app client.ObjectKey, kind string, cached client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	write, found := w.last[app][kind]
	if !found {
		return false
	}
	if write.uid == cached.GetUID() && write.after(cached) {
		return true
	}
	delete(w.last[app], kind)
	return false
}

func (w *ownWrite) after(cached client.Object) bool {
	if w.deleted {
		return cached.GetDeletionTimestamp().IsZero()
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), w.resourceVersion)
	// An API server without ordered versions lets nothing be told.
	return err == nil && order < 0
}

// forget drops all that is remembered for the Application of that key.
func (w *ownWrites) forget(app client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, app)
}
