package desired

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	applicationv1alpha1ac "mycompany.io/application-operator/applyconfigs/application/v1alpha1"
)

// Status returns the apply configuration that makes status the status of app. It holds nothing of the spec or the
// metadata, so that its field manager owns nothing there, and no empty map: of one that was filled before, the API server
// would leave a null, and refuse that.
//
// An error means that the status has no JSON form, which nothing read from an API server can cause.
func Status(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) (*applicationv1alpha1ac.ApplicationApplyConfiguration, error) {
	status = withValidServiceConditions(status)
	config, err := convert[applicationv1alpha1ac.ApplicationStatusApplyConfiguration](status)
	if err != nil {
		return nil, fmt.Errorf("status of Application %s/%s: %w", app.Namespace, app.Name, err)
	}
	if config.DeploymentStatus != nil && equality.Semantic.DeepEqual(status.DeploymentStatus, &appsv1.DeploymentStatus{}) {
		config.DeploymentStatus = nil
	}
	if service := config.ServiceStatus; service != nil {
		if len(status.ServiceStatus.LoadBalancer.Ingress) == 0 {
			service.LoadBalancer = nil
		}
		if service.LoadBalancer == nil && len(service.Conditions) == 0 {
			config.ServiceStatus = nil
		}
	}
	return applicationv1alpha1ac.Application(app.Name, app.Namespace).WithStatus(config), nil
}

// withValidServiceConditions drops the conditions of the Service that the CustomResourceDefinition would refuse. The API
// server does not validate them in a Service, and one bad condition would keep the whole status from arriving.
func withValidServiceConditions(status *v1alpha1.ApplicationStatus) *v1alpha1.ApplicationStatus {
	if status.ServiceStatus == nil {
		return status
	}
	valid := status.DeepCopy()
	valid.ServiceStatus.Conditions = slices.DeleteFunc(valid.ServiceStatus.Conditions, func(c metav1.Condition) bool {
		return len(validation.ValidateConditions([]metav1.Condition{c}, nil)) > 0
	})
	return valid
}
