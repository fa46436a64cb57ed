package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	applicationv1alpha1ac "mycompany.io/application-operator/applyconfigs/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

var finalizerApplier = ownership.Applier(v1alpha1.FieldManagerFinalizer)

// syncFinalizer sets the finalizer of an Application that orphans its children, and takes it from one that does not. It
// comes before the children depend on it.
func (r *Reconciler) syncFinalizer(ctx context.Context, app *v1alpha1.Application) error {
	return r.applyFinalizer(ctx, app, app.Spec.DeletionPolicy == v1alpha1.DeletionOrphan)
}

// finalize lets go of the children of an Application that is being deleted and orphans them, then of the Application.
// Each step finds out by itself whether it has been done, so a crash between any two loses nothing.
func (r *Reconciler) finalize(ctx context.Context, app *v1alpha1.Application) error {
	if !slices.Contains(app.Finalizers, v1alpha1.Finalizer) {
		return nil
	}
	if app.Spec.DeletionPolicy == v1alpha1.DeletionOrphan {
		if err := r.orphanAll(ctx, app); err != nil {
			return err
		}
	}
	err := r.applyFinalizer(ctx, app, false)
	if err == nil && slices.Contains(app.Finalizers, v1alpha1.Finalizer) {
		err = r.dropFinalizer(ctx, app)
	}
	if errors.Is(err, errApplicationGone) {
		return nil
	}
	return err
}

// orphanAll orphans all children. It warns of those that are lost: a foreground deletion does not wait for finalizers before
// it deletes dependents, so the garbage collector and the operator reach for the children at the same time.
func (r *Reconciler) orphanAll(ctx context.Context, app *v1alpha1.Application) error {
	var lost []string
	wanted := r.wants.of(r.childTypes, app) // nothing, if the spec is invalid
	for _, child := range []*childKind{deploymentChild, serviceChild} {
		kept, err := r.orphan(ctx, app, child)
		if err != nil {
			return fmt.Errorf("orphaning %s %s: %w", child.kind, app.Name, err)
		}
		if wanted.intents[child.kind] != nil && !kept {
			lost = append(lost, child.kind+" "+app.Name)
		}
	}
	if len(lost) > 0 {
		note := fmt.Sprintf("Not there any more to be orphaned: %s. If the Application was deleted with --cascade=foreground, the garbage collector deletes its children at once, "+
			"although spec.deletionPolicy is Orphan: to keep them, delete without --cascade, or with --cascade=orphan", strings.Join(lost, " and "))
		r.Recorder.Eventf(app, nil, corev1.EventTypeWarning, v1alpha1.ReasonChildrenLost, actionReconcile, "%s", note)
	}
	return nil
}

// applyFinalizer applies what the operator owns of an Application's metadata: its finalizer, or nothing. It returns
// errApplicationGone if app is not there any more.
func (r *Reconciler) applyFinalizer(ctx context.Context, app *v1alpha1.Application, wanted bool) error {
	config := applicationv1alpha1ac.Application(app.Name, app.Namespace)
	if wanted {
		config.WithFinalizers(v1alpha1.Finalizer)
	}
	intent, err := ownership.NewIntent(r.statusTypes, finalizerApplier, config)
	if err != nil {
		return fmt.Errorf("finalizer of the Application: %w", err)
	}
	difference, err := intent.Compare(withoutSpec(app))
	if err != nil {
		return fmt.Errorf("comparing the finalizer of the Application: %w", err)
	}
	if difference.Missing.Empty() && difference.Extra.Empty() && difference.Changed.Empty() && difference.OldVersion == "" {
		return nil
	}

	object := intent.Object()
	object.SetUID(app.UID)
	err = r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(v1alpha1.FieldManagerFinalizer))
	r.metrics.applies.WithLabelValues(v1alpha1.Kind, string(applyOutcome(app, object, err))).Inc()
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// The uid is of an Application that is gone; whichever is there now, its own event follows.
		return errApplicationGone
	}
	if err != nil {
		return fmt.Errorf("applying the finalizer of the Application: %w", r.explainDroppedVersion(app, err))
	}
	r.writes.recordApply(client.ObjectKeyFromObject(app), v1alpha1.Kind, object)
	app.ResourceVersion, app.Finalizers = object.GetResourceVersion(), object.GetFinalizers()
	log.FromContext(ctx).Info("Applied", keyChild, v1alpha1.Kind, keyOutcome, outcomeConfigured, "finalizer", wanted)
	return nil
}

// dropFinalizer removes the finalizer where letting go of it was not enough: an Application that was restored from a dump
// has it from whoever restored it. Its name is the operator's, and so is the duty to remove it.
func (r *Reconciler) dropFinalizer(ctx context.Context, app *v1alpha1.Application) error {
	path := fmt.Sprintf("/metadata/finalizers/%d", slices.Index(app.Finalizers, v1alpha1.Finalizer))
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": path, "value": v1alpha1.Finalizer},
		{"op": "remove", "path": path},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": app.ResourceVersion},
	})
	if err != nil {
		return fmt.Errorf("building the patch: %w", err)
	}
	//nolint:forbidigo // what another manager owns cannot be removed by an apply
	err = r.Client.Patch(ctx, app, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(v1alpha1.FieldManagerFinalizer))
	if apierrors.IsNotFound(err) {
		return errApplicationGone
	}
	if err != nil {
		return fmt.Errorf("removing the finalizer of the Application: %w", err)
	}
	return nil
}
