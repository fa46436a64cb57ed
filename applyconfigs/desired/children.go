package desired

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/partial"
)

// Children are the apply configurations of all children of an Application.
type Children struct {
	// Deployment is never nil.
	Deployment any
	// Service is nil if none is wanted.
	Service any
}

var (
	deploymentKind = partial.Kind{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"),
		New:              func() runtime.Object { return &appsv1.Deployment{} },
	}
	serviceKind = partial.Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Service"),
		New:              func() runtime.Object { return &corev1.Service{} },
	}
)

// ForApplication returns the children that app wants: what the fields of its spec ask for, with spec.deployment and
// spec.service merged over it. Types knows the schemas of the children. The Application must come from the API server: its
// UID goes into the owner references.
//
// The error is a *partial.InvalidError, with everything that is wrong in both, if spec.deployment or spec.service cannot
// be merged. Only a change of the spec helps then.
func ForApplication(types managedfields.TypeConverter, app *v1alpha1.Application) (*Children, error) {
	deployment, err := Deployment(app)
	if err != nil {
		return nil, err
	}
	children := &Children{Deployment: deployment}
	if service := Service(app); service != nil {
		children.Service = service
	}

	invalid := &partial.InvalidError{}
	for _, part := range []struct {
		override
		raw    *runtime.RawExtension
		config *any
	}{
		{deploymentOverride, app.Spec.Deployment, &children.Deployment},
		{serviceOverride, app.Spec.Service, &children.Service},
	} {
		merged, err := part.merge(types, part.raw, *part.config)
		if more := (*partial.InvalidError)(nil); errors.As(err, &more) {
			invalid.Problems = append(invalid.Problems, more.Problems...)
			continue
		}
		if err != nil {
			return nil, err
		}
		*part.config = merged
	}
	if len(invalid.Problems) > 0 {
		return nil, invalid
	}
	return children, nil
}

// ValidatePartials returns everything that is wrong with spec.deployment and spec.service, each problem with its path. It
// is what the condition Synced would say of app, without a need for the API server: for warnings at admission.
func ValidatePartials(types managedfields.TypeConverter, app *v1alpha1.Application) []error {
	_, err := ForApplication(types, app)
	invalid := (*partial.InvalidError)(nil)
	if !errors.As(err, &invalid) {
		return nil // what is wrong then is nothing that the user could mend
	}
	problems := make([]error, 0, len(invalid.Problems))
	for _, problem := range invalid.Problems {
		problems = append(problems, errors.New(problem.String()))
	}
	return problems
}
