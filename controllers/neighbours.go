package controllers

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// neighboursBuffer is how many wake-ups wait for the controller before another has to wait, too.
const neighboursBuffer = 64

// LeaseCache limits the cache of Leases to those of operators, in whichever namespace.
func LeaseCache() cache.ByObject {
	return cache.ByObject{Namespaces: map[string]cache.Config{
		cache.AllNamespaces: {FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, v1alpha1.LeaseName)},
	}}
}

// neighbours are the other operators of the cluster. Each holds a Lease of one name in a namespace of its own, which tells its
// scope. Where scopes overlap, one operator stands back, so that the two never work on the same Application: an operator of
// all namespaces stands back from one that names its namespaces, and else the younger Lease from the older one.
//
// Many may write Leases in some namespace, and must not stop the operator elsewhere by that. So a Lease counts for the
// Applications of its own namespace, and for others only if its namespace is trusted. All that overlap are reported.
type neighbours struct {
	own      client.ObjectKey // the own Lease; no name without leader election
	scope    Scope
	trusted  []string // namespaces of operators to stand back from anywhere
	clock    clock.WithDelayedExecution
	recorder events.EventRecorder
	logger   logr.Logger
	cache    client.Reader
	// woken takes Applications that this operator may handle now, or not any more.
	woken chan event.GenericEvent

	mu     sync.Mutex
	since  metav1.Time // creation of the own Lease
	others map[client.ObjectKey]*neighbour
}

// neighbour is another operator, while its Lease is renewed.
type neighbour struct {
	since   metav1.Time
	scope   Scope
	renewed metav1.MicroTime
	expiry  clock.Timer
}

// handler takes the events of Leases.
func (n *neighbours) handler() handler.TypedEventHandler[*coordinationv1.Lease, reconcile.Request] {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.TypedFuncs[*coordinationv1.Lease, reconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*coordinationv1.Lease], _ queue) {
			n.observe(ctx, e.Object)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*coordinationv1.Lease], _ queue) {
			n.observe(ctx, e.ObjectNew)
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*coordinationv1.Lease], _ queue) {
			n.forget(ctx, client.ObjectKeyFromObject(e.Object))
		},
	}
}

// observe takes the present state of the Lease of an operator.
func (n *neighbours) observe(ctx context.Context, lease *coordinationv1.Lease) {
	key := client.ObjectKeyFromObject(lease)
	if key == n.own {
		n.observeOwn(ctx, lease.CreationTimestamp)
		return
	}
	duration := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	renewed := ptr.Deref(lease.Spec.RenewTime, metav1.MicroTime{})
	if ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
		n.forget(ctx, key)
		return
	}
	// What cannot be read stands for all Applications, as does what was never written.
	scope, unreadable := decodeScope(lease.Annotations[v1alpha1.AnnotationScope])

	n.mu.Lock()
	known := n.others[key]
	var before *neighbour
	switch {
	case known == nil:
		// Clocks differ, but an operator that has been dead for long is not waited for.
		if n.clock.Since(renewed.Time) > 2*duration {
			n.mu.Unlock()
			return
		}
		// The context ends with the event, and the goroutine is there since a clock may be locked while it calls.
		lasting := context.WithoutCancel(ctx)
		known = &neighbour{expiry: n.clock.AfterFunc(duration, func() { go n.forget(lasting, key) })}
		n.others[key] = known
	case known.scope.encode() == scope.encode():
		if !known.renewed.Equal(&renewed) {
			known.renewed = renewed
			known.expiry.Reset(duration)
		}
		n.mu.Unlock()
		return
	default:
		before = &neighbour{since: known.since, scope: known.scope}
	}
	known.since, known.scope, known.renewed = lease.CreationTimestamp, scope, renewed
	after := &neighbour{since: known.since, scope: known.scope}
	known.expiry.Reset(duration)
	n.mu.Unlock()
	if unreadable != nil {
		n.logger.Error(unreadable, "The scope of another operator is taken for all Applications", "lease", key)
	}
	if scope.overlaps(n.scope) {
		n.report(key, scope)
	}
	n.wakeAffected(ctx, key, before, after)
}

// observeOwn takes the age of the own Lease, without which the operator stands back from others.
func (n *neighbours) observeOwn(ctx context.Context, created metav1.Time) {
	n.mu.Lock()
	changed := !n.since.Equal(&created)
	n.since = created
	alone := len(n.others) == 0
	n.mu.Unlock()
	if changed && !alone {
		n.wake(ctx, func(*v1alpha1.Application) bool { return true })
	}
}

