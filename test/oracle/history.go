package oracle

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// version is one state of an object.
type version struct {
	number  uint64
	object  *unstructured.Unstructured
	deleted bool
	// seen is when the version came in.
	seen time.Time
	// afterGap: states between the one before and this one may be missing, since the API server was away.
	afterGap bool
}

// objectKey tells the objects of all programs apart: each has one of each kind.
type objectKey struct{ namespace, kind string }

// history records every version of every Application, Deployment and Service, by watching them.
type history struct {
	client dynamic.Interface

	mu       sync.Mutex
	versions map[objectKey][]version
	// watching tells for each kind whether its watch is established, gaps up to which version its objects may have come
	// and gone unseen, since the API server was away.
	watching map[string]bool
	gaps     map[string]uint64
	running  sync.WaitGroup
}

var watched = map[string]schema.GroupVersionResource{
	appKind:    {Group: "application.mycompany.io", Version: "v1alpha1", Resource: "applications"},
	deployment: {Group: "apps", Version: "v1", Resource: "deployments"},
	service:    {Version: "v1", Resource: "services"},
}

func newHistory(client dynamic.Interface) *history {
	return &history{client: client, versions: map[objectKey][]version{}, watching: map[string]bool{}, gaps: map[string]uint64{}}
}

// start watches until ctx ends.
func (h *history) start(ctx context.Context) {
	for kind := range watched {
		h.running.Go(func() {
			for ctx.Err() == nil {
				if err := h.record(ctx, kind); err != nil {
					select {
					case <-ctx.Done():
					case <-time.After(100 * time.Millisecond): // the API server is away
					}
				}
			}
		})
	}
}

// record lists the objects of a kind and watches them from there on, until the API server has forgotten where it was.
func (h *history) record(ctx context.Context, kind string) error {
	list, err := h.client.Resource(watched[kind]).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	h.resume(kind, list)
	at := list.GetResourceVersion()
	for ctx.Err() == nil {
		stream, err := h.client.Resource(watched[kind]).Watch(ctx, metav1.ListOptions{ResourceVersion: at, AllowWatchBookmarks: true})
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return err
		}
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		h.setWatching(kind, true)
		at, err = h.follow(stream, kind, at)
		h.setWatching(kind, false)
		stream.Stop()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (h *history) follow(stream watch.Interface, kind, at string) (string, error) {
	for event := range stream.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if event.Type == watch.Error || !ok {
			return at, errors.New("the watch was ended")
		}
		at = object.GetResourceVersion()
		if event.Type != watch.Bookmark {
			h.add(kind, object, event.Type == watch.Deleted, false)
		}
	}
	return at, nil
}

// resume takes the state after a gap.
func (h *history) resume(kind string, list *unstructured.UnstructuredList) {
	present := map[string]bool{}
	for i := range list.Items {
		object := &list.Items[i]
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: watched[kind].Group, Version: watched[kind].Version, Kind: kind})
		present[object.GetNamespace()] = true
		h.add(kind, object, false, true)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gaps[kind] = number(list.GetResourceVersion())
	for key, versions := range h.versions {
		if last := versions[len(versions)-1]; key.kind == kind && !present[key.namespace] && !last.deleted {
			h.versions[key] = append(versions, version{number: number(list.GetResourceVersion()), object: last.object, deleted: true, seen: time.Now(), afterGap: true})
		}
	}
}

func (h *history) setWatching(kind string, watching bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watching[kind] = watching
}

// isWatching reports whether whatever happens to a kind is seen now.
func (h *history) isWatching(kind string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.watching[kind]
}

// gap returns the version up to which objects of a kind may have come and gone unseen.
func (h *history) gap(kind string) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gaps[kind]
}

func (h *history) add(kind string, object *unstructured.Unstructured, deleted, afterGap bool) {
	if object.GetName() != appName {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := objectKey{object.GetNamespace(), kind}
	versions := h.versions[key]
	v := version{number: number(object.GetResourceVersion()), object: object, deleted: deleted, seen: time.Now(), afterGap: afterGap}
	if n := len(versions); n > 0 && versions[n-1].number >= v.number {
		return // listed again
	}
	h.versions[key] = append(versions, v)
}

// of returns all versions of an object, oldest first. The caller must not change them.
func (h *history) of(namespace, kind string) []version {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.versions[objectKey{namespace, kind}]
}

// latest returns an object as it is now, or nil.
func (h *history) latest(namespace, kind string) *unstructured.Unstructured {
	versions := h.of(namespace, kind)
	if n := len(versions); n > 0 && !versions[n-1].deleted {
		return versions[n-1].object
	}
	return nil
}

// scene returns what there is in a namespace.
func (h *history) scene(namespace string) scene {
	return scene{
		app:      h.latest(namespace, appKind),
		children: map[string]*unstructured.Unstructured{deployment: h.latest(namespace, deployment), service: h.latest(namespace, service)},
	}
}

// newest returns the number of the newest version of anything in a namespace.
func (h *history) newest(namespace string) uint64 {
	var newest uint64
	for kind := range watched {
		if versions := h.of(namespace, kind); len(versions) > 0 {
			newest = max(newest, versions[len(versions)-1].number)
		}
	}
	return newest
}

// forget drops what is known of a namespace.
func (h *history) forget(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind := range watched {
		delete(h.versions, objectKey{namespace, kind})
	}
}

// number reads a resourceVersion. Those of one API server are ordered.
func number(resourceVersion string) uint64 {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("resourceVersion %q is no number", resourceVersion))
	}
	return n
}
