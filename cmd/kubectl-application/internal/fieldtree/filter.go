package fieldtree

import (
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// KeepManager takes out all fields but those of managers of this name, and what leads to them. It reports whether any are left.
func (t *Tree) KeepManager(name string) bool {
	t.Absent = slices.DeleteFunc(t.Absent, func(c Claim) bool { return t.Entries[c.Owner].Name != name })
	return keep(t.Root, func(n *Node) bool {
		return slices.ContainsFunc(n.Owners, func(owner int) bool { return t.Entries[owner].Name == name })
	})
}

// KeepField takes out all fields but the one at this path with what is in it, and what leads to it. It reports whether there
// is such a field. The path may be written as managedFields are printed, .spec.containers[name="app"].image, without the
// first dot, without the quotes, or with the positions of items, as in JSONPath.
func (t *Tree) KeepField(path string) bool {
	if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "[") {
		path = "." + path
	}
	found := map[*Node]bool{}
	find(t.Root, "", func(n *Node, byPosition string) bool {
		if path != n.Path.String() && path != withoutQuotes(n.Path) && path != byPosition {
			return false
		}
		n.Walk(func(inside *Node) bool { found[inside] = true; return true })
		return true
	})
	t.Absent = slices.DeleteFunc(t.Absent, func(c Claim) bool { return c.Path.String() != path })
	return keep(t.Root, func(n *Node) bool { return found[n] }) || len(t.Absent) > 0
}

// keep takes out of the node what is neither wanted nor leads to what is, and reports whether anything is left. The fields
// that are an item's key stay with the item, or nobody could tell which it is. What an earlier filter left as context stays
// context.
func keep(node *Node, wanted func(*Node) bool) bool {
	node.Context = node.Context || !wanted(node)
	kept := map[*Node]bool{}
	for _, child := range node.Children {
		if keep(child, wanted) {
			kept[child] = true
		}
	}
	if len(kept) == 0 && node.Context {
		return false
	}
	key := keyNames(node)
	node.Children = slices.DeleteFunc(node.Children, func(child *Node) bool { return !kept[child] && !slices.Contains(key, child.Name) })
	return true
}

// find calls visit for everything in the node, with a path in which the items of lists are counted from 0. It goes no deeper
// where visit returns true.
func find(node *Node, path string, visit func(n *Node, byPosition string) bool) {
	for i, child := range node.Children {
		step := "." + child.Name
		if child.Item {
			step = "[" + strconv.Itoa(i) + "]"
		}
		if !visit(child, path+step) {
			find(child, path+step, visit)
		}
	}
}

func withoutQuotes(path fieldpath.Path) string {
	var b strings.Builder
	for _, element := range path {
		switch {
		case element.Key != nil:
			keys := make([]string, 0, len(*element.Key))
			for _, key := range *element.Key {
				keys = append(keys, key.Name+"="+plain(key.Value))
			}
			b.WriteString("[" + strings.Join(keys, ",") + "]")
		case element.Value != nil:
			b.WriteString("[=" + plain(*element.Value) + "]")
		default:
			b.WriteString(element.String())
		}
	}
	return b.String()
}

func plain(v value.Value) string {
	if v.IsString() {
		return v.AsString()
	}
	return value.ToString(v)
}

// Paths returns the paths of all fields that ownership is about, in the order of the tree.
func (t *Tree) Paths() []string {
	var paths []string
	t.Root.Walk(func(n *Node) bool {
		if n.State == Owned || n.State == Unowned {
			paths = append(paths, n.Path.String())
		}
		return !n.Whole
	})
	return paths
}
