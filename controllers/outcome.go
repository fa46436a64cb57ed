package controllers

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// childResult is what a reconcile came to for one child.
type childResult struct {
	kind    string
	name    string
	outcome outcome

	// live is the child as last seen or answered by the API server. It is nil if there is none, or it is not ours.
	live client.Object
	// unseen: it could not be read, so nobody knows whether there is one.
	unseen bool
	// intent is all that the spec wants of the child, or nil if that is not known or no child is wanted.
	intent *ownership.Intent
	// conflicts are the contested fields. Beside an outcome that is as wanted, they are what the policy Yield gave up.
	conflicts []ownership.Conflict
	// mutated are the fields that admission changed in what was applied.
	mutated []string
	// message tells users more about outcomeRefused, outcomeTerminating and outcomeRejected.
	message string
	// failure classifies err, with outcomeRejected.
	failure failure
	// err is what the reconcile shall return.
	err error
}

// deferred reports whether too little is known about the child to report a status.
func (c *childResult) deferred() bool { return c.outcome == outcomeDeferred }

// synced reports whether the child is as wanted.
func (c *childResult) synced() bool {
	switch c.outcome {
	case outcomeCreated, outcomeConfigured, outcomeUnchanged, outcomeDeleted, outcomeUnwanted:
		return true
	default:
		return false
	}
}

// yielded reports whether the child is as wanted but for fields that were given up.
func (c *childResult) yielded() bool { return c.synced() && len(c.conflicts) > 0 }

// refused records why the object of the child's name is left alone.
func (c *childResult) refused(format string, args ...any) {
	c.outcome = outcomeRefused
	c.message = c.describe() + " " + fmt.Sprintf(format, args...)
}

// deferUntilEvent records that an event will tell more.
func (c *childResult) deferUntilEvent() *childResult {
	c.outcome = outcomeDeferred
	return c
}

// applied records what the steps of a plan made of the child that was there before.
func (c *childResult) applied(previous client.Object) {
	c.outcome = applyOutcome(previous, c.live, nil)
}

// describe names the child in messages.
func (c *childResult) describe() string { return c.kind + " " + c.name }
