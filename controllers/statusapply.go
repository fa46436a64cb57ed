package controllers

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// statusApplier is who the operator is in the managedFields of an Application.
var statusApplier = ownership.Manager{
	Name:        v1alpha1.FieldManagerStatus,
	Operation:   metav1.ManagedFieldsOperationApply,
	Subresource: "status",
}

// applyStatus applies the status of app, unless it is just that already.
func (r *Reconciler) applyStatus(ctx context.Context, app *v1alpha1.Application, status v1alpha1.ApplicationStatus) error {
	config, err := desired.Status(app, &status)
	if err != nil {
		return err
	}
	intent, err := ownership.NewIntent(r.statusTypes, statusApplier, config)
	if err != nil {
		return fmt.Errorf("status of the Application: %w", err)
	}
	difference, err := intent.Compare(app)
	if err != nil {
		return fmt.Errorf("comparing the status of the Application: %w", err)
	}
	if difference.Empty() {
		return nil
	}

	object := intent.Object()
	object.SetUID(app.UID) // an Application of the same name that came later has a status of its own
	// The client overwrites object with the answer.
	err = r.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(v1alpha1.FieldManagerStatus))
	if err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil // the Application went away; its deletion is an event
		}
		return fmt.Errorf("applying the status of the Application: %w", err)
	}
	r.writes.recordApply(client.ObjectKeyFromObject(app), v1alpha1.Kind, object)
	return nil
}
