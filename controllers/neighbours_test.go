package controllers

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// overlapEvents keeps the Events about overlapping operators.
type overlapEvents []string

func (e *overlapEvents) Eventf(_, _ runtime.Object, eventType, reason, _, _ string, _ ...any) {
	*e = append(*e, eventType+" "+reason)
}

// newNeighbours returns what the operator of namespace ops, whose Lease was created at start, knows of others.
func newNeighbours(t *testing.T, scope Scope) (*neighbours, *clocktesting.FakeClock, *overlapEvents) {
	t.Helper()
	clock, events := clocktesting.NewFakeClock(start), &overlapEvents{}
	n := &neighbours{
		own: client.ObjectKey{Namespace: "ops", Name: v1alpha1.LeaseName}, scope: scope, trusted: []string{"a", "zoo"}, clock: clock, recorder: events,
		logger: logr.Discard(), cache: &applicationList{items: []v1alpha1.Application{*newApp()}},
		woken: make(chan event.GenericEvent, neighboursBuffer), others: map[client.ObjectKey]*neighbour{},
	}
	n.observe(t.Context(), lease("ops", "me", start, start, ""))
	return n, clock, events
}

func lease(namespace, holder string, created, renewed time.Time, scope string) *coordinationv1.Lease {
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.LeaseName, CreationTimestamp: metav1.NewTime(created)},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: renewed},
		},
	}
	if scope != "" {
		l.Annotations = map[string]string{v1alpha1.AnnotationScope: scope}
	}
	return l
}

func TestWhoStandsBack(t *testing.T) {
	older, younger := start.Add(-time.Hour), start.Add(time.Hour)
	for _, c := range []struct {
		name    string
		scope   Scope
		other   *coordinationv1.Lease
		handles bool
		overlap int
	}{
		{"an older one of the same scope", Scope{}, lease("a", "x", older, start, "{}"), true, 1},
		{"a younger one", Scope{}, lease("a", "x", younger, start, "{}"), false, 1},
		{"one of the same age, by the name of its namespace", Scope{}, lease("a", "x", start, start, "{}"), true, 1},
		{"the same, seen from the other side", Scope{}, lease("zoo", "x", start, start, "{}"), false, 1},
		{"a younger one that names its namespaces", Scope{}, lease("a", "x", younger, start, `{"namespaces":["shop"]}`), true, 1},
		{"an older one of all namespaces", scopeOf(t, "", "shop"), lease("a", "x", older, start, "{}"), false, 1},
		{"an older one of other namespaces", scopeOf(t, "", "shop"), lease("a", "x", older, start, `{"namespaces":["bar"]}`), false, 0},
		{"an older one of other labels", Scope{}, lease("a", "x", older, start, `{"selector":"team=red"}`), false, 1},
		{"an older one that nobody trusts", Scope{}, lease("b", "x", older, start, "{}"), false, 1},
		{"one that nobody trusts, and that claims many namespaces", Scope{}, lease("b", "x", older, start, `{"namespaces":["b","shop"]}`), false, 1},
		{"one that nobody trusts, in its own namespace", Scope{}, lease("shop", "x", younger, start, `{"namespaces":["shop"]}`), true, 1},
		{"an older one that says nothing", Scope{}, lease("a", "x", older, start, ""), true, 1},
		{"an older one that cannot be understood", Scope{}, lease("a", "x", older, start, "?"), true, 1},
		{"an older one whose selector cannot be understood", Scope{}, lease("a", "x", older, start, `{"namespaces":["bar"],"selector":"="}`), true, 1},
		{"one that has stopped", Scope{}, lease("a", "", older, start, "{}"), false, 0},
		{"one that has not renewed for a while", Scope{}, lease("a", "x", older, start.Add(-29*time.Second), "{}"), true, 1},
		{"one that has been dead for long", Scope{}, lease("a", "x", older, start.Add(-time.Minute), "{}"), false, 0},
		{"itself", Scope{}, lease("ops", "x", older, start, "{}"), false, 0},
	} {
		n, _, events := newNeighbours(t, c.scope)
		n.observe(t.Context(), c.other)
		if got := n.handle(newApp()); got != c.handles {
			t.Errorf("%s handles it: %t", c.name, got)
		}
		if got := n.overlapping(); got != c.overlap || len(*events) != c.overlap {
			t.Errorf("%s: %d overlap, Events %v", c.name, got, *events)
		}
	}
	n, _, events := newNeighbours(t, Scope{})
	n.own.Name = "" // no leader election
	n.observe(t.Context(), lease("a", "x", younger, start, "{}"))
	if !n.handle(newApp()) {
		t.Error("an operator that no other can see does not stand back")
	}
	if len(*events) > 0 {
		t.Errorf("Events %v about a Lease that is not there", *events)
	}
}

