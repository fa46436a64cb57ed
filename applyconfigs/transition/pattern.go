package transition

import (
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// pattern stands for all paths of one shape. An element is the name of a field, or anyItem.
type pattern []string

// anyItem stands for each item of a list with keys.
const anyItem = "*"

// at reads a pattern as in spec.ports.*: no field that it can name has a dot in its name.
func at(path string) pattern { return strings.Split(path, ".") }

func (p pattern) with(more ...string) pattern { return append(slices.Clip(p), more...) }

// covers reports whether the path, or a beginning of it, has the pattern's shape.
func (p pattern) covers(path fieldpath.Path) bool {
	if len(path) < len(p) {
		return false
	}
	for i, name := range p {
		switch element := path[i]; {
		case name == anyItem && element.Key == nil:
			return false
		case name != anyItem && (element.FieldName == nil || *element.FieldName != name):
			return false
		}
	}
	return true
}

// in returns the paths of that shape that are in the set or hold something in it, sorted.
func (p pattern) in(fields *fieldpath.Set) []fieldpath.Path {
	var found []fieldpath.Path
	fields.Iterate(func(path fieldpath.Path) {
		if !p.covers(path) {
			return
		}
		prefix := path[:len(p)]
		if n := len(found); n == 0 || !found[n-1].Equals(prefix) {
			found = append(found, prefix.Copy())
		}
	})
	return found
}

// child returns the path of a field of a struct.
func child(parent fieldpath.Path, field string) fieldpath.Path {
	return append(parent.Copy(), fieldpath.FieldNameElement(field))
}

func hasPrefix(path, prefix fieldpath.Path) bool {
	return len(path) >= len(prefix) && path[:len(prefix)].Equals(prefix)
}
