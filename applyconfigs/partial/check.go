package partial

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Scalars whose schema does not say what they hold.
const (
	quantityType    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	intOrStringType = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
)

// check returns everything about content that does not fit a type of the schema.
func check(schema *smdschema.Schema, ref smdschema.TypeRef, root string, content any) []Problem {
	c := checker{schema: schema, ref: ref, root: root}
	c.value(nil, content, ref)
	return c.problems
}

type checker struct {
	schema   *smdschema.Schema
	ref      smdschema.TypeRef
	root     string
	problems []Problem
}

func (c *checker) report(path fieldpath.Path, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: c.root + path.String(), Message: fmt.Sprintf(format, args...)})
}

func (c *checker) value(path fieldpath.Path, v any, ref smdschema.TypeRef) {
	if v == nil {
		return // as if it were not there
	}
	atom, ok := c.schema.Resolve(ref)
	if !ok {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if atom.Map != nil {
			c.fields(path, v, atom.Map)
			return
		}
	case []any:
		if atom.List != nil {
			c.items(path, v, atom.List)
			return
		}
	default:
		if atom.Scalar != nil {
			c.scalar(path, v, ref, *atom.Scalar)
			return
		}
	}
	c.report(path, "it must be %s, not %s", nameAtom(atom), nameValue(v))
}

func (c *checker) fields(path fieldpath.Path, content map[string]any, t *smdschema.Map) {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		at := child(path, fieldpath.FieldNameElement(name))
		if field, declared := t.FindField(name); declared {
			c.value(at, content[name], field.Type)
			continue
		}
		element, ok := c.schema.Resolve(t.ElementType)
		if !ok || element == (smdschema.Atom{}) {
			c.report(at, "there is no such field%s", c.suggest(name, t))
			continue
		}
		c.value(at, content[name], t.ElementType)
	}
}

func (c *checker) items(path fieldpath.Path, content []any, t *smdschema.List) {
	seen := fieldpath.NewSet()
	for i, item := range content {
		element := fieldpath.IndexElement(i)
		switch {
		case item == nil:
			c.report(child(path, element), "a list entry must not be null: remove it")
			continue
		case t.ElementRelationship == smdschema.Associative && len(t.Keys) > 0:
			var ok bool
			if element, ok = c.key(child(path, element), item, t); !ok {
				continue
			}
		case t.ElementRelationship == smdschema.Associative:
			element = fieldpath.ValueElement(value.NewValueInterface(item))
		}
		at := child(path, element)
		if seen.Has(fieldpath.Path{element}) {
			c.report(at, "there are two such entries, and lists like this one tell their entries apart by %s: remove one", nameKeys(t))
			continue
		}
		seen.Insert(fieldpath.Path{element})
		c.value(at, item, t.ElementType)
	}
}

// key returns the element of the path that names an entry of a list with keys. It reports an entry that cannot be named.
func (c *checker) key(path fieldpath.Path, item any, t *smdschema.List) (fieldpath.PathElement, bool) {
	fields, ok := item.(map[string]any)
	if !ok {
		c.report(path, "it must be an object, not %s", nameValue(item))
		return fieldpath.PathElement{}, false
	}
	element, _ := c.schema.Resolve(t.ElementType)
	var keys value.FieldList
	for _, name := range t.Keys {
		key := fields[name]
		if usual := keyDefault(element, name); usual != nil && isEmpty(key) {
			key = usual
		}
		if key == "" {
			// Of imagePullSecrets the API server would take it, and show an entry without the key.
			c.report(path, "%s is empty, by which this list tells its entries apart", name)
			return fieldpath.PathElement{}, false
		}
		switch key.(type) {
		case nil:
			c.report(path, "%s is missing, by which this list tells its entries apart", name)
			return fieldpath.PathElement{}, false
		case map[string]any, []any:
			field, _ := element.Map.FindField(name)
			c.value(child(path, fieldpath.FieldNameElement(name)), key, field.Type)
			return fieldpath.PathElement{}, false
		}
		keys = append(keys, value.Field{Name: name, Value: value.NewValueInterface(key)})
	}
	keys.Sort()
	return fieldpath.PathElement{Key: &keys}, true
}

func (c *checker) scalar(path fieldpath.Path, v any, ref smdschema.TypeRef, t smdschema.Scalar) {
	_, isString := v.(string)
	_, isBool := v.(bool)
	number, isFloat := v.(float64)
	_, isInt := v.(int64)
	switch {
	case ref.NamedType != nil && *ref.NamedType == quantityType:
		if !isQuantity(v) {
			c.report(path, "it must be a quantity, such as 500m or 1Gi")
		}
	case ref.NamedType != nil && *ref.NamedType == intOrStringType:
		if !isString && !isInt {
			c.report(path, "it must be a whole number or a string, not %s", nameValue(v))
		}
	case t == smdschema.String && !isString:
		c.report(path, "it must be a string, not %s: put it in quotes", nameValue(v))
	case t == smdschema.Boolean && !isBool:
		c.report(path, "it must be true or false, not %s", nameValue(v))
	case t == smdschema.Numeric && !isFloat && !isInt:
		c.report(path, "it must be a number, not %s", nameValue(v))
	case t == smdschema.Numeric && isFloat && number != math.Trunc(number):
		c.report(path, "it must be a whole number")
	}
}

func child(path fieldpath.Path, element fieldpath.PathElement) fieldpath.Path {
	return append(slices.Clip(path), element)
}

func isQuantity(v any) bool {
	_, err := resource.ParseQuantity(fmt.Sprint(v))
	return err == nil
}

func nameAtom(atom smdschema.Atom) string {
	switch {
	case atom.Map != nil:
		return "an object"
	case atom.List != nil:
		return "a list"
	case atom.Scalar != nil && *atom.Scalar == smdschema.String:
		return "a string"
	case atom.Scalar != nil && *atom.Scalar == smdschema.Numeric:
		return "a number"
	case atom.Scalar != nil && *atom.Scalar == smdschema.Boolean:
		return "true or false"
	default:
		return "a single value"
	}
}

func nameValue(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "true or false"
	default:
		return "a number"
	}
}

func nameKeys(t *smdschema.List) string {
	if len(t.Keys) == 0 {
		return "their values"
	}
	return strings.Join(t.Keys, " and ")
}
