package fieldtree

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// untracked are the fields that the API server takes out of every set of managed fields.
var untracked = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"),
	fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata", "clusterName"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"),
	fieldpath.MakePathOrDie("metadata", "deletionGracePeriodSeconds"),
	fieldpath.MakePathOrDie("metadata", "deletionTimestamp"),
	fieldpath.MakePathOrDie("metadata", "generation"),
	fieldpath.MakePathOrDie("metadata", "name"),
	fieldpath.MakePathOrDie("metadata", "namespace"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"),
	fieldpath.MakePathOrDie("metadata", "selfLink"),
	fieldpath.MakePathOrDie("metadata", "uid"),
)

// Build lays the entries over the object's content, which is JSON as encoding/json or Kubernetes' own decoders read it.
// managedFields in the content are left out: they are what the entries say. The kind is any value of the object's kind,
// for its schema; nil if it is not known.
func Build(content map[string]any, entries []metav1.ManagedFieldsEntry, kind *typed.TypedValue) *Tree {
	managed, err := ownership.Parse(entries)
	tree := &Tree{Entries: managed, Problems: split(err), Tracked: len(entries) > 0}
	b := builder{found: fieldpath.NewSet()}
	claims := make([]claimsOf, 0, len(managed))
	for i, entry := range managed {
		claims = append(claims, claimsOf{owner: i, set: entry.Fields})
	}
	var ref schema.TypeRef
	if kind != nil {
		b.schema, ref = kind.Schema(), kind.TypeRef()
	}
	tree.Root = &Node{}
	tree.APIVersion, _ = content["apiVersion"].(string)
	b.fill(tree.Root, withoutManagedFields(content), ref, claims)
	settle(tree.Root)
	for i, entry := range managed {
		for path := range entry.Fields.Difference(b.found).All() {
			tree.Absent = append(tree.Absent, Claim{Owner: i, Path: path.Copy()})
		}
	}
	return tree
}

type builder struct {
	// schema is nil if the kind is not known.
	schema *schema.Schema
	// found are the paths that the object has.
	found *fieldpath.Set
}

// fill adds to the node what is in its value, and who claims it.
func (b *builder) fill(node *Node, content any, ref schema.TypeRef, beneath []claimsOf) {
	atom := b.resolve(ref)
	switch content := content.(type) {
	case map[string]any:
		node.Shape = Map
		for _, name := range fieldNames(node, content) {
			b.add(node, &Node{Name: name}, content[name], fieldpath.FieldNameElement(name), fieldType(atom.Map, name), beneath)
		}
		if atom.Map != nil {
			node.Whole = len(content) > 0 && atom.Map.ElementRelationship == schema.Atomic
			return
		}
	case []any:
		node.Shape = List
		elements, itemType := b.elements(atom.List, beneath)
		for i, item := range content {
			b.add(node, &Node{Item: true}, item, elements.of(i, item), itemType, beneath)
		}
		if atom.List != nil {
			node.Whole = len(content) > 0 && atom.List.ElementRelationship == schema.Atomic
			return
		}
	default:
		node.Scalar = content
	}
	// Without a schema, what somebody owns and nobody claims a part of is owned as a whole. A map or list of which only the
	// existence is claimed looks alike then.
	node.Whole = len(node.Children) > 0 && len(node.Owners) > 0 && len(beneath) == 0
}

func (b *builder) add(parent, child *Node, content any, element fieldpath.PathElement, ref schema.TypeRef, beneath []claimsOf) {
	child.Path = append(slices.Clone(parent.Path), element)
	deeper := make([]claimsOf, 0, len(beneath))
	for _, c := range beneath {
		if c.set.Members.Has(element) {
			child.Owners = append(child.Owners, c.owner)
		}
		if set, ok := c.set.Children.Get(element); ok {
			deeper = append(deeper, claimsOf{owner: c.owner, set: set})
		}
	}
	if len(child.Owners) > 0 {
		b.found.Insert(child.Path)
	}
	b.fill(child, content, ref, deeper)
	parent.Children = append(parent.Children, child)
}

// fieldNames returns the names in order. Of an item that has a key, the key comes first, as people write it.
func fieldNames(node *Node, content map[string]any) []string {
	names, key := slices.Sorted(maps.Keys(content)), keyNames(node)
	if len(key) == 0 {
		return names
	}
	rank := func(name string) int {
		if slices.Contains(key, name) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// keyNames returns the names of the fields that are the key of an item.
func keyNames(node *Node) []string {
	if !node.Item || node.Path[len(node.Path)-1].Key == nil {
		return nil
	}
	var names []string
	for _, field := range *node.Path[len(node.Path)-1].Key {
		names = append(names, field.Name)
	}
	return names
}

// resolve returns an empty atom for what has no schema.
func (b *builder) resolve(ref schema.TypeRef) schema.Atom {
	if b.schema == nil {
		return schema.Atom{}
	}
	atom, _ := b.schema.Resolve(ref)
	return atom
}

func fieldType(fields *schema.Map, name string) schema.TypeRef {
	if fields == nil {
		return schema.TypeRef{}
	}
	if field, ok := fields.FindField(name); ok {
		return field.Type
	}
	return fields.ElementType
}

// settle gives every node its state, and hands the owners of what is owned as a whole on to what is in it.
func settle(node *Node) {
	for _, child := range node.Children {
		if node.Whole || node.Inside {
			child.Inside = true
			if len(child.Owners) == 0 {
				child.Owners = node.Owners
			}
		}
		settle(child)
	}
	switch {
	case len(node.Owners) > 0:
		node.State = Owned
	case untracked.Has(node.Path):
		node.State = Untracked
	case node.Leaf() && len(node.Path) > 0:
		node.State = Unowned
	}
}

// claimsOf one entry are what it owns beneath a field.
type claimsOf struct {
	owner int
	set   *fieldpath.Set
}

// withoutManagedFields never changes what it is given.
func withoutManagedFields(content map[string]any) map[string]any {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return content
	}
	if _, ok := metadata["managedFields"]; !ok {
		return content
	}
	content, metadata = maps.Clone(content), maps.Clone(metadata)
	delete(metadata, "managedFields")
	content["metadata"] = metadata
	return content
}

// split returns the errors that were joined into one.
func split(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// asValue gives a scalar the type that paths hold.
func asValue(v any) value.Value {
	switch v := v.(type) {
	case nil, string, bool, int64, float64:
		return value.NewValueInterface(v)
	case int:
		return value.NewValueInterface(int64(v))
	default:
		return value.NewValueInterface(fmt.Sprint(v))
	}
}
