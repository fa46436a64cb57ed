package controllers

import (
	"fmt"
	"slices"
	"strings"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// waysOut are the ways to end a contest about a field by the spec. That its manager gives it up is always one.
type waysOut struct {
	// set: the spec can have the live value.
	set bool
	// remove: the spec can do without.
	remove bool
}

func (w waysOut) String() string {
	var ways []string
	if w.set {
		ways = append(ways, "set the spec to the live value, which is then shared")
	}
	if w.remove {
		ways = append(ways, "remove it from the spec")
	}
	return strings.Join(append(ways, "let its manager give it up"), ", or ")
}

// mainContainer is the path of the container that the spec describes.
const mainContainer = `.spec.template.spec.containers[name="` + v1alpha1.ContainerName + `"].`

// inSpec lists the fields of the children that the spec speaks of, each for itself and all inside it. All others follow
// from the Application's name, or from the very fact that there is a child.
var inSpec = []struct {
	field string
	ways  waysOut
}{
	{".spec.replicas", waysOut{set: true, remove: true}},
	{".spec.type", waysOut{set: true}},
	{mainContainer + "image", waysOut{set: true}},
	{mainContainer + "imagePullPolicy", waysOut{set: true, remove: true}},
	{mainContainer + "command", waysOut{set: true, remove: true}},
	{mainContainer + "args", waysOut{set: true, remove: true}},
	{mainContainer + "env", waysOut{set: true, remove: true}},
	{mainContainer + "envFrom", waysOut{set: true, remove: true}},
	{mainContainer + "resources", waysOut{set: true, remove: true}},
	{mainContainer + "livenessProbe", waysOut{set: true, remove: true}},
	{mainContainer + "readinessProbe", waysOut{set: true, remove: true}},
	{mainContainer + "startupProbe", waysOut{set: true, remove: true}},
}

// portLists hold the entries that spec.port makes. Their names and targets are not the spec's, their numbers are.
var portLists = []string{mainContainer + "ports", ".spec.ports"}

// waysOutOf returns the ways out for one contested field.
func waysOutOf(c ownership.Conflict) waysOut {
	field := c.Field
	if c.Against != "" {
		field = c.Against
		if slices.ContainsFunc(portLists, func(list string) bool { return isWithin(field, list) }) {
			return waysOut{set: true, remove: true}
		}
	}
	for _, known := range inSpec {
		if isWithin(field, known.field) {
			ways := known.ways
			// Where the spec wants nothing any more, there is nothing left to remove.
			ways.remove = ways.remove && (c.Against == "" || !isWithin(c.Field, c.Against))
			return ways
		}
	}
	return waysOut{}
}

// isWithin reports whether a written path is that of a field or of something inside it.
func isWithin(path, field string) bool {
	rest, found := strings.CutPrefix(path, field)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// advice says what ends the contest about each field. It offers no way that does not exist.
func advice(conflicts []ownership.Conflict) string {
	var ways []waysOut
	fields := map[waysOut][]string{}
	for i, field := range ownership.GroupByField(conflicts) {
		way := waysOutOf(field.Conflicts[0])
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
