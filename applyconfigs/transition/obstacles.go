package transition

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// obstacle is a part of the live object that makes the object invalid once the intent is applied, and that this apply
// leaves where it is, since the operator does not own it, or not alone. To leave a field out removes only what the manager
// owned, and an explicit null is no removal either: the API server would refuse the apply for ever.
type obstacle struct {
	// wanted are the desired fields or items that cannot stand beside it. There are none where the intent wants nothing at
	// its place.
	wanted []fieldpath.Path
	// standing is the field or item that has to go first.
	standing fieldpath.Path
	// contested is the path to report, if one of others holds that very path. Else all is reported that they hold of standing.
	contested fieldpath.Path

	// holders are the fields that other managers hold of it.
	holders []ownership.Conflict
}

// place is the desired field that the obstacle is against.
func (o *obstacle) place() fieldpath.Path {
	if len(o.wanted) > 0 {
		return o.wanted[0]
	}
	return o.standing
}

// obstacles returns what stands against an intent whose contested fields are given.
func (w *world) obstacles(intent *ownership.Intent, contested []ownership.Conflict) ([]obstacle, error) {
	intent, err := intent.Without(contested)
	if err != nil {
		return nil, err
	}
	merged, err := intent.Merge(w.live)
	if errors.As(err, new(merge.Conflicts)) {
		return nil, nil // the API server's answer will tell more
	}
	if err != nil {
		return nil, fmt.Errorf("foretelling the apply: %w", err)
	}
	var found []obstacle
	for _, rule := range rules[w.identity.GetKind()] {
		found = append(found, rule.obstacles(merged, intent.Fields())...)
	}
	all := slices.Clone(found)
	found = slices.DeleteFunc(found, func(o obstacle) bool {
		// What is incomplete and stands against a desired field as well is one obstacle.
		return len(o.wanted) == 0 && slices.ContainsFunc(all, func(other obstacle) bool {
			return len(other.wanted) > 0 && other.standing.Equals(o.standing)
		})
	})
	for i := range found {
		found[i].holders = w.holders(merged.Owners(), &found[i])
	}
	return append(found, w.heldTwins(merged.Owners(), intent)...), nil
}

// holders returns what others hold of an obstacle.
func (w *world) holders(owners ownership.ManagedFields, o *obstacle) []ownership.Conflict {
	var exact, within []ownership.Conflict
	for _, entry := range owners {
		if entry.Manager == w.self || entry.Manager == handoverManager {
			continue
		}
		hold := func(path fieldpath.Path) ownership.Conflict {
			return ownership.Conflict{
				Field: path.String(), Manager: entry.Name, Operation: entry.Operation,
				Subresource: entry.Subresource, APIVersion: entry.APIVersion, Against: o.place().String(),
			}
		}
		if len(o.contested) > 0 && entry.Fields.Has(o.contested) {
			exact = append(exact, hold(o.contested))
		}
		entry.Fields.Leaves().Iterate(func(path fieldpath.Path) {
			if hasPrefix(path, o.standing) {
				within = append(within, hold(path))
			}
		})
	}
	if len(exact) > 0 {
		return exact
	}
	return within
}

// giveWay returns the intent without what cannot stand beside the obstacles that others hold. What the operator has of
// these obstacles it keeps at its live values: without it they might be incomplete.
func (w *world) giveWay(intent *ownership.Intent, obstacles []obstacle) (*ownership.Intent, error) {
	drop, kept := fieldpath.NewSet(), fieldpath.NewSet()
	for _, o := range obstacles {
		if len(o.holders) == 0 {
			continue
		}
		places := append([]fieldpath.Path{o.standing}, o.wanted...)
		for _, path := range o.wanted {
			drop.Insert(path)
		}
		w.managed.Fields(w.self).Iterate(func(path fieldpath.Path) {
			for _, place := range places {
				if hasPrefix(path, place) {
					kept.Insert(path.Copy())
				}
			}
		})
	}
	if !drop.Empty() {
		rest, err := intent.WithoutFields(drop)
		if err != nil {
			return nil, err
		}
		intent = rest
	}
	if kept.Empty() {
		return intent, nil
	}
	return intent.WithLive(w.live, kept)
}

// claimLeftovers returns the step that makes the operator the owner of the obstacles that nobody holds, at their live
// values and instead of what they stand against. The intent, applied next, drops what it then owns.
func (w *world) claimLeftovers(intent *ownership.Intent, obstacles []obstacle) ([]Step, error) {
	drop, claim := fieldpath.NewSet(), fieldpath.NewSet()
	for _, o := range obstacles {
		if len(o.holders) > 0 || !ownership.Holds(intent.Fields(), o.place()) && len(o.wanted) > 0 {
			continue
		}
		claim.Insert(o.standing)
		for _, path := range o.wanted {
			drop.Insert(path)
			claim.Insert(path)
		}
	}
	if claim.Empty() {
		return nil, nil
	}
	rest, err := intent.WithoutFields(drop)
	if err != nil {
		return nil, err
	}
	step, err := rest.WithLive(w.live, claim)
	if err != nil {
		return nil, err
	}
	return []Step{{Intent: step, Pinned: true}}, nil
}
