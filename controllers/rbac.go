package controllers

// The operator applies (patch, and create for what is not there) and never updates. The finalizers subresource lets it
// set blockOwnerDeletion where the API server enforces OwnerReferencesPermissionEnforcement.

// +kubebuilder:rbac:groups=application.mycompany.io,resources=applications,verbs=get;list;watch
// +kubebuilder:rbac:groups=application.mycompany.io,resources=applications/status,verbs=patch
// +kubebuilder:rbac:groups=application.mycompany.io,resources=applications/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
