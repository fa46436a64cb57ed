package desired

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Service returns the Service that app wants, but for what spec.service adds, or nil if it wants none.
func Service(app *v1alpha1.Application) *corev1ac.ServiceApplyConfiguration {
	if app.Spec.Expose == "" || app.Spec.Port == nil {
		return nil
	}
	return corev1ac.Service(app.Name, app.Namespace).
		WithLabels(labels(app.Name)).
		WithOwnerReferences(controllerReference(app)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(corev1.ServiceType(app.Spec.Expose)).
			WithSelector(v1alpha1.SelectorLabels(app.Name)).
			WithPorts(corev1ac.ServicePort().
				WithName(v1alpha1.PortName).
				WithPort(*app.Spec.Port).
				// By name, so that while a new port number rolls out each pod is reached on its own.
				WithTargetPort(intstr.FromString(v1alpha1.PortName))))
}