// forget takes an operator for gone.
func (n *neighbours) forget(ctx context.Context, key client.ObjectKey) {
	n.mu.Lock()
	gone, found := n.others[key]
	if found {
		gone.expiry.Stop()
		delete(n.others, key)
	}
	n.mu.Unlock()
	if found && gone.scope.overlaps(n.scope) {
		n.logger.Info("Another operator with an overlapping scope is gone", "lease", key)
		n.wakeAffected(ctx, key, gone, nil)
	}
}

// report tells users of an operator whose scope overlaps.
func (n *neighbours) report(key client.ObjectKey, scope Scope) {
	n.logger.Info("Another operator handles Applications that this one handles, too",
		keyReason, reasonOverlap, "lease", key, "theirs", scope.encode(), "ours", n.scope.encode())
	if n.own.Name == "" {
		return
	}
	n.recorder.Eventf(leaseReference(n.own), leaseReference(key), corev1.EventTypeWarning, reasonOverlap, actionReconcile,
		"The operator of Lease %s handles %s and this one %s: give each a scope of its own with --watch-namespaces or --application-selector", key, scope.encode(), n.scope.encode())
}

func leaseReference(key client.ObjectKey) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease", Namespace: key.Namespace, Name: key.Name}
}

// wakeAffected has those Applications looked at again that another operator has taken or given up. Nil stands for an operator
// that is not there. Many may write a Lease in some namespace, so it must not cost more than the Applications it counts for.
func (n *neighbours) wakeAffected(ctx context.Context, key client.ObjectKey, before, after *neighbour) {
	if (before == nil || !before.scope.overlaps(n.scope)) && (after == nil || !after.scope.overlaps(n.scope)) {
		return
	}
	var within []client.ListOption
	if !slices.Contains(n.trusted, key.Namespace) {
		within = append(within, client.InNamespace(key.Namespace))
	}
	n.wake(ctx, func(app *v1alpha1.Application) bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.leavesTo(key, before, app) != n.leavesTo(key, after, app)
	}, within...)
}

// wake has the cached Applications that are affected looked at again.
func (n *neighbours) wake(ctx context.Context, affected func(*v1alpha1.Application) bool, within ...client.ListOption) {
	applications := &v1alpha1.ApplicationList{}
	if err := n.cache.List(ctx, applications, within...); err != nil {
		n.logger.Error(err, "Cannot list the Applications that another operator gives up or takes")
		return
	}
	for i := range applications.Items {
		if !affected(&applications.Items[i]) {
			continue
		}
		select {
		case n.woken <- event.GenericEvent{Object: &applications.Items[i]}:
		case <-ctx.Done():
			return
		}
	}
}

// handle reports whether another operator handles an Application of this one's scope.
func (n *neighbours) handle(app *v1alpha1.Application) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, other := range n.others {
		if n.leavesTo(key, other, app) {
			return true
		}
	}
	return false
}

// leavesTo reports whether an Application is left to another operator, if there is one.
func (n *neighbours) leavesTo(key client.ObjectKey, other *neighbour, app *v1alpha1.Application) bool {
	return other != nil && (key.Namespace == app.Namespace || slices.Contains(n.trusted, key.Namespace)) &&
		other.scope.covers(app) && n.standsBackFrom(key, other)
}

// standsBackFrom compares the two operators. Both come to the same result.
func (n *neighbours) standsBackFrom(key client.ObjectKey, other *neighbour) bool {
	if mine, theirs := len(n.scope.Namespaces) > 0, len(other.scope.Namespaces) > 0; mine != theirs {
		return theirs
	}
	switch {
	case n.own.Name == "" || n.since.IsZero():
		return true // without a Lease, the others know nothing of this one
	case !n.since.Equal(&other.since):
		return other.since.Before(&n.since)
	default:
		return strings.Compare(key.Namespace, n.own.Namespace) < 0
	}
}

// overlapping counts the operators whose scopes overlap with this one's.
func (n *neighbours) overlapping() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := 0
	for _, other := range n.others {
		if other.scope.overlaps(n.scope) {
			count++
		}
	}
	return count
}

func newOverlapGauge(n *neighbours) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: overlapsMetric.Name, Help: overlapsMetric.Help}, func() float64 {
		if n == nil {
			return 0
		}
		return float64(n.overlapping())
	})
}
