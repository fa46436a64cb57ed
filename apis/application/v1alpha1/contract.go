package v1alpha1

// Field managers. They are constants, never flags: ownership in a cluster outlives any process, so a changed name
// would make the operator a stranger to its own fields.
const (
	// FieldManager applies the children.
	FieldManager = "application-operator"
	// FieldManagerStatus applies the status of an Application.
	FieldManagerStatus = "application-operator-status"
	// FieldManagerHandover holds a field for the moment between two owners, so that its value does not fall back to the
	// API server's default: spec.replicas of a Deployment when it leaves, or comes back into, the spec.
	FieldManagerHandover = "application-operator-handover"
	// FieldManagerFinalizer applies the finalizer of an Application.
	FieldManagerFinalizer = "application-operator-finalizer"
	// FieldManagerScope applies the scope of an operator to its Lease.
	FieldManagerScope = "application-operator-scope"
)

// LeaseName is the name of the Lease that the replicas of an operator compete for, in the namespace of each operator.
const LeaseName = "application-operator.application.mycompany.io"

// AnnotationScope tells, on the Lease of an operator, which Applications it handles.
const AnnotationScope = "application.mycompany.io/scope"

// Finalizer keeps an Application with deletionPolicy Orphan until its children stand on their own.
const Finalizer = "application.mycompany.io/orphan"

// AnnotationAdopt names, on a Deployment or Service, the Application that may take it over. It is on the child, not on
// the Application: consent comes from whoever can write the child.
const AnnotationAdopt = "application.mycompany.io/adopt"

// Labels of the children.
const (
	// LabelApp and LabelOwner select the pods of an Application. A Deployment's selector is immutable, so neither
	// these keys nor their values may ever change.
	LabelApp   = "app"
	LabelOwner = "owner"
	// LabelOwnerValue is the value of LabelOwner. The operator caches only objects that carry it.
	LabelOwnerValue = "application-operator"

	// The labels that Kubernetes recommends for tools.
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelManagedBy = "app.kubernetes.io/managed-by"
)

// ContainerName is the name of the container that runs spec.image.
const ContainerName = "app"

// PortName names the port of the container and of the Service. It claims no protocol (unlike "http", by which
// service meshes would decide how to parse the traffic).
const PortName = "app"

// SelectorLabels returns the labels that select the pods of the named Application. The map is the caller's.
func SelectorLabels(name string) map[string]string {
	return map[string]string{LabelApp: name, LabelOwner: LabelOwnerValue}
}