// TestNeighbourGoes: whoever stood back is woken when there is no reason any more, and not before.
func TestNeighbourGoes(t *testing.T) {
	older := start.Add(-time.Hour)
	for _, c := range []struct {
		name string
		end  func(n *neighbours, clock *clocktesting.FakeClock)
	}{
		{"without a word", func(_ *neighbours, clock *clocktesting.FakeClock) { clock.Step(15 * time.Second) }},
		{"gracefully", func(n *neighbours, _ *clocktesting.FakeClock) {
			n.observe(t.Context(), lease("a", "", older, start, "{}"))
		}},
		{"by a change of its scope", func(n *neighbours, _ *clocktesting.FakeClock) {
			n.observe(t.Context(), lease("a", "x", older, start, `{"namespaces":["bar"]}`))
		}},
	} {
		n, clock, events := newNeighbours(t, Scope{})
		n.observe(t.Context(), lease("a", "x", older, start, "{}"))
		<-n.woken
		// It goes on renewing its Lease for a while.
		for range 5 {
			clock.Step(10 * time.Second)
			n.observe(t.Context(), lease("a", "x", older, clock.Now(), "{}"))
		}
		if !clock.HasWaiters() {
			t.Errorf("%s: nothing waits for its end any more", c.name)
		}
		if len(n.woken) > 0 || len(*events) != 1 || !n.handle(newApp()) {
			t.Errorf("%s: a renewal woke %d, Events %v", c.name, len(n.woken), *events)
		}
		c.end(n, clock)
		select {
		case woken := <-n.woken:
			if woken.Object.GetName() != webKey.Name || n.handle(newApp()) {
				t.Errorf("%s: woke %s, and the other still handles it: %t", c.name, woken.Object.GetName(), n.handle(newApp()))
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: nobody was woken", c.name)
		}
	}
}

// TestLeaseOfStrangerIsCheap: who may write Leases in a namespace has Applications of that namespace looked at, at most, and
// none if nothing changes for them.
func TestLeaseOfStrangerIsCheap(t *testing.T) {
	older, younger := start.Add(-time.Hour), start.Add(time.Hour)
	for _, c := range []struct {
		name   string
		leases []*coordinationv1.Lease
		woken  []int
	}{
		{"in another namespace", []*coordinationv1.Lease{
			lease("b", "x", older, start, "{}"), lease("b", "x", older, start, `{"namespaces":["shop"]}`), lease("b", "", older, start, "{}"),
		}, []int{0, 0, 0}},
		{"in that of the Application", []*coordinationv1.Lease{
			lease("shop", "x", older, start, "{}"), lease("shop", "y", older, start, "{}"), lease("shop", "x", older, start, `{"namespaces":["shop"]}`),
			lease("shop", "", older, start, ""),
		}, []int{1, 0, 0, 1}},
		{"trusted, but younger", []*coordinationv1.Lease{
			lease("a", "x", younger, start, "{}"), lease("a", "x", younger, start, `{"selector":"team=red"}`), lease("a", "x", younger, start, `{"namespaces":["shop"]}`),
		}, []int{0, 0, 1}},
		{"trusted, and of other Applications", []*coordinationv1.Lease{
			lease("a", "x", older, start, `{"namespaces":["bar"]}`), lease("a", "x", older, start, `{"namespaces":["bar","baz"]}`), lease("a", "", older, start, ""),
		}, []int{0, 0, 0}},
	} {
		n, _, _ := newNeighbours(t, Scope{})
		for i, l := range c.leases {
			n.observe(t.Context(), l)
			if got := len(n.woken); got != c.woken[i] {
				t.Errorf("%s: step %d woke %d, want %d", c.name, i, got, c.woken[i])
			}
			for len(n.woken) > 0 {
				<-n.woken
			}
		}
	}
}

// TestNeighbourLivesByRenewals: an operator counts until its Lease was not renewed for as long as that lasts, whatever else is
// written on it, and an earlier end of it does not end it again.
func TestNeighbourLivesByRenewals(t *testing.T) {
	older := start.Add(-time.Hour)
	shop := `{"namespaces":["shop"]}`
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, n *neighbours, clock *clocktesting.FakeClock)
		gone bool
	}{
		{"written on, not renewed", func(ctx context.Context, n *neighbours, clock *clocktesting.FakeClock) {
			clock.Step(10 * time.Second)
			n.observe(ctx, lease("a", "x", older, start, "{}"))
			clock.Step(5 * time.Second)
		}, true},
		{"renewed, then written on", func(ctx context.Context, n *neighbours, clock *clocktesting.FakeClock) {
			clock.Step(10 * time.Second)
			renewed := clock.Now()
			n.observe(ctx, lease("a", "x", older, renewed, "{}"))
			clock.Step(10 * time.Second)
			n.observe(ctx, lease("a", "x", older, renewed, "{}"))
			clock.Step(5 * time.Second)
		}, true},
		{"renewed, with another scope", func(ctx context.Context, n *neighbours, clock *clocktesting.FakeClock) {
			clock.Step(10 * time.Second)
			n.observe(ctx, lease("a", "x", older, clock.Now(), shop))
			clock.Step(10 * time.Second)
		}, false},
		{"stopped and started again", func(ctx context.Context, n *neighbours, clock *clocktesting.FakeClock) {
			n.observe(ctx, lease("a", "", older, start, "{}"))
			clock.Step(10 * time.Second)
			n.observe(ctx, lease("a", "x", older, clock.Now(), "{}"))
			clock.Step(10 * time.Second)
		}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, clock, _ := newNeighbours(t, Scope{})
			n.observe(t.Context(), lease("a", "x", older, start, "{}"))
			c.do(t.Context(), n, clock)
			synctest.Wait()
			if gone := !n.handle(newApp()); gone != c.gone {
				t.Errorf("%s: gone %t", c.name, gone)
			}
		})
	}
}

