package controllers

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs"
)

// ControllerName names the controller in logs, metrics and Events.
const ControllerName = "application-operator"

// Options tune the controller. The zero value of a field means its default.
type Options struct {
	// MaxConcurrentReconciles is how many Applications are reconciled at a time. Default 1.
	MaxConcurrentReconciles int
	// MinBackoff is the delay before the first retry of an Application whose reconcile failed; it doubles with each
	// further failure. Default 500 ms.
	MinBackoff time.Duration
	// MaxBackoff bounds that delay, and so the time that the operator takes to notice that people have fixed what is
	// no event: rights, a quota, a webhook. Default one minute.
	MaxBackoff time.Duration
	// LegacyFieldManagers are the field managers of older operators, besides the operator's own name, whose Update entries
	// on children are folded into the operator's Apply entry.
	LegacyFieldManagers []string
	// Scope is what the cache of Applications was limited to.
	Scope Scope
	// Lease is the operator's own, if there is leader election.
	Lease client.ObjectKey
	// SeesNeighbours: the operator may watch the Leases of the other operators of the cluster, and the cache was built with
	// LeaseCache.
	SeesNeighbours bool
	// TrustedNamespaces are those of operators whose Applications this one leaves alone, in whichever namespace these are.
	TrustedNamespaces []string
	// ReconciliationTimeout bounds one reconcile. Default one minute.
	ReconciliationTimeout time.Duration
}

const (
	defaultMinBackoff            = 500 * time.Millisecond
	defaultMaxBackoff            = time.Minute
	defaultReconciliationTimeout = time.Minute
)

// CacheByObject limits the caches of the children to the operator's own. managedFields must not be stripped from them:
// they are what ownership is read from.
func CacheByObject() map[client.Object]cache.ByObject {
	own := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{v1alpha1.LabelOwner: v1alpha1.LabelOwnerValue})}
	return map[client.Object]cache.ByObject{&appsv1.Deployment{}: own, &corev1.Service{}: own}
}

// SetupWithManager registers the reconciler with mgr, whose cache must have been built with CacheByObject.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	metadataClient, err := metadata.NewForConfigAndClient(metadata.ConfigFor(mgr.GetConfig()), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("creating the metadata client: %w", err)
	}
	r := &Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(ControllerName),
		Clock:     clock.RealClock{},

		childTypes:     applyconfigurations.NewTypeConverter(mgr.GetScheme()),
		statusTypes:    applyconfigs.NewTypeConverter(mgr.GetScheme()),
		legacyManagers: append([]string{v1alpha1.FieldManager}, options.LegacyFieldManagers...),
		wants:          newWants(),
		strangers:      newStrangers(metadataClient),
		writes:         newOwnWrites(),
		noOps:          newNoOps(),
		metrics:        newInstruments(),
		announced:      newAnnouncements(),
	}
	if options.SeesNeighbours {
		r.neighbours = &neighbours{
			own: options.Lease, scope: options.Scope, trusted: options.TrustedNamespaces, clock: clock.RealClock{}, recorder: r.Recorder, cache: mgr.GetClient(),
			logger: mgr.GetLogger().WithName("neighbours"),
			woken:  make(chan event.GenericEvent, neighboursBuffer), others: map[client.ObjectKey]*neighbour{},
		}
	}
	if options.Lease.Name != "" {
		if err := mgr.Add(&announceScope{client: mgr.GetClient(), lease: options.Lease, scope: options.Scope, clock: clock.RealClock{}}); err != nil {
			return fmt.Errorf("adding the announcement of the scope: %w", err)
		}
	}
	collectors := append(r.metrics.collectors(), newApplicationsCollector(mgr.GetClient(), mgr.Elected()), newOverlapGauge(r.neighbours))
	for _, collector := range collectors {
		if err := metrics.Registry.Register(collector); err != nil {
			return fmt.Errorf("registering the metrics: %w", err)
		}
	}
	if err := mgr.Add(r.strangers); err != nil {
		return fmt.Errorf("adding the watches of foreign objects: %w", err)
	}
	controller := ctrl.NewControllerManagedBy(mgr).
		Named(ControllerName).
		For(&v1alpha1.Application{}, builder.WithPredicates(meaningfulChange())).
		Owns(&appsv1.Deployment{}, builder.WithPredicates(meaningfulChange())).
		Owns(&corev1.Service{}, builder.WithPredicates(meaningfulChange())).
		WatchesRawSource(source.Channel(r.strangers.wake, &handler.EnqueueRequestForObject{})).
		WithOptions(options.forController())
	if r.neighbours != nil {
		controller = controller.
			WatchesRawSource(source.Channel(r.neighbours.woken, &handler.EnqueueRequestForObject{})).
			WatchesRawSource(source.Kind(mgr.GetCache(), &coordinationv1.Lease{}, r.neighbours.handler()))
	}
	return controller.Complete(r)
}

func (o Options) forController() controller.Options {
	minBackoff := orDefault(o.MinBackoff, defaultMinBackoff)
	return controller.Options{
		MaxConcurrentReconciles: o.MaxConcurrentReconciles,
		// The priority queue of controller-runtime v0.24 can lock up when it is shut down under load: the operator then
		// hangs until its grace period ends, without releasing its Lease (kubernetes-sigs/controller-runtime#3538).
		UsePriorityQueue: new(false),
		// A replica that does not lead fills its caches and its queue all the same: to take over costs no list.
		EnableWarmup:          new(true),
		ReconciliationTimeout: orDefault(o.ReconciliationTimeout, defaultReconciliationTimeout),
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
			minBackoff, max(minBackoff, orDefault(o.MaxBackoff, defaultMaxBackoff))),
	}
}

func orDefault(value, fallback time.Duration) time.Duration {
	if value == 0 {
		return fallback
	}
	return value
}
