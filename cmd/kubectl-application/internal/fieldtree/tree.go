package fieldtree

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/redact"
)

// Tree is one object, field by field.
type Tree struct {
	// Root is the object itself.
	Root *Node
	// APIVersion is the version in which the object is written, and empty if it does not say.
	APIVersion string
	// Entries are the object's managedFields, as far as they can be read. Owners of nodes are indexes into it.
	Entries ownership.ManagedFields
	// Absent are the claims on fields that the object does not have, in the order of Entries. A manager that wrote at
	// another API version, where fields are called otherwise, has such claims.
	Absent []Claim
	// Problems are the entries of managedFields that cannot be read.
	Problems []error
	// Tracked is false if the object has no managedFields at all, so that nothing is known about its owners.
	Tracked bool
}

// Claim is one path that one entry holds.
type Claim struct {
	// Owner is an index into Tree.Entries.
	Owner int
	Path  fieldpath.Path
}

// Shape is what kind of value a field has.
type Shape int

// The shapes of fields: a Value is a scalar.
const (
	Value Shape = iota
	Map
	List
)

// State tells whether a field has owners.
type State int

const (
	// Structure is a map or a list that nobody owns as such; its fields have states of their own.
	Structure State = iota
	// Owned fields have at least one owner.
	Owned
	// Unowned fields have none: as a rule, the API server set them to their defaults.
	Unowned
	// Untracked fields, such as the name, never have owners: the API server leaves them out of managedFields.
	Untracked
)

// Node is one field, or one item of a list.
type Node struct {
	// Path leads to the field from the object's root, as managedFields write it.
	Path fieldpath.Path
	// Name is the field's name in its map. Items of lists have none.
	Name string
	// Item is true for an item of a list.
	Item  bool
	Shape Shape
	// Scalar is the value of a scalar.
	Scalar any
	// Redacted is true for a scalar that is not to be shown. Its value is gone.
	Redacted bool
	// Children are the fields in order of their names (those that are an item's key come first), or the items in the order
	// of the list.
	Children []*Node
	State    State
	// Owners are indexes into Tree.Entries, in ascending order.
	Owners []int
	// Whole is true for what is owned, or unowned, as a whole: an atomic list, for instance. The owners of what is in it
	// are its own.
	Whole bool
	// Inside is true for what is part of something that is owned as a whole.
	Inside bool
	// Context is true for what a filter left only because it leads to what was asked for, or names it.
	Context bool
}

// Leaf reports whether ownership goes no deeper: at scalars, at empty maps and lists, and at what is owned as a whole.
func (n *Node) Leaf() bool { return len(n.Children) == 0 || n.Whole }

// Walk calls visit for n and everything in it, from the top. It goes no deeper where visit returns false.
func (n *Node) Walk(visit func(*Node) bool) {
	if !visit(n) {
		return
	}
	for _, child := range n.Children {
		child.Walk(visit)
	}
}

// Owns reports whether the entry holds exactly this field.
func (n *Node) Owns(entry int) bool {
	return slices.Contains(n.Owners, entry)
}

// Content returns the field's value with everything in it, as JSON. What is not to be shown is replaced.
func (n *Node) Content() any {
	switch n.Shape {
	case Map:
		content := make(map[string]any, len(n.Children))
		for _, child := range n.Children {
			content[child.Name] = child.Content()
		}
		return content
	case List:
		content := make([]any, 0, len(n.Children))
		for _, child := range n.Children {
			content = append(content, child.Content())
		}
		return content
	default:
		if n.Redacted {
			return redact.Hidden
		}
		return n.Scalar
	}
}
