package oracle

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scene is what is there: an Application and its children, each nil if it does not exist.
type scene struct {
	app      *unstructured.Unstructured
	children map[string]*unstructured.Unstructured
}

// conflict is an entry of status.conflicts.
type conflict struct {
	kind, field string
	owner       owner
}

// verdict is what has to be true of one child at rest.
type verdict struct {
	reason    string
	conflicts []conflict
	// exists: the child must, or must not, exist. Nil: both are right.
	exists *bool
	// unmigrated: an older operator's entry has to be taken over first, so the child cannot stay as it is.
	unmigrated bool
	// held are the fields that the operator must own, all of them with the wanted value. Nil: nothing is said of it.
	held fields
	// faulty: nothing is applied, whatever the child is like, since the spec contradicts itself.
	faulty bool
}

// The reasons of the condition Synced. Of several children the worst one counts.
const (
	reasonSynced          = "Synced"
	reasonFieldsYielded   = "FieldsYielded"
	reasonPaused          = "Paused"
	reasonResourceExists  = "ResourceExists"
	reasonFieldConflict   = "FieldConflict"
	reasonOwnershipLost   = "OwnershipLost"
	reasonInvalid         = "Invalid"
	reasonStatusContested = "StatusContested"
)

var fromGoodToBad = []string{reasonSynced, reasonFieldsYielded, reasonPaused, reasonResourceExists, reasonFieldConflict, reasonOwnershipLost, reasonInvalid}

// judge tells what has to be true of a child of an Application that is not being deleted.
func judge(app *unstructured.Unstructured, kind string, live *unstructured.Unstructured) verdict {
	spec := specOf(app)
	if isFaulty(app) {
		return verdict{reason: reasonInvalid, faulty: true}
	}
	wanted := wantedFields(app, kind)
	switch {
	case wanted == nil && live != nil && controls(app, live) && isPaused(spec):
		return verdict{reason: reasonPaused}
	case wanted == nil:
		return verdict{reason: reasonSynced, exists: new(live != nil && !controls(app, live))}
	case live == nil && isPaused(spec):
		return verdict{reason: reasonPaused}
	case live == nil && !valid(kind, wanted):
		return verdict{reason: reasonInvalid, exists: new(false)}
	case live == nil:
		return verdict{reason: reasonSynced, exists: new(true)}
	case !controls(app, live) && !adoptable(app, live):
		return verdict{reason: reasonResourceExists}
	}

	flat := flatten(live.Object)
	owners := readOwnership(live, flat)
	contested := contestedFields(kind, wanted, flat, owners)
	held := fields{}
	for path, value := range wanted {
		if !slices.ContainsFunc(contested, func(c conflict) bool {
			_, itself := wanted[c.field] // a label may look as if it were inside another
			return c.field == path || !itself && isInside(path, c.field)
		}) {
			held[path] = value
		}
	}
	shutOut, held, after := excluded(kind, held, flat, owners)
	contested = append(contested, shutOut...)
	sortConflicts(contested)
	contested = slices.Compact(contested)
	result := verdict{reason: reasonSynced, conflicts: contested, exists: new(true), unmigrated: !isPaused(spec) && owners.own() == nil && owners.older()}
	asWanted := asWanted(held, flat, owners)
	lost := slices.ContainsFunc(contested, func(c conflict) bool { return c.owner.name == unknownName })
	switch {
	case isPaused(spec) && len(contested) > 0 && !yields(spec), isPaused(spec) && !asWanted:
		result.reason = reasonPaused
		return result
	case len(contested) > 0 && !yields(spec):
		result.reason = reasonFieldConflict
	case !valid(kind, after):
		result.reason = reasonInvalid
	default:
		result.held = held
		if len(contested) > 0 {
			result.reason = reasonFieldsYielded
		}
	}
	if lost && result.reason != reasonInvalid {
		result.reason = reasonOwnershipLost
	}
	return result
}

// contestedFields are those that somebody else owns with another value than the wanted one. An equal value is shared.
func contestedFields(kind string, wanted, live fields, owners ownership) []conflict {
	var contested []conflict
	for path, value := range wanted {
		current, found := live[path]
		if found && equal(path, value, current) {
			continue
		}
		for _, other := range owners.others(path) {
			contested = append(contested, conflict{kind: kind, field: path, owner: other})
		}
		for _, parent := range parents(path) {
			// Of a map that has gone with its last entry somebody may still own the map.
			for _, other := range owners.others(parent) {
				if one := (conflict{kind: kind, field: parent, owner: other}); !live.has(parent) && !slices.Contains(contested, one) {
					contested = append(contested, one)
				}
			}
		}
		if scaledToZero(kind, path, current, owners) {
			contested = append(contested, conflict{kind: kind, field: path, owner: owner{operation: "Update", subresource: "scale", apiVersion: "apps/v1"}})
		}
	}
	sortConflicts(contested)
	return contested
}

// scaledToZero: a scale takes a count of 0 from its owners and gives it to nobody. Nothing else leaves it like that.
func scaledToZero(kind, path string, current any, owners ownership) bool {
	return kind == deployment && path == ".spec.replicas" && current == int64(0) && !owners.anybody(path)
}

func sortConflicts(conflicts []conflict) {
	slices.SortFunc(conflicts, func(a, b conflict) int {
		return cmp.Or(cmp.Compare(a.field, b.field), compareOwners(a.owner, b.owner))
	})
}

// asWanted reports whether nothing is left to do for the operator.
func asWanted(held, live fields, owners ownership) bool {
	own := owners.own()
	if len(own) != len(held) {
		return false
	}
	for path, value := range held {
		if current, found := live[path]; !found || !own[path] || !equal(path, value, current) {
			return false
		}
	}
	return true
}

// outcome is what a child would be after an apply of held: these fields are set, and those that only the operator had,
// and wants no more, are gone. With the last of them that a struct had goes what the API server had added to it.
func outcome(held, live fields, owners ownership) fields {
	after := fields{}
	own := owners.own()
	goes := func(path string) bool {
		_, wanted := held[path]
		return own[path] && !wanted && len(owners.others(path)) == 0
	}
	empties := func(parent string) bool {
		return slices.ContainsFunc(live.paths(), func(path string) bool { return isInside(path, parent) && goes(path) }) &&
			!held.has(parent) && !owners.hasOthers(parent)
	}
	for path, value := range live {
		if goes(path) || !owners.anybody(path) && slices.ContainsFunc(parents(path), empties) {
			continue
		}
		after[path] = value
	}
	maps.Copy(after, held)
	return after
}

// parents returns the structs, lists and items around a field.
func parents(path string) []string {
	var all []string
	inKey, quoted := false, false
	for i, c := range path {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case (c == '.' || c == '[') && !inKey && i > 0:
			all = append(all, path[:i])
			inKey = c == '['
		case c == ']':
			inKey = false
		}
	}
	return all
}
