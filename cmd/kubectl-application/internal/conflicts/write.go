package conflicts

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/partial"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/spec"
)

// write returns how anybody may write what is wanted, which ends the conflict without anyone giving up a claim.
func (c *contest) write() (*Resolution, error) {
	resolution := &Resolution{
		Outcome:     GetWanted,
		Description: "Write the wanted value to the " + string(c.child.Object) + ": the writer and the operator both own the field then",
		holdsValue:  true,
	}
	container := fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "app"))
	switch {
	case c.path.Equals(fieldpath.MakePathOrDie("spec", "replicas")):
		if c.nameless() {
			resolution.Description = "Scale to the wanted count: the operator owns it then"
		}
		resolution.Commands = []string{c.target.Kubectl("scale", c.child.Reference(), fmt.Sprintf("--replicas=%v", c.wanted))}
		return resolution, nil
	case c.path.Equals(append(container.Copy(), fieldpath.FieldNameElement("image"))):
		resolution.Commands = []string{c.target.Kubectl("set", "image", c.child.Reference(), fmt.Sprintf("app=%v", c.wanted))}
		return resolution, nil
	}
	exact, err := c.exactWrite()
	if err != nil {
		return nil, err
	}
	content := c.child.Intent.Excerpt(fieldpath.NewSet(c.path)).Object
	if c.against != nil {
		resolution.Description = fmt.Sprintf("Remove it from the %s, in favour of what is wanted of %s", c.child.Object, c.against)
		content = c.replacement()
	}
	if exact != "" {
		resolution.Commands = []string{exact}
		return resolution, nil
	}
	patch, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("building the patch: %w", err)
	}
	resolution.Commands = []string{c.target.Kubectl("patch", c.child.Reference(), "--patch="+string(patch))}
	return resolution, nil
}

// replacement returns the strategic merge patch that writes what is wanted and removes what excludes it.
func (c *contest) replacement() map[string]any {
	wanted := fieldpath.NewSet()
	c.child.Intent.Fields().Iterate(func(path fieldpath.Path) {
		if isWithin(path, c.against) {
			wanted.Insert(path.Copy())
		}
	})
	content := c.child.Intent.Excerpt(wanted).Object
	exclude(content, excluding(c.path, c.against))
	return content
}

// excluding returns what has to go for a field to go that excludes another: with the last field of a probe's handler, the
// handler.
func excluding(path, against fieldpath.Path) fieldpath.Path {
	switch common := commonLength(path, against); common {
	case 0:
		return path // in another part of the object
	case len(against):
		return against
	default:
		return path[:common+1]
	}
}

// commonLength returns how many steps two paths share.
func commonLength(a, b fieldpath.Path) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].Equals(b[n]) {
		n++
	}
	return n
}

// exclude makes a strategic merge patch remove a field, with the list item that it is in if the patch is not about that.
func exclude(content map[string]any, path fieldpath.Path) {
	for n := 0; n < len(path)-1 && path[n].FieldName != nil; n++ {
		name := *path[n].FieldName
		if path[n+1].Key == nil {
			next, isMap := content[name].(map[string]any)
			if !isMap {
				next = map[string]any{}
				content[name] = next
			}
			content = next
			continue
		}
		items, _ := content[name].([]any)
		if index := partial.IndexOf(items, path[n+1]); index >= 0 && n+2 < len(path) {
			content, _ = items[index].(map[string]any)
			n++
			continue
		}
		item := map[string]any{"$patch": "delete"}
		for _, key := range *path[n+1].Key {
			item[key.Name] = key.Value.Unstructured()
		}
		content[name] = append(items, item)
		return
	}
	if last := path[len(path)-1]; last.FieldName != nil {
		content[*last.FieldName] = nil
	}
}

func isWithin(path, parent fieldpath.Path) bool {
	return len(path) >= len(parent) && path[:len(parent)].Equals(parent)
}

// exactWrite returns the command that writes what is wanted where a strategic merge patch could meet another item: it tells
// ports by their numbers alone, and one number can be there for several protocols. It returns nothing where that is not so.
func (c *contest) exactWrite() (string, error) {
	reference, live := c.child.Reference(), c.child.Live.Object
	if c.against == nil {
		if !c.sharesNumber(c.path) {
			return "", nil
		}
		return spec.Write(c.target, reference, live, c.path, c.wanted)
	}
	standing := excluding(c.path, c.against)
	if last := len(standing) - 1; len(c.against) != len(standing) || c.against[last].Key == nil ||
		!c.sharesNumber(standing) && !c.sharesNumber(c.against) || partial.ValueAt(live, c.against) != nil {
		return "", nil
	}
	return spec.Replace(c.target, reference, live, standing, partial.ValueAt(c.child.Intent.Object().Object, c.against))
}

// sharesNumber reports whether the live object has another item with the number of a port on the path.
func (c *contest) sharesNumber(path fieldpath.Path) bool {
	for n, element := range path {
		number, isPort := portNumber(element)
		if !isPort {
			continue
		}
		items, _ := partial.ValueAt(c.child.Live.Object, path[:n]).([]any)
		same := partial.IndexOf(items, element)
		for i, item := range items {
			fields, _ := item.(map[string]any)
			if i != same && (fields["port"] == number || fields["containerPort"] == number) {
				return true
			}
		}
	}
	return false
}
