package controllers

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// watching runs the watches of foreign objects against a fake API server within a bubble of goroutines: settle waits
// until all of them have nothing left to do, and a goroutine that outlives Start fails the test.
type watching struct {
	t *testing.T
	*strangers
	server *fake.FakeMetadataClient
	stop   func()
}

func inBubble(t *testing.T, test func(*testing.T, *watching)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		scheme := fake.NewTestScheme()
		if err := metav1.AddMetaToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		server := fake.NewSimpleMetadataClient(scheme)
		w := &watching{t: t, server: server, strangers: newStrangers(server)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Start(ctx) }()
		w.stop = func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Start: %v", err)
			}
			w.stop = func() {}
		}
		test(t, w)
		w.stop()
	})
}

// wakeUps waits until nothing moves any more and returns which Applications were woken.
func (w *watching) wakeUps() []client.ObjectKey {
	w.t.Helper()
	var keys []client.ObjectKey
	for {
		synctest.Wait()
		select {
		case e := <-w.wake:
			keys = append(keys, client.ObjectKeyFromObject(e.Object))
		default:
			return keys
		}
	}
}

func (w *watching) expectWakeUps(why string, want ...client.ObjectKey) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.wakeUps()); diff != "" {
		w.t.Errorf("%s: woken (-want +got):\n%s", why, diff)
	}
}

// stranger returns an object of the Application's name that is not its own.
func stranger(child *childKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: child.resource.GroupVersion().String(), Kind: child.kind}}
	object.Namespace, object.Name, object.UID, object.ResourceVersion = webKey.Namespace, webKey.Name, "stranger", "1"
	return object
}

func (w *watching) create(child *childKind, object *metav1.PartialObjectMetadata) {
	w.t.Helper()
	if err := w.server.Tracker().Create(child.resource, object, object.Namespace); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watching) update(child *childKind, change func(*metav1.PartialObjectMetadata)) {
	w.t.Helper()
	object := stranger(child)
	change(object)
	if err := w.server.Tracker().Update(child.resource, object, object.Namespace); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watching) remove(child *childKind) {
	w.t.Helper()
	if err := w.server.Tracker().Delete(child.resource, webKey.Namespace, webKey.Name); err != nil {
		w.t.Fatal(err)
	}
}

func adopt(name string) func(*metav1.PartialObjectMetadata) {
	return func(o *metav1.PartialObjectMetadata) { o.Annotations = map[string]string{"example.com/consent": name} }
}

func TestStrangersWake(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *watching) {
		w.create(deploymentChild, stranger(deploymentChild))
		w.watch(newApp(), deploymentChild)
		w.expectWakeUps("the object may have changed since it was looked at", webKey)
		w.update(deploymentChild, func(o *metav1.PartialObjectMetadata) { o.Labels = map[string]string{"a": "b"} })
		w.expectWakeUps("what does not bear on whose it is")
		w.update(deploymentChild, adopt("web"))
		w.expectWakeUps("an annotation", webKey)
		w.remove(deploymentChild)
		w.expectWakeUps("it went away", webKey)
		w.create(deploymentChild, stranger(deploymentChild))
		w.expectWakeUps("another came", webKey)
	})
}

// TestStrangersWakeForOwnChild: a child whose label another manager holds is not in the caches, so each of its changes
// has to come this way.
func TestStrangersWakeForOwnChild(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *watching) {
		own := func(version string) func(*metav1.PartialObjectMetadata) {
			return func(o *metav1.PartialObjectMetadata) {
				o.OwnerReferences, o.ResourceVersion = childMeta().OwnerReferences, version
			}
		}
		object := stranger(serviceChild)
		own("1")(object)
		w.create(serviceChild, object)
		w.watch(newApp(), serviceChild)
		w.expectWakeUps("it may have changed since it was looked at", webKey)
		w.update(serviceChild, own("2"))
		w.expectWakeUps("a change that metadata do not show", webKey)
	})
}

