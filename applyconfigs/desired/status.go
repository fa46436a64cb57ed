package desired

import (
	"fmt"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	applicationv1alpha1ac "mycompany.io/application-operator/applyconfigs/application/v1alpha1"
)

// Status returns the apply configuration that makes status the status of app. It holds nothing of the spec or the
// metadata, so that its field manager owns nothing there.
//
// An error means that the status has no JSON form, which nothing read from an API server can cause.
func Status(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) (*applicationv1alpha1ac.ApplicationApplyConfiguration, error) {
	config, err := convert[applicationv1alpha1ac.ApplicationStatusApplyConfiguration](status)
	if err != nil {
		return nil, fmt.Errorf("status of Application %s/%s: %w", app.Namespace, app.Name, err)
	}
	return applicationv1alpha1ac.Application(app.Name, app.Namespace).WithStatus(config), nil
}
