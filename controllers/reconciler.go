package controllers

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Reconciler keeps the children of Applications true. SetupWithManager fills what is unexported.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// APIReader reads from the API server. It is asked only before something is created, or taken for absent.
	APIReader client.Reader
	// Recorder writes Events.
	Recorder events.EventRecorder
	// Clock stamps the transitions of conditions.
	Clock clock.PassiveClock

	childTypes     managedfields.TypeConverter
	statusTypes    managedfields.TypeConverter
	legacyManagers []string
	wants          *wants
	strangers      *strangers
	writes         *ownWrites
	noOps          *noOps
	metrics        *instruments
	neighbours     *neighbours // nil: they cannot be seen
	announced      *announcements
}

// Reconcile makes the children of one Application as its spec wants them, and reports.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	app := &v1alpha1.Application{}
	if err := r.Client.Get(ctx, req.NamespacedName, app); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the Application from the cache: %w", err)
	}
	if r.neighbours != nil && r.neighbours.handle(app) {
		// Another operator looks after it. When that ends, it is woken.
		r.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if r.writes.ahead(req.NamespacedName, v1alpha1.Kind, app) {
		// The cache has yet to show our own last write. When it does, that is an event.
		return ctrl.Result{}, nil
	}
	if !app.DeletionTimestamp.IsZero() {
		// Whatever were applied to a child now would outlive the Application.
		r.wants.forget(req.NamespacedName)
		r.strangers.forget(req.NamespacedName)
		r.metrics.conflicts.forget(req.NamespacedName)
		return ctrl.Result{}, r.reportFailure(ctx, app, r.finalize(ctx, app))
	}

	switch err := r.syncFinalizer(ctx, app); {
	case errors.Is(err, errApplicationGone):
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, r.reportFailure(ctx, app, err)
	}
	wanted := r.wants.of(r.childTypes, app)
	deployment := r.syncChild(ctx, app, deploymentChild, wanted)
	service := r.syncChild(ctx, app, serviceChild, wanted)
	if deployment.deferred() || service.deferred() {
		// Too little is known to report anything: either an event will bring the rest, or the error a retry.
		return ctrl.Result{}, retryError(deployment, service)
	}

	status := deriveStatus(app, deployment, service, r.Clock.Now())
	// What of the status itself is contested is known only then.
	defer func() { r.metrics.conflicts.observe(req.NamespacedName, status.Conflicts) }()
	switch err := r.applyStatus(ctx, app, &status); {
	case errors.Is(err, errCacheBehind):
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	r.metrics.latency.observe(app, &status, r.Clock.Now())
	r.announceTransitions(ctx, app, &status)
	return ctrl.Result{}, unlessTold(app, &status, retryError(deployment, service))
}

// forget drops what the process remembers of an Application that is gone or going.
func (r *Reconciler) forget(key client.ObjectKey) {
	r.writes.forget(key)
	r.wants.forget(key)
	r.noOps.forget(key)
	r.strangers.forget(key)
	r.metrics.conflicts.forget(key)
	r.metrics.latency.forget(key)
	r.announced.forget(key)
}
