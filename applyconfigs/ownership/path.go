package ownership

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// ParsePath reads a field's path as the API server writes it, the reverse of fieldpath.Path.String. Written paths do not
// quote names, so that only the schema of the kind can tell the annotation "a.b" from a field b in a field a.
//
// The error says where the path leaves the schema.
func ParsePath(types managedfields.TypeConverter, gvk schema.GroupVersionKind, path string) (fieldpath.Path, error) {
	kind, err := resolveKind(types, gvk)
	if err != nil {
		return nil, err
	}
	return kind.parsePath(path)
}

func (k kind) parsePath(path string) (fieldpath.Path, error) {
	parser := pathParser{schema: k.schema(), rest: path}
	parsed, err := parser.parse(k.ref())
	if err != nil {
		return nil, fmt.Errorf("path %q of %s: %w", path, k.gvk.Kind, err)
	}
	return parsed, nil
}

type pathParser struct {
	schema *smdschema.Schema
	rest   string
}

func (p *pathParser) parse(ref smdschema.TypeRef) (fieldpath.Path, error) {
	var path fieldpath.Path
	for p.rest != "" {
		atom, ok := p.schema.Resolve(ref)
		if !ok {
			return nil, fmt.Errorf("no schema at %q", p.rest)
		}
		var element fieldpath.PathElement
		var err error
		switch {
		case p.rest[0] == '.' && atom.Map != nil:
			element, ref, err = p.field(atom.Map)
		case p.rest[0] == '[' && atom.List != nil:
			element, err = p.item()
			ref = atom.List.ElementType
		default:
			err = fmt.Errorf("nothing can be at %q", p.rest)
		}
		if err != nil {
			return nil, err
		}
		path = append(path, element)
	}
	if len(path) == 0 {
		return nil, fmt.Errorf("path is empty")
	}
	return path, nil
}

// field reads ".NAME". Declared names are plain words; free keys of a map may hold anything.
func (p *pathParser) field(t *smdschema.Map) (fieldpath.PathElement, smdschema.TypeRef, error) {
	name, rest := p.rest[1:], ""
	if end := strings.IndexAny(name, ".["); end >= 0 {
		name, rest = name[:end], name[end:]
	}
	if field, ok := t.FindField(name); ok {
		p.rest = rest
		return fieldpath.FieldNameElement(name), field.Type, nil
	}
	element, ok := p.schema.Resolve(t.ElementType)
	if !ok || element == (smdschema.Atom{}) {
		return fieldpath.PathElement{}, smdschema.TypeRef{}, fmt.Errorf("no field %q", name)
	}
	if element.Map == nil && element.List == nil {
		// Nothing can follow a scalar: all of it is the key.
		name, rest = p.rest[1:], ""
	}
	p.rest = rest
	return fieldpath.FieldNameElement(name), t.ElementType, nil
}

// item reads "[KEY=VALUE,...]", "[=VALUE]" of a set, or "[INDEX]".
func (p *pathParser) item() (fieldpath.PathElement, error) {
	p.rest = p.rest[1:]
	if index, rest, ok := strings.Cut(p.rest, "]"); ok {
		if n, err := strconv.Atoi(index); err == nil {
			p.rest = rest
			return fieldpath.IndexElement(n), nil
		}
	}
	var keys value.FieldList
	for {
		name, rest, ok := strings.Cut(p.rest, "=")
		if !ok || strings.ContainsAny(name, `,]"`) {
			return fieldpath.PathElement{}, fmt.Errorf("no key at %q", p.rest)
		}
		p.rest = rest
		v, err := p.scalar()
		if err != nil {
			return fieldpath.PathElement{}, err
		}
		if p.rest == "" {
			return fieldpath.PathElement{}, fmt.Errorf("] is missing")
		}
		separator := p.rest[0]
		p.rest = p.rest[1:]
		if name == "" {
			if separator != ']' || len(keys) > 0 {
				return fieldpath.PathElement{}, fmt.Errorf("a set item has one value and no key")
			}
			return fieldpath.ValueElement(v), nil
		}
		keys = append(keys, value.Field{Name: name, Value: v})
		if separator == ']' {
			keys.Sort()
			return fieldpath.PathElement{Key: &keys}, nil
		}
	}
}

// scalar reads a value up to, but not including, the "," or "]" after it.
func (p *pathParser) scalar() (value.Value, error) {
	if strings.HasPrefix(p.rest, `"`) {
		quoted, err := strconv.QuotedPrefix(p.rest)
		if err != nil {
			return nil, fmt.Errorf("unfinished text at %q", p.rest)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("text %s: %w", quoted, err)
		}
		p.rest = p.rest[len(quoted):]
		if p.rest != "" && p.rest[0] != ',' && p.rest[0] != ']' {
			return nil, fmt.Errorf("neither , nor ] at %q", p.rest)
		}
		return value.NewValueInterface(text), nil
	}
	end := strings.IndexAny(p.rest, ",]")
	if end < 0 {
		return nil, fmt.Errorf("] is missing")
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	switch word {
	case "null":
		return value.NewValueInterface(nil), nil
	case "true", "false":
		return value.NewValueInterface(word == "true"), nil
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return value.NewValueInterface(n), nil
	}
	if f, err := strconv.ParseFloat(word, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return value.NewValueInterface(f), nil
	}
	return nil, fmt.Errorf("%q is no value", word)
}
