package controllers

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// strangersBuffer is how many wake-ups wait for the controller before a watch has to wait, too.
const strangersBuffer = 64

// strangers watches the objects of children's names that the caches need not hold, since these hold only what carries the
// operator's label: an object that is not the Application's, or a child whose label another manager holds. Each is
// watched alone, by its name, metadata only, and only while it is a stranger; nothing else would tell that it changed.
type strangers struct {
	client metadata.Interface
	// wake takes an Application to reconcile.
	wake chan event.GenericEvent

	mu      sync.Mutex
	watched map[client.ObjectKey]map[string]strangerWatch
	stopped bool
	running sync.WaitGroup
}

// strangerWatch is a running watch, for the Application of that uid.
type strangerWatch struct {
	uid    types.UID
	cancel context.CancelFunc
}

func newStrangers(metadataClient metadata.Interface) *strangers {
	return &strangers{
		client:  metadataClient,
		wake:    make(chan event.GenericEvent, strangersBuffer),
		watched: map[client.ObjectKey]map[string]strangerWatch{},
	}
}

// Start implements manager.Runnable: it ends all watches when ctx ends.
func (s *strangers) Start(ctx context.Context) error {
	<-ctx.Done()
	s.mu.Lock()
	s.stopped = true
	for key := range s.watched {
		s.forgetLocked(key)
	}
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// watch wakes the Application whenever the object of its name changes hands or goes away and, if the Application controls
// it or may adopt it, whenever it changes at all.
func (s *strangers) watch(owner *v1alpha1.Application, child *childKind) {
	app, uid := client.ObjectKeyFromObject(owner), owner.UID
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	if running, found := s.watched[app][child.kind]; found {
		if running.uid == uid {
			return
		}
		running.cancel() // it was for an earlier Application of the name
	}
	ctx, cancel := context.WithCancel(context.Background()) // it ends with unwatch, forget or Start
	if s.watched[app] == nil {
		s.watched[app] = map[string]strangerWatch{}
	}
	s.watched[app][child.kind] = strangerWatch{uid: uid, cancel: cancel}

	informer := metadatainformer.NewFilteredMetadataInformer(s.client, child.resource, app.Namespace, 0, toolscache.Indexers{},
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, app.Name).String()
		}).Informer()
	notify := func() {
		select {
		case s.wake <- event.GenericEvent{Object: &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: app.Namespace}}}:
		case <-ctx.Done():
		}
	}
	// Neither call fails before the informer has started.
	_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { notify() },
		UpdateFunc: func(before, after any) {
			if changedHands(before, after) || concerns(after, app.Name, uid) {
				notify()
			}
		},
		DeleteFunc: func(any) { notify() },
	})
	s.running.Go(func() { informer.RunWithContext(ctx) })
}

// unwatch ends the watch of a child's name.
func (s *strangers) unwatch(app client.ObjectKey, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running, found := s.watched[app][kind]; found {
		running.cancel()
		delete(s.watched[app], kind)
	}
}

// forget ends all watches for an Application.
func (s *strangers) forget(app client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(app)
}

func (s *strangers) forgetLocked(app client.ObjectKey) {
	for _, running := range s.watched[app] {
		running.cancel()
	}
	delete(s.watched, app)
}

// changedHands reports whether an update can change whom the object, or a field of it, belongs to.
func changedHands(before, after any) bool {
	was, ok := before.(metav1.Object)
	is, ok2 := after.(metav1.Object)
	if !ok || !ok2 {
		return true
	}
	return was.GetUID() != is.GetUID() ||
		was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero() ||
		!equality.Semantic.DeepEqual(was.GetOwnerReferences(), is.GetOwnerReferences()) ||
		!equality.Semantic.DeepEqual(was.GetAnnotations(), is.GetAnnotations()) ||
		!equality.Semantic.DeepEqual(withoutTimes(was.GetManagedFields()), withoutTimes(is.GetManagedFields()))
}

// concerns reports whether the Application controls the object or may adopt it. Only then do changes of its values matter,
// which metadata do not tell: not even managedFields do if a manager changes what it owns already.
func concerns(object any, name string, uid types.UID) bool {
	o, ok := object.(metav1.Object)
	if !ok {
		return false
	}
	owner := metav1.GetControllerOfNoCopy(o)
	return owner != nil && owner.UID == uid || o.GetAnnotations()[v1alpha1.AnnotationAdopt] == name
}
