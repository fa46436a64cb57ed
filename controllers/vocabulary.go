package controllers

import (
	"slices"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// The words in which the operator reports. Logs, metrics, Events and conditions take them from here and from the reasons of
// the API, so that whoever knows one of the four finds the same in the others.

// outcome is what became of one child in a reconcile, or of one apply. It is the value of the key "outcome" in logs and of
// the label "outcome" of metrics.
type outcome string

const (
	// The child is as wanted.

	outcomeCreated    outcome = "Created"
	outcomeConfigured outcome = "Configured"
	outcomeUnchanged  outcome = "Unchanged"
	outcomeDeleted    outcome = "Deleted"
	outcomeUnwanted   outcome = "Unwanted" // no child is wanted, and there is none

	// The child is not as wanted, for a reason that users have to know.

	outcomePaused      outcome = "Paused"
	outcomeConflict    outcome = "Conflict"
	outcomeRefused     outcome = "Refused"     // the name is taken by an object that this Application does not control
	outcomeTerminating outcome = "Terminating" // the child or its namespace is being deleted
	outcomeRejected    outcome = "Rejected"    // the API server said no; the reason says how

	// Nothing can be said yet.

	outcomeDeferred outcome = "Deferred"

	// The operator lets go of the child, or changes nothing but the record of its owners.

	outcomeOrphaned outcome = "Orphaned"
	outcomeMigrated outcome = "Migrated"
)

var (
	// appliedOutcomes are those of an apply that was sent.
	appliedOutcomes = []outcome{outcomeCreated, outcomeConfigured, outcomeUnchanged, outcomeConflict, outcomeTerminating, outcomeRejected, outcomeDeferred}
	// elidedOutcomes are those of an apply that was not sent, since it would change nothing, must fail, or is not to be.
	elidedOutcomes = []outcome{outcomeUnchanged, outcomeConflict, outcomePaused}
)

// conditionReasons are the reasons that the conditions of an Application can have. A Deployment's own condition Available
// may bring others, which anyone may choose.
var conditionReasons = []string{
	v1alpha1.ReasonSynced,
	v1alpha1.ReasonFieldConflict,
	v1alpha1.ReasonFieldsYielded,
	v1alpha1.ReasonFieldsMutated,
	v1alpha1.ReasonOwnershipLost,
	v1alpha1.ReasonStatusContested,
	v1alpha1.ReasonVersionDropped,
	v1alpha1.ReasonResourceExists,
	v1alpha1.ReasonInvalid,
	v1alpha1.ReasonForbidden,
	v1alpha1.ReasonApplyFailed,
	v1alpha1.ReasonTerminating,
	v1alpha1.ReasonPaused,
	v1alpha1.ReasonRolledOut,
	v1alpha1.ReasonProgressing,
	v1alpha1.ReasonProgressDeadlineExceeded,
	v1alpha1.ReasonReplicaFailure,
	v1alpha1.ReasonDeploymentMissing,
	v1alpha1.ReasonDeploymentUnknown,
	v1alpha1.ReasonAvailabilityUnknown,
	"MinimumReplicasAvailable",
	"MinimumReplicasUnavailable",
}

// eventReasons are the reasons that only Events have.
var eventReasons = []string{v1alpha1.ReasonChildrenLost, reasonOverlap}

// reasonOverlap: another operator handles Applications that this one handles, too.
const reasonOverlap = "OperatorsOverlap"

// other stands for every value of a label that is not known: what others may choose must not make series without bound.
const other = "other"

// knownOr returns value if it is among the known ones.
func knownOr(value string, known []string) string {
	if slices.Contains(known, value) {
		return value
	}
	return other
}

// Keys of log lines. controller-runtime adds the Application's namespace and name.
const (
	keyChild     = "child" // the kind of the child; its name is the Application's
	keyOutcome   = "outcome"
	keyCondition = "condition"
	keyStatus    = "status"
	keyReason    = "reason"
	keyConflicts = "conflicts" // contested fields and their managers
	keyManagers  = "managers"
	keyChanged   = "changed"  // fields that had another value
	keyClaimed   = "claimed"  // fields that the operator did not own yet
	keyReleased  = "released" // fields that it let go of
)

// Levels of verbosity.
const (
	// levelElided also tells of what was found to be as wanted.
	levelElided = 1
)
