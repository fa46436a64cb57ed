package desired

import (
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// labels are those of every child and of the pods. They depend on the Application's name alone: a label that followed
// the operator's version or the Application's own labels would restart pods.
func labels(name string) map[string]string {
	labels := v1alpha1.SelectorLabels(name)
	labels[v1alpha1.LabelName] = name
	labels[v1alpha1.LabelInstance] = name
	labels[v1alpha1.LabelManagedBy] = v1alpha1.LabelOwnerValue
	return labels
}

// controllerReference makes app the controller of a child: the garbage collector removes the child after it.
func controllerReference(app *v1alpha1.Application) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.SchemeGroupVersion.String()).
		WithKind(v1alpha1.Kind).
		WithName(app.Name).
		WithUID(app.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
