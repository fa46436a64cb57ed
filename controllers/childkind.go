package controllers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
)

// childKind is a kind of object that Applications have.
type childKind struct {
	kind     string
	resource schema.GroupVersionResource
	// new returns an empty object of the kind.
	new func() client.Object
	// desired returns a fresh apply configuration of the child, or nil if app wants none.
	desired func(app *v1alpha1.Application) (any, error)
}

var deploymentChild = &childKind{
	kind:     "Deployment",
	resource: appsv1.SchemeGroupVersion.WithResource("deployments"),
	new:      func() client.Object { return &appsv1.Deployment{} },
	desired:  func(app *v1alpha1.Application) (any, error) { return desired.Deployment(app) },
}

var serviceChild = &childKind{
	kind:     "Service",
	resource: corev1.SchemeGroupVersion.WithResource("services"),
	new:      func() client.Object { return &corev1.Service{} },
	desired: func(app *v1alpha1.Application) (any, error) {
		if service := desired.Service(app); service != nil {
			return service, nil
		}
		return nil, nil
	},
}
