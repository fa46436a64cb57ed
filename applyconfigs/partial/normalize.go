package partial

import (
	"maps"

	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// atomicDefaults are the defaults of the API server inside what is atomic: owned, and compared, as a whole. Without them
// the live value would differ from the wanted one for ever. All other defaults stay out: to own one is to conflict with
// whoever sets the field later.
var atomicDefaults = map[string]map[string]any{
	"io.k8s.api.core.v1.FileKeySelector":               {"optional": false},
	"io.k8s.api.core.v1.ObjectFieldSelector":           {"apiVersion": "v1"},
	"io.k8s.api.core.v1.PodCertificateProjection":      {"maxExpirationSeconds": int64(86400)},
	"io.k8s.api.core.v1.ResourceFieldSelector":         {"divisor": "0"},
	"io.k8s.api.core.v1.ServiceAccountTokenProjection": {"expirationSeconds": int64(3600)},
}

// normalizer brings a partial object to the form in which it can be compared with a live one.
//
// What is atomic gets the form in which the API server stores it: without empty values, with quantities in normal form,
// with its defaults. All else stays as the user wrote it, but for what is as good as nothing.
//
// A null goes, with the object that held nothing else. To an apply, a null is a field that is owned and has no value, so
// that the API server gives it the default. Without the null it gets the default as well, unless somebody else wants
// another value. As the live object does not tell a value that was defaulted from one that was applied, an owned null
// could not be told from a value that is still to be removed.
//
// The same goes for an empty value that the kind's Go type does not tell from none: dnsPolicy "", nodePort 0, ipFamilies [].
// Where it does, for instance by a pointer, the empty value is one like others, and owned: terminationGracePeriodSeconds 0,
// emptyDir {}.
type normalizer struct {
	schema *smdschema.Schema
}

// value returns v in normal form. Stored is what the API server would make of it, and bare what it would make of the
// object without any empty value; either is nil where it would drop it.
func (n normalizer) value(v, stored, bare any, ref smdschema.TypeRef) any {
	atom, ok := n.schema.Resolve(ref)
	if !ok {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if atom.Map == nil || len(v) == 0 {
			return v
		}
		stored, _ := stored.(map[string]any)
		if atom.Map.ElementRelationship == smdschema.Atomic {
			return n.atomic(v, stored, stored != nil, ref)
		}
		bare, _ := bare.(map[string]any)
		return n.fields(v, stored, bare, atom.Map)
	case []any:
		if atom.List == nil || len(v) == 0 {
			return v
		}
		stored, _ := stored.([]any)
		if atom.List.ElementRelationship == smdschema.Atomic {
			return n.atomic(v, stored, stored != nil, ref)
		}
		bare, _ := bare.([]any)
		if len(stored) != len(v) || len(bare) != len(v) {
			return v
		}
		normal := make([]any, len(v))
		for i, child := range v {
			normal[i] = n.item(child, stored[i], bare[i], atom.List)
		}
		return normal
	default:
		return v
	}
}

func (n normalizer) fields(v, stored, bare map[string]any, t *smdschema.Map) map[string]any {
	normal := make(map[string]any, len(v))
	for name, child := range v {
		if isNothing(child) {
			continue
		}
		if !isEmpty(child) || isTold(stored, bare, name) {
			normal[name] = n.value(child, stored[name], bare[name], fieldType(t, name))
		}
	}
	return normal
}

// isTold reports whether the Go type tells an empty value of a field from none.
func isTold(stored, bare map[string]any, name string) bool {
	if _, kept := stored[name]; !kept {
		return false
	}
	without, always := bare[name]
	return !always || !isEmpty(without)
}

// item keeps the keys, which say what entry it is.
func (n normalizer) item(v, stored, bare any, t *smdschema.List) any {
	normal := n.value(v, stored, bare, t.ElementType)
	fields, ok := normal.(map[string]any)
	if !ok {
		return normal
	}
	written, _ := v.(map[string]any)
	element, _ := n.schema.Resolve(t.ElementType)
	for _, name := range t.Keys {
		if key := written[name]; key != nil && (!isEmpty(key) || keyDefault(element, name) == nil) {
			fields[name] = key
		}
	}
	return fields
}

func (n normalizer) atomic(v, stored any, isStored bool, ref smdschema.TypeRef) any {
	if !isStored {
		return v
	}
	return n.complete(stored, ref)
}

// complete adds the defaults of everything inside v.
func (n normalizer) complete(v any, ref smdschema.TypeRef) any {
	atom, ok := n.schema.Resolve(ref)
	if !ok {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if atom.Map == nil {
			return v
		}
		whole := make(map[string]any, len(v))
		if ref.NamedType != nil {
			maps.Copy(whole, atomicDefaults[*ref.NamedType])
		}
		for name, child := range v {
			whole[name] = n.complete(child, fieldType(atom.Map, name))
		}
		return whole
	case []any:
		if atom.List == nil {
			return v
		}
		whole := make([]any, len(v))
		for i, child := range v {
			whole[i] = n.complete(child, atom.List.ElementType)
		}
		return whole
	default:
		return v
	}
}

func fieldType(t *smdschema.Map, name string) smdschema.TypeRef {
	if field, declared := t.FindField(name); declared {
		return field.Type
	}
	return t.ElementType
}
