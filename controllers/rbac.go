package controllers

// The operator applies (patch, and create for what is not there) and never updates. Two rights are for clusters whose API
// server enforces OwnerReferencesPermissionEnforcement: to set blockOwnerDeletion takes an update of the owner's finalizers,
// and to change the owner references of a child takes its deletion.

// +kubebuilder:rbac:groups=application.mycompany.io,resources=applications,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=application.mycompany.io,resources=applications/status,verbs=patch
// +kubebuilder:rbac:groups=application.mycompany.io,resources=applications/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