// TestNeighbourGoesAfterItsEvent: what its end wakes does not depend on the event that told of it.
func TestNeighbourGoesAfterItsEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, clock, _ := newNeighbours(t, Scope{})
		list := &applicationList{}
		for range neighboursBuffer / 2 {
			list.items = append(list.items, *newApp())
		}
		n.cache = list
		ctx, cancel := context.WithCancel(t.Context())
		n.observe(ctx, lease("a", "x", start.Add(-time.Hour), start, "{}"))
		for range list.items {
			<-n.woken
		}
		cancel()
		clock.Step(15 * time.Second)
		synctest.Wait()
		if len(n.woken) != len(list.items) {
			t.Errorf("woke %d of %d", len(n.woken), len(list.items))
		}
	})
}

// TestLeaseEvents: a Lease counts from its creation, or its first change, until it is deleted.
func TestLeaseEvents(t *testing.T) {
	n, _, _ := newNeighbours(t, Scope{})
	h, other := n.handler(), lease("a", "x", start.Add(-time.Hour), start, "{}")
	elsewhere := lease("a", "x", start.Add(-time.Hour), start, `{"namespaces":["bar"]}`)
	h.Create(t.Context(), event.TypedCreateEvent[*coordinationv1.Lease]{Object: other}, nil)
	if !n.handle(newApp()) {
		t.Error("a new Lease does not count")
	}
	h.Update(t.Context(), event.TypedUpdateEvent[*coordinationv1.Lease]{ObjectOld: other, ObjectNew: elsewhere}, nil)
	if n.handle(newApp()) {
		t.Error("a changed Lease counts as it was")
	}
	h.Update(t.Context(), event.TypedUpdateEvent[*coordinationv1.Lease]{ObjectOld: elsewhere, ObjectNew: other}, nil)
	h.Delete(t.Context(), event.TypedDeleteEvent[*coordinationv1.Lease]{Object: other}, nil)
	if n.handle(newApp()) {
		t.Error("a deleted Lease counts")
	}
}

