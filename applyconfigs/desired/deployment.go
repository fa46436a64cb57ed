package desired

import (
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Deployment returns the Deployment that app wants, but for what spec.deployment adds: see ForApplication. The
// Application must come from the API server: its UID goes into the owner reference.
//
// An error means that a part of the spec has no JSON form, which no object that the API server accepted can cause.
func Deployment(app *v1alpha1.Application) (*appsv1ac.DeploymentApplyConfiguration, error) {
	main, err := container(app)
	if err != nil {
		return nil, err
	}

	deployment := appsv1ac.Deployment(app.Name, app.Namespace).
		WithLabels(labels(app.Name)).
		WithOwnerReferences(controllerReference(app)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(v1alpha1.SelectorLabels(app.Name))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels(app.Name)).
				WithSpec(corev1ac.PodSpec().WithContainers(main))))
	if app.Spec.Replicas != nil {
		deployment.Spec.WithReplicas(*app.Spec.Replicas)
	}
	return deployment, nil
}
