package controllers

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	coordinationv1ac "k8s.io/client-go/applyconfigurations/coordination/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

const (
	announceMinBackoff = time.Second
	announceMaxBackoff = time.Minute
)

// announceScope writes the operator's scope on its Lease once it leads. It implements manager.Runnable.
type announceScope struct {
	client client.Client
	lease  client.ObjectKey
	scope  Scope
	clock  clock.Clock
}

// Start implements manager.Runnable. It tries until it succeeds or ctx ends, and never fails: what others may write on a Lease,
// or which rights are missing, must not end an operator.
func (a *announceScope) Start(ctx context.Context) error {
	told := ""
	for backoff := announceMinBackoff; ; backoff = min(2*backoff, announceMaxBackoff) {
		err := a.announce(ctx)
		if err == nil || ctx.Err() != nil {
			return nil //nolint:nilerr // a manager that stops needs no scope any more
		}
		if told != err.Error() {
			told = err.Error()
			log.FromContext(ctx).Error(err, "Other operators cannot be told which Applications are this one's, and go by what its Lease says, "+
				"or take them all for its own. "+announceAdvice(err), "lease", a.lease)
		}
		select {
		case <-a.clock.After(backoff):
		case <-ctx.Done():
			return nil
		}
	}
}

func (a *announceScope) announce(ctx context.Context) error {
	lease := coordinationv1ac.Lease(a.lease.Name, a.lease.Namespace).
		WithAnnotations(map[string]string{v1alpha1.AnnotationScope: a.scope.encode()})
	return a.client.Apply(ctx, lease, client.FieldOwner(v1alpha1.FieldManagerScope)) //nolint:wrapcheck // it is only logged
}

// announceAdvice returns what to do about a failure to write on the Lease.
func announceAdvice(err error) string {
	switch {
	case apierrors.IsConflict(err):
		return "Remove the annotation " + v1alpha1.AnnotationScope + " from the Lease: the operator writes its own within a minute"
	case apierrors.IsForbidden(err):
		return "Grant the right to patch the Lease, as deploy/rbac does: the roles may be of an older release"
	default:
		return "It is tried again"
	}
}