// TestWakeEnds with the context, although the controller takes nothing any more.
func TestWakeEnds(t *testing.T) {
	n, _, _ := newNeighbours(t, Scope{})
	n.woken = make(chan event.GenericEvent)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	n.observe(ctx, lease("a", "x", start.Add(-time.Hour), start, "{}"))
}

// lister notes down where it is asked to list.
type lister struct {
	client.Reader
	namespaces []string
}

func (l *lister) List(_ context.Context, _ client.ObjectList, options ...client.ListOption) error {
	l.namespaces = append(l.namespaces, new(client.ListOptions).ApplyOptions(options).Namespace)
	return nil
}

// TestListsAsFewAsNeeded: all Applications are looked at only for the Lease of a trusted namespace, and none for an operator
// with which no Application is shared.
func TestListsAsFewAsNeeded(t *testing.T) {
	older := start.Add(-time.Hour)
	for _, c := range []struct {
		name  string
		lease *coordinationv1.Lease
		want  []string
	}{
		{"trusted", lease("a", "x", older, start, "{}"), []string{""}},
		{"not trusted", lease("b", "x", older, start, "{}"), []string{"b"}},
		{"of other namespaces", lease("a", "x", older, start, `{"namespaces":["bar"]}`), nil},
	} {
		n, _, _ := newNeighbours(t, scopeOf(t, "", "shop"))
		l := &lister{}
		n.cache = l
		n.observe(t.Context(), c.lease)
		if !slices.Equal(l.namespaces, c.want) {
			t.Errorf("%s: listed in %q, want %q", c.name, l.namespaces, c.want)
		}
	}
}

// TestOwnLeaseComesLast: an operator that does not know yet how old its Lease is stands back, but not for good.
func TestOwnLeaseComesLast(t *testing.T) {
	n, _, _ := newNeighbours(t, Scope{})
	n.since = metav1.Time{}
	n.observe(t.Context(), lease("a", "x", start.Add(time.Hour), start, "{}"))
	<-n.woken
	if !n.handle(newApp()) {
		t.Fatal("it does not stand back")
	}
	for _, woken := range []int{1, 1} {
		n.observe(t.Context(), lease("ops", "me", start, start, ""))
		if len(n.woken) != woken || n.handle(newApp()) {
			t.Errorf("woke %d, and stands back: %t", len(n.woken), n.handle(newApp()))
		}
	}
}

func TestReconcileStandsBack(t *testing.T) {
	r, s, _ := newReconciler(t)
	r.neighbours, _, _ = newNeighbours(t, Scope{})
	r.neighbours.observe(t.Context(), lease("a", "x", start.Add(-time.Hour), start, "{}"))
	if result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: webKey}); err != nil || result != (ctrl.Result{}) {
		t.Errorf("got %v, %v", result, err)
	}
	expectRequests(t, s)
}
