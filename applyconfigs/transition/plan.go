package transition

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// Plan is how to get from a live child to an intent.
type Plan struct {
	// Steps are the applies to send, in this order, each under its own manager. There are none if the child is as wanted
	// already, or Blocked.
	Steps []*ownership.Intent
	// Conflicts are the contested fields with their owners, sorted.
	Conflicts []ownership.Conflict
	// Blocked: there are conflicts, and the policy is not to apply anything then.
	Blocked bool
	// Difference is what the child differs in from what is to be applied.
	Difference ownership.Difference
}

// For plans how to get from live, which is nil for a child that does not exist, to the intent. What an apply has met as
// contested since live was read is passed as raced: it counts as contested, although live does not show it.
//
// The error says that live does not fit the intent's kind.
func For(types managedfields.TypeConverter, intent *ownership.Intent, live ownership.Object, policy v1alpha1.ConflictPolicy, raced ...ownership.Conflict) (*Plan, error) {
	if live == nil {
		difference, err := intent.Compare(nil)
		return &Plan{Steps: []*ownership.Intent{intent}, Difference: difference}, err
	}
	world, err := observe(types, intent, live)
	if err != nil {
		return nil, err
	}
	world.raced = raced
	plan := &Plan{}
	if plan.Conflicts, err = world.conflicts(intent); err != nil {
		return nil, err
	}
	if len(plan.Conflicts) > 0 {
		if policy != v1alpha1.ConflictYield {
			plan.Blocked = true
			plan.Difference, err = intent.Compare(live)
			return plan, err
		}
		if intent, err = world.yield(intent, plan.Conflicts); err != nil {
			return nil, err
		}
	}
	return plan, world.steps(plan, intent)
}

// steps fills the plan's steps for an intent that has no conflicts.
func (w *world) steps(plan *Plan, intent *ownership.Intent) (err error) {
	if plan.Difference, err = intent.Compare(w.live); err != nil {
		return err
	}
	before, after, err := w.handover(intent)
	if err != nil {
		return fmt.Errorf("planning the hand-over: %w", err)
	}
	leftovers, err := w.claimLeftovers(intent)
	if err != nil {
		return fmt.Errorf("planning the removal of leftovers: %w", err)
	}

	plan.Steps = append(plan.Steps, before...)
	plan.Steps = append(plan.Steps, leftovers...)
	if !plan.Difference.Empty() {
		plan.Steps = append(plan.Steps, intent)
	}
	plan.Steps = append(plan.Steps, after...)
	return nil
}

// conflicts returns the contested fields. What only the operator's own hand-over manager holds is none: it lets go.
func (w *world) conflicts(intent *ownership.Intent) ([]ownership.Conflict, error) {
	foretold, err := intent.Conflicts(w.live)
	if err != nil {
		return nil, err
	}
	var conflicts []ownership.Conflict
	for _, field := range ownership.GroupByField(foretold) {
		var others []ownership.Conflict
		for _, c := range field.Conflicts {
			if c.Owner() != handoverManager {
				others = append(others, c)
			}
		}
		conflicts = append(conflicts, others...)
	}
	conflicts = append(conflicts, w.heldLeftovers(intent)...)
	return ownership.SortConflicts(append(conflicts, w.raced...)), nil
}

// yield returns the intent without what is contested.
func (w *world) yield(intent *ownership.Intent, conflicts []ownership.Conflict) (*ownership.Intent, error) {
	rest, err := intent.Without(conflicts)
	if err != nil {
		return nil, err
	}
	// A leftover that others hold is not in the intent: what has to yield is the value that it stands against.
	discriminators := fieldpath.NewSet()
	for _, u := range w.standing(intent) {
		if len(w.ownersWithin(u.member)) > 0 {
			discriminators.Insert(u.discriminator)
		}
	}
	if discriminators.Empty() {
		return rest, nil
	}
	return rest.WithoutFields(discriminators)
}
