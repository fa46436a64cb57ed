package oracle

import (
	"maps"
	"slices"
	"strings"
)

// exclusion is something in a child that the API server does not let stand beside what is wanted.
type exclusion struct {
	// wanted are the fields and items of the spec's that it excludes, standing is where it is itself.
	wanted   []string
	standing string
	// named is the field to name, if somebody owns that very field.
	named string
}

// exclusions returns what excludes a part of held in a child that would be as after.
func exclusions(kind string, held, after fields) []exclusion {
	if kind == service {
		return portExclusions(".spec.ports[", held, after, true)
	}
	found := portExclusions(mainContainer+".ports[", held, after, false)
	if held[strategyType] == "Recreate" && after.has(rollingUpdate) && !held.has(rollingUpdate) {
		found = append(found, exclusion{wanted: []string{strategyType}, standing: rollingUpdate})
	}
	if _, typed := held[strategyType]; !typed && after[strategyType] == "Recreate" && held.has(rollingUpdate) {
		found = append(found, exclusion{wanted: []string{rollingUpdate}, standing: strategyType})
	}
	for _, volume := range after.items(volumeList) {
		found = append(found, oneOf(volume, held, after, volumeSources...)...)
	}
	for _, variable := range after.items(mainContainer + ".env[") {
		found = append(found, oneOf(variable, held, after, "value", "valueFrom")...)
		found = append(found, oneOf(variable+".valueFrom", held, after, "fieldRef", "configMapKeyRef", "resourceFieldRef")...)
	}
	for _, probe := range []string{".livenessProbe", ".readinessProbe", ".startupProbe"} {
		probe = mainContainer + probe
		handlers := oneOf(probe, held, after, "exec", "httpGet", "tcpSocket")
		found = append(found, handlers...)
		if after.has(probe) && !held.has(probe) && !after.has(probe+".exec") && !after.has(probe+".httpGet") && !after.has(probe+".tcpSocket") {
			found = append(found, exclusion{standing: probe})
		}
		for _, handler := range []string{probe + ".httpGet", probe + ".tcpSocket"} {
			another := slices.ContainsFunc(handlers, func(e exclusion) bool { return e.standing == handler })
			if after.has(handler) && !after.has(handler+".port") && !held.has(handler) && !another {
				found = append(found, exclusion{standing: handler})
			}
		}
	}
	return found
}

// oneOf: of these fields of one struct, one at most may be there.
func oneOf(parent string, held, after fields, members ...string) []exclusion {
	var wanted []string
	for _, member := range members {
		if held.has(parent + "." + member) {
			wanted = append(wanted, parent+"."+member)
		}
	}
	var found []exclusion
	for _, member := range members {
		if path := parent + "." + member; len(wanted) > 0 && after.has(path) && !slices.Contains(wanted, path) {
			found = append(found, exclusion{wanted: wanted, standing: path})
		}
	}
	return found
}

// portExclusions: no name is there twice and, if all need one, none is missing.
func portExclusions(list string, held, after fields, all bool) []exclusion {
	var found []exclusion
	wanted := held.items(list)
	for _, item := range after.items(list) {
		name, named := after[item+".name"]
		switch {
		case slices.Contains(wanted, item):
		case !named && all && len(wanted) > 0:
			found = append(found, exclusion{wanted: wanted, standing: item, named: item})
		case named:
			for _, own := range wanted {
				if after[own+".name"] == name {
					found = append(found, exclusion{wanted: []string{own}, standing: item, named: item + ".name"})
				}
			}
		}
	}
	return found
}

// has reports whether a field is there, or anything inside it.
func (f fields) has(field string) bool {
	return slices.ContainsFunc(f.paths(), func(path string) bool { return isInside(path, field) })
}

// items returns the items of a list, whose path ends with the bracket.
func (f fields) items(list string) []string {
	return slices.DeleteFunc(f.paths(), func(path string) bool {
		return !strings.HasPrefix(path, list) || f[path] != isItem || strings.Contains(path[len(list):], "].")
	})
}

func isInside(path, field string) bool {
	rest, found := strings.CutPrefix(path, field)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// excluded returns what others own of what excludes a part of held, and what is left of held under Yield: the operator
// leaves all that to them, and keeps what it has there itself, since that might be incomplete without. After is what an
// apply of left makes of the child: what nobody owns is taken, and removed.
func excluded(kind string, held, live fields, owners ownership) (conflicts []conflict, left, after fields) {
	left = maps.Clone(held)
	var removed []string
	for _, e := range exclusions(kind, held, outcome(held, live, owners)) {
		holders := owners.within(kind, e)
		if len(holders) == 0 {
			removed = append(removed, e.standing)
			continue
		}
		conflicts = append(conflicts, holders...)
		for path := range held {
			if slices.ContainsFunc(e.wanted, func(wanted string) bool { return isInside(path, wanted) }) {
				delete(left, path)
			}
		}
		for path := range owners.own() {
			if value, found := live[path]; found && slices.ContainsFunc(append(e.wanted, e.standing), func(place string) bool { return isInside(path, place) }) {
				left[path] = value
			}
		}
	}
	after = outcome(left, live, owners)
	for path := range after {
		if slices.ContainsFunc(removed, func(place string) bool { return isInside(path, place) }) {
			delete(after, path)
		}
	}
	return conflicts, left, after
}

// within returns what others own of an exclusion.
func (o ownership) within(kind string, e exclusion) []conflict {
	var exact, all []conflict
	for by, paths := range o {
		if by.isOperator() || by.isHandover() {
			continue
		}
		for path := range paths {
			one := conflict{kind: kind, field: path, owner: by}
			inner := slices.ContainsFunc(slices.Collect(maps.Keys(paths)), func(other string) bool { return other != path && isInside(other, path) })
			switch {
			case path == e.named:
				exact = append(exact, one)
			case isInside(path, e.standing) && !inner:
				all = append(all, one)
			}
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return all
}
