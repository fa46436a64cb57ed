package v1alpha1

// Condition types of an Application.
const (
	// ConditionReady sums up: the children are as the spec wants them, and the pods of that very spec serve.
	ConditionReady = "Ready"
	// ConditionSynced is about the objects: whether the children's owned fields are as the spec wants them.
	ConditionSynced = "Synced"
	// ConditionAvailable is about the pods: the Deployment's own Available condition.
	ConditionAvailable = "Available"
	// ConditionStalled is present, with status True, only while nothing will move on without a person (or the
	// other field manager) acting. kstatus and tools built on it read it as failure.
	ConditionStalled = "Stalled"
)

// Reasons of conditions and Events: one vocabulary for both.
const (
	// ReasonSynced: every child is as the spec wants it.
	ReasonSynced = "Synced"
	// ReasonFieldConflict: another field manager owns a field of a child with another value.
	ReasonFieldConflict = "FieldConflict"
	// ReasonFieldsYielded: all is as the spec wants it but for the fields that conflictPolicy Yield leaves to others.
	ReasonFieldsYielded = "FieldsYielded"
	// ReasonFieldsMutated: all is as the spec wants it but for the fields that admission changes at each write, or that
	// the API server does not heed.
	ReasonFieldsMutated = "FieldsMutated"
	// ReasonOwnershipLost: a client wiped managedFields, so nobody can tell any more who owns the fields of a child.
	ReasonOwnershipLost = "OwnershipLost"
	// ReasonStatusContested: another manager holds a field of the Application's status.
	ReasonStatusContested = "StatusContested"
	// ReasonResourceExists: an object of the child's name exists that this Application does not control.
	ReasonResourceExists = "ResourceExists"
	// ReasonInvalid: the API server refuses the object that the spec describes.
	ReasonInvalid = "Invalid"
	// ReasonForbidden: the operator's rights, a quota or a policy do not allow the write.
	ReasonForbidden = "Forbidden"
	// ReasonApplyFailed: the API server failed at the write; the operator retries with back-off.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonVersionDropped: managedFields of the Application name a version that the CustomResourceDefinition has no more,
	// so nobody can apply to it. An Event tells it: the status cannot.
	ReasonVersionDropped = "VersionDropped"
	// ReasonTerminating: a child, or the namespace, is being deleted.
	ReasonTerminating = "Terminating"
	// ReasonChildrenLost: children that were to be orphaned are gone, or going, most likely by a foreground deletion.
	ReasonChildrenLost = "ChildrenLost"
	// ReasonPaused: spec.paused keeps the operator from writing.
	ReasonPaused = "Paused"

	// ReasonRolledOut: the Deployment runs the wanted pods, and only these.
	ReasonRolledOut = "RolledOut"
	// ReasonProgressing: the Deployment is on its way there.
	ReasonProgressing = "Progressing"
	// ReasonProgressDeadlineExceeded: the Deployment made no progress within its deadline.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonReplicaFailure: the Deployment's pods cannot be created.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonDeploymentMissing: there is no Deployment yet.
	ReasonDeploymentMissing = "DeploymentMissing"
	// ReasonDeploymentUnknown: the operator cannot read the Deployment, or learn whether there is one.
	ReasonDeploymentUnknown = "DeploymentUnknown"
	// ReasonAvailabilityUnknown: the Deployment has not reported yet whether its pods are available.
	ReasonAvailabilityUnknown = "AvailabilityUnknown"
)
