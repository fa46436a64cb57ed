package controllers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// childKind is a kind of object that Applications have.
type childKind struct {
	kind     string
	resource schema.GroupVersionResource
	// new returns an empty object of the kind.
	new func() client.Object
}

var deploymentChild = &childKind{
	kind:     "Deployment",
	resource: appsv1.SchemeGroupVersion.WithResource("deployments"),
	new:      func() client.Object { return &appsv1.Deployment{} },
}

var serviceChild = &childKind{
	kind:     "Service",
	resource: corev1.SchemeGroupVersion.WithResource("services"),
	new:      func() client.Object { return &corev1.Service{} },
}
