package desired

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// ObjectionToSelector says why app cannot take over a Deployment with this selector, or nothing if it can.
func ObjectionToSelector(selector *metav1.LabelSelector, app *v1alpha1.Application) string {
	wanted := &metav1.LabelSelector{MatchLabels: v1alpha1.SelectorLabels(app.Name)}
	if equality.Semantic.DeepEqual(selector, wanted) {
		return ""
	}
	return fmt.Sprintf("its selector is %q where the Application's is %q, and the selector of a Deployment cannot be changed",
		metav1.FormatLabelSelector(selector), metav1.FormatLabelSelector(wanted))
}
