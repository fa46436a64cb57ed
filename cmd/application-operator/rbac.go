package main

// These rights are a role of their own, since they can be granted in the whole cluster only: an operator of a single namespace
// does without. The metrics server asks the API server who calls, and whether they may; and the operators of a cluster look
// at each other's Leases.

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=application-operator.application.mycompany.io,verbs=list;watch
