package partial

import (
	"fmt"
	"slices"
	"strings"

	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// maxNesting bounds how far below, or from the top, a misplaced field is looked for.
const maxNesting = 3

// suggest says what was probably meant by a field that an object of the type does not have: a field that is spelt almost
// like it, or one of this name inside another field, or where such a field is. It is empty where nothing is near.
func (c *checker) suggest(name string, t *smdschema.Map) string {
	if nearest, ok := nearest(name, fieldNames(t)); ok {
		return fmt.Sprintf("; did you mean %s?", nearest)
	}
	if path, ok := c.find(name, t); ok {
		return fmt.Sprintf("; did you mean %s?", path)
	}
	if top, ok := c.schema.Resolve(c.ref); ok && top.Map != nil && top.Map != t {
		if path, ok := c.find(name, top.Map); ok {
			return fmt.Sprintf("; did you mean %s.%s?", c.root, path)
		}
	}
	return ""
}

// find looks for a field inside the other fields of a type, but not in lists. The fewer fields it is within the better.
func (c *checker) find(name string, t *smdschema.Map) (string, bool) {
	type place struct {
		path string
		t    *smdschema.Map
	}
	places := []place{{t: t}}
	for range maxNesting {
		var inside []place
		for _, p := range places {
			for i := range p.t.Fields {
				field := &p.t.Fields[i]
				if p.path == "" && field.Name == "status" {
					continue // nobody writes it
				}
				atom, ok := c.schema.Resolve(field.Type)
				if !ok || atom.Map == nil {
					continue
				}
				path := strings.TrimPrefix(p.path+"."+field.Name, ".")
				if _, found := atom.Map.FindField(name); found {
					return path + "." + name, true
				}
				inside = append(inside, place{path: path, t: atom.Map})
			}
		}
		places = inside
	}
	return "", false
}

func fieldNames(t *smdschema.Map) []string {
	names := make([]string, 0, len(t.Fields))
	for i := range t.Fields {
		names = append(names, t.Fields[i].Name)
	}
	slices.Sort(names)
	return names
}

// nearest returns the name that takes the fewest edits, if they are few for a name of that length.
func nearest(name string, names []string) (string, bool) {
	best, fewest := "", max(1, len(name)/4)+1
	for _, candidate := range names {
		if edits := distance(strings.ToLower(name), strings.ToLower(candidate)); edits < fewest {
			best, fewest = candidate, edits
		}
	}
	return best, best != ""
}

// distance is how many letters have to be inserted, removed, replaced or swapped with their neighbour to make b of a: the
// optimal string alignment.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