func TestStrangersWatchOneObject(t *testing.T) {
	inBubble(t, func(t *testing.T, w *watching) {
		for range 3 {
			w.watch(newApp(), serviceChild)
		}
		w.expectWakeUps("there is nothing yet")
		requests := map[string]int{}
		for _, action := range w.server.Actions() {
			requests[action.GetVerb()]++
			list, ok := action.(clienttesting.ListActionImpl)
			if !ok {
				continue
			}
			if action.GetNamespace() != webKey.Namespace || list.GetListRestrictions().Fields.String() != "metadata.name=web" || action.GetResource() != serviceChild.resource {
				t.Errorf("lists %s in %q where %s: more than the one object", action.GetResource(), action.GetNamespace(), list.GetListRestrictions().Fields)
			}
		}
		if diff := cmp.Diff(map[string]int{"list": 1, "watch": 1}, requests); diff != "" {
			t.Errorf("requests for three calls of watch (-want +got):\n%s", diff)
		}
	})
}

func TestStrangersUnwatch(t *testing.T) {
	inBubble(t, func(t *testing.T, w *watching) {
		other := client.ObjectKey{Namespace: webKey.Namespace, Name: "other"}
		w.watch(newApp(), deploymentChild)
		w.watch(newApp(), serviceChild)
		otherApp := newApp()
		otherApp.Name, otherApp.UID = other.Name, "other"
		w.watch(otherApp, serviceChild)
		w.expectWakeUps("nothing there")
		w.unwatch(webKey, "Deployment")
		w.unwatch(webKey, "Deployment")
		w.unwatch(client.ObjectKey{Name: "never watched"}, "Deployment")
		w.expectWakeUps("unwatch itself")
		w.create(deploymentChild, stranger(deploymentChild))
		w.expectWakeUps("a Deployment that is not watched any more")
		w.watch(newApp(), deploymentChild)
		w.expectWakeUps("it is watched again", webKey)

		w.forget(webKey)
		w.forget(webKey)
		w.remove(deploymentChild)
		w.expectWakeUps("a forgotten Application")
		if len(w.watched) != 1 || len(w.watched[other]) != 1 {
			t.Errorf("still watched: %v, want only that of %s", w.watched, other)
		}
	})
}

// TestStrangersOfSuccessor: a later Application of the name takes the watch over, and the earlier one's ends.
func TestStrangersOfSuccessor(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *watching) {
		w.watch(newApp(), deploymentChild)
		w.expectWakeUps("nothing there")
		successor := newApp()
		successor.UID = "successor"
		w.watch(successor, deploymentChild)
		w.expectWakeUps("nothing there, still")
		w.create(deploymentChild, stranger(deploymentChild))
		w.expectWakeUps("it came", webKey)
	})
}

// TestStrangersUnwatchWhileBusy: a watch that waits for a controller which takes nothing ends all the same, and takes
// what it wanted to say with it.
func TestStrangersUnwatchWhileBusy(t *testing.T) {
	inBubble(t, func(t *testing.T, w *watching) {
		w.watch(newApp(), deploymentChild)
		synctest.Wait()
		for range cap(w.wake) {
			w.wake <- event.GenericEvent{Object: newApp()}
		}
		w.create(deploymentChild, stranger(deploymentChild))
		w.update(deploymentChild, adopt("web"))
		w.update(deploymentChild, adopt("other"))
		synctest.Wait()
		w.unwatch(webKey, "Deployment")
		synctest.Wait()
		if got := len(w.wakeUps()); got != cap(w.wake) {
			t.Errorf("%d wake-ups, want only the %d from before", got, cap(w.wake))
		}
	})
}

func TestStrangersEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *watching) {
		w.watch(newApp(), deploymentChild)
		w.watch(newApp(), serviceChild)
		synctest.Wait()
		w.stop()
		if len(w.watched) != 0 {
			t.Errorf("still watched: %v", w.watched)
		}
		before := len(w.server.Actions())
		w.watch(newApp(), deploymentChild)
		w.expectWakeUps("after the end")
		if len(w.server.Actions()) != before || len(w.watched) != 0 {
			t.Error("a watch was begun after the end: nothing would end it")
		}
		w.create(serviceChild, stranger(serviceChild))
		w.expectWakeUps("after the end")
	})
}

// TestStrangersConcurrently is for the race detector.
func TestStrangersConcurrently(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *watching) {
		for n := range 4 {
			go func() {
				for range 20 {
					w.watch(newApp(), deploymentChild)
					w.watch(newApp(), serviceChild)
					w.unwatch(webKey, "Service")
					if n == 0 {
						w.forget(webKey)
					}
				}
			}()
		}
		w.stop()
		synctest.Wait()
	})
}
