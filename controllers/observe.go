package controllers

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// errCacheBehind: the cache does not show the operator's own last write yet. An event will follow.
var errCacheBehind = errors.New("the cache is behind the operator's own write")

// observe returns the live object of the child's name, whoever controls it, or nil if there is none.
//
// It reads from the cache. That holds only objects with the operator's label, so what is not there may exist all the
// same: where this matters, the API server is asked.
func (r *Reconciler) observe(ctx context.Context, app *v1alpha1.Application, child *childKind, wanted bool) (client.Object, error) {
	key := client.ObjectKeyFromObject(app)
	live := child.new()
	err := r.Client.Get(ctx, key, live)
	switch {
	case err == nil && r.writes.ahead(key, child.kind, live):
		return nil, errCacheBehind
	case err == nil:
		return live, nil
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("reading %s %s from the cache: %w", child.kind, key, err)
	case !wanted && app.Status.ObservedGeneration == app.Generation && meta.IsStatusConditionTrue(app.Status.Conditions, v1alpha1.ConditionSynced):
		// It was looked for when this spec was new, and dealt with.
		return nil, nil
	}

	live = child.new()
	err = r.APIReader.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return live, nil
}
