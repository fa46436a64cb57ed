package e2e

import (
	"context"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// witness sees every version of the Applications of a namespace and of what becomes of them. Resource versions order
// what it saw across kinds: they come from one store.
type witness struct {
	applications, deployments, services, pods *record
}

// record holds every version of the objects of a kind, in their order.
type record struct {
	list client.ObjectList

	mu       sync.Mutex
	versions []sighting
}

// sighting is one version of an object. A deletion has the version at which it happened.
type sighting struct {
	object  client.Object
	deleted bool
}

// watch lets a witness see all that happens in the space from now on.
func (s *space) watch() *witness {
	GinkgoHelper()
	// The watches end with the spec.
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	DeferCleanup(func() {
		cancel()
		running.Wait()
	})
	w := &witness{
		applications: &record{list: &v1alpha1.ApplicationList{}},
		deployments:  &record{list: &appsv1.DeploymentList{}},
		services:     &record{list: &corev1.ServiceList{}},
		pods:         &record{list: &corev1.PodList{}},
	}
	for _, r := range []*record{w.applications, w.deployments, w.services, w.pods} {
		events := r.start(ctx, s)
		running.Go(func() { r.run(events) })
	}
	return w
}

func (r *record) start(ctx context.Context, s *space) watch.Interface {
	GinkgoHelper()
	list := r.list.DeepCopyObject().(client.ObjectList)
	Expect(watcher.List(ctx, list, client.InNamespace(s.name))).To(Succeed())
	Expect(apimeta.EachListItem(list, func(object runtime.Object) error {
		r.versions = append(r.versions, sighting{object: object.(client.Object)})
		return nil
	})).To(Succeed())
	events, err := watcher.Watch(ctx, list, client.InNamespace(s.name),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	Expect(err).NotTo(HaveOccurred())
	return events
}

func (r *record) run(events watch.Interface) {
	for event := range events.ResultChan() {
		object, ok := event.Object.(client.Object)
		if !ok {
			continue
		}
		r.mu.Lock()
		r.versions = append(r.versions, sighting{object: object, deleted: event.Type == watch.Deleted})
		r.mu.Unlock()
	}
}

func (r *record) all() []sighting {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.versions)
}

// catchUp waits until the witness has seen all that is in the space now.
func (w *witness) catchUp(ctx context.Context, s *space) {
	GinkgoHelper()
	for _, r := range []*record{w.applications, w.deployments, w.services, w.pods} {
		list := r.list.DeepCopyObject().(client.ObjectList)
		Expect(watcher.List(ctx, list, client.InNamespace(s.name))).To(Succeed())
		Expect(apimeta.EachListItem(list, func(object runtime.Object) error {
			Eventually(r.saw).WithContext(ctx).WithArguments(object.(client.Object)).Should(BeTrue())
			return nil
		})).To(Succeed())
	}
}

func (r *record) saw(object client.Object) bool {
	for _, seen := range r.all() {
		if seen.object.GetUID() == object.GetUID() && !newer(object.GetResourceVersion(), seen.object.GetResourceVersion()) {
			return true
		}
	}
	return false
}

// history returns all versions of the objects of this name, deletions left out.
func history[T client.Object](r *record, name string) []T {
	var versions []T
	for _, seen := range r.all() {
		if seen.object.GetName() == name && !seen.deleted {
			versions = append(versions, seen.object.(T))
		}
	}
	return versions
}

// at returns the objects as they were at a resource version, by name.
func (r *record) at(resourceVersion string) map[string]client.Object {
	objects := map[string]client.Object{}
	for _, seen := range r.all() {
		switch object := seen.object; {
		case newer(object.GetResourceVersion(), resourceVersion):
		case seen.deleted:
			delete(objects, object.GetName())
		default:
			objects[object.GetName()] = object
		}
	}
	return objects
}

// newer reports whether resource version a comes after b.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}

// lives returns the UIDs of all objects that have had this name.
func (r *record) lives(name string) []types.UID {
	var lives []types.UID
	for _, object := range r.all() {
		if uid := object.object.GetUID(); object.object.GetName() == name && !slices.Contains(lives, uid) {
			lives = append(lives, uid)
		}
	}
	return lives
}
