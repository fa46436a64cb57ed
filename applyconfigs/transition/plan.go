package transition

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/managedfields"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// Plan is how to get from a live child to an intent.
type Plan struct {
	// Steps are the applies to send, in this order, each under its own manager. There are none if the child is as wanted
	// already, or Blocked.
	Steps []Step
	// Conflicts are the contested fields with their owners, sorted.
	Conflicts []ownership.Conflict
	// Blocked: there are conflicts, and the policy is not to apply anything then.
	Blocked bool
	// Difference is what the child differs in from what is to be applied.
	Difference ownership.Difference
}

// Step is one apply.
type Step struct {
	*ownership.Intent
	// Pinned: the step repeats values of the live object. It holds for the version of the object that the plan was made
	// for, or that the step before led to, and must carry its resourceVersion: what somebody wrote since would be reverted
	// otherwise, and not every write leaves an owner to conflict with (a scale to zero does not).
	Pinned bool
}

// For plans how to get from live, which is nil for a child that does not exist, to the intent. What an apply has met as
// contested since live was read is passed as raced: it counts as contested, although live does not show it.
//
// The error says that live does not fit the intent's kind.
func For(types managedfields.TypeConverter, intent *ownership.Intent, live ownership.Object, policy v1alpha1.ConflictPolicy, raced ...ownership.Conflict) (*Plan, error) {
	if live == nil {
		difference, err := intent.Compare(nil)
		return &Plan{Steps: []Step{{Intent: intent}}, Difference: difference}, err
	}
	world, err := observe(types, intent, live)
	if err != nil {
		return nil, err
	}
	world.raced = raced
	plan := &Plan{}
	if plan.Difference, err = intent.Compare(live); err != nil {
		return nil, err
	}
	if plan.Difference.Empty() && len(raced) == 0 {
		return plan, world.steps(plan, intent, nil)
	}
	obstacles, err := world.contest(plan, intent)
	if err != nil {
		return nil, err
	}
	if len(plan.Conflicts) > 0 {
		if policy != v1alpha1.ConflictYield {
			plan.Blocked = true
			return plan, nil
		}
		if intent, err = intent.Without(plan.Conflicts); err != nil {
			return nil, err
		}
		if intent, err = world.giveWay(intent, obstacles); err != nil {
			return nil, err
		}
		if plan.Difference, err = intent.Compare(live); err != nil {
			return nil, err
		}
	}
	return plan, world.steps(plan, intent, obstacles)
}

// contest fills the plan's conflicts and returns the obstacles to the rest of the intent. What only the operator's own
// hand-over manager holds is no conflict: it lets go.
func (w *world) contest(plan *Plan, intent *ownership.Intent) ([]obstacle, error) {
	foretold, err := intent.Conflicts(w.live)
	if err != nil {
		return nil, err
	}
	foretold = append(foretold, w.scaledToZero(intent)...)
	foretold = append(foretold, w.raced...)
	obstacles, err := w.obstacles(intent, foretold)
	if err != nil {
		return nil, err
	}
	for _, c := range foretold {
		if c.Owner() != handoverManager {
			plan.Conflicts = append(plan.Conflicts, c)
		}
	}
	for _, o := range obstacles {
		for _, holder := range o.holders {
			// A discriminator may be contested for its own sake already.
			if !slices.ContainsFunc(foretold, func(c ownership.Conflict) bool { return c.Field == holder.Field && c.Owner() == holder.Owner() }) {
				plan.Conflicts = append(plan.Conflicts, holder)
			}
		}
	}
	plan.Conflicts = ownership.SortConflicts(plan.Conflicts)
	return obstacles, nil
}

// steps fills the plan's steps for an intent that has no conflicts.
func (w *world) steps(plan *Plan, intent *ownership.Intent, obstacles []obstacle) error {
	before, after, err := w.handover(intent)
	if err != nil {
		return fmt.Errorf("planning the hand-over: %w", err)
	}
	leftovers, err := w.claimLeftovers(intent, obstacles)
	if err != nil {
		return fmt.Errorf("planning the removal of leftovers: %w", err)
	}
	twins, err := w.claimTwins(intent)
	if err != nil {
		return fmt.Errorf("planning the removal of copies: %w", err)
	}

	plan.Steps = append(plan.Steps, before...)
	plan.Steps = append(plan.Steps, leftovers...)
	plan.Steps = append(plan.Steps, twins...)
	if !plan.Difference.Empty() {
		plan.Steps = append(plan.Steps, Step{Intent: intent})
	}
	plan.Steps = append(plan.Steps, after...)
	return nil
}
