package controllers

import (
	"fmt"
	"slices"
	"strings"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// waysOut are the ways to end a contest about a field by the spec. That its manager gives it up is always one.
type waysOut struct {
	// set: the spec can have the live value.
	set bool
	// remove: the spec can do without.
	remove bool
	// scale: there is no manager to give it up, only a count to scale to.
	scale bool
	// within is the field of the spec in which to do it, if it is spec.deployment or spec.service.
	within string
}

func (w waysOut) String() string {
	what, where := "the spec", "the spec"
	if w.within != "" {
		what, where = "it in "+w.within, w.within
	}
	var ways []string
	switch {
	case w.set && w.scale:
		ways = append(ways, fmt.Sprintf("set %s to the live value", what))
	case w.set:
		ways = append(ways, fmt.Sprintf("set %s to the live value, which is then shared", what))
	}
	if w.remove {
		ways = append(ways, "remove it from "+where)
	}
	if w.scale {
		return strings.Join(append(ways, "scale the object to what the spec wants, or take the field (kubectl application take)"), ", or ")
	}
	return strings.Join(append(ways, "let its manager give it up"), ", or ")
}

// sourceOf returns the field of the spec that a contested field comes from, or the one that it stands against.
func (c *childResult) sourceOf(app *v1alpha1.Application, conflict ownership.Conflict) (desired.Source, bool) {
	field := conflict.Field
	if conflict.Against != "" {
		field = conflict.Against
	}
	if c.intent == nil {
		return desired.Source{}, false
	}
	path, err := c.intent.ParsePath(field)
	if err != nil {
		// A field that the schema does not know is in no spec either.
		return desired.Source{}, false
	}
	return desired.SourceOf(app, c.kind, path)
}

// waysOutOf returns the ways out for one contested field.
func (c *childResult) waysOutOf(app *v1alpha1.Application, conflict ownership.Conflict) waysOut {
	source, exists := c.sourceOf(app, conflict)
	nameless := conflict.Owner() == ownership.ScaledToZero
	if !exists || !source.Held {
		return waysOut{scale: nameless}
	}
	return waysOut{
		scale: nameless,
		set:   source.Settable,
		// Where the spec wants nothing any more, there is nothing left to remove.
		remove: source.Removable && (conflict.Against == "" || !isWithin(conflict.Field, conflict.Against)),
		within: source.Partial,
	}
}

// isWithin reports whether a written path is that of a field or of something inside it.
func isWithin(path, field string) bool {
	rest, found := strings.CutPrefix(path, field)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// advice says what ends the contest about each field. It offers no way that does not exist.
func advice(app *v1alpha1.Application, result *childResult) string {
	var ways []waysOut
	fields := map[waysOut][]string{}
	for i, field := range ownership.GroupByField(result.conflicts) {
		way := result.waysOutOf(app, field.Conflicts[0])
		switch {
		case !slices.Contains(ways, way):
			ways = append(ways, way)
			fallthrough
		case i < maxListedFields:
			fields[way] = append(fields[way], field.Field)
		}
	}
	if len(ways) == 1 {
		return fmt.Sprintf("For each field, %s", ways[0])
	}
	parts := make([]string, 0, len(ways))
	for _, way := range ways {
		parts = append(parts, fmt.Sprintf("For %s, %s", strings.Join(fields[way], " and "), way))
	}
	return joinSentences(parts)
}
