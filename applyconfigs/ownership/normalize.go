package ownership

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

const quantityType = "io.k8s.apimachinery.pkg.api.resource.Quantity"

// normalize rewrites quantities to the form in which the API server stores them. The server merges an apply before it
// normalises, so that "1000m" over a live "1" is a change to it, and a conflict if somebody else owns the "1"; an
// intent in normal form is neither.
func (k kind) normalize(content map[string]any) map[string]any {
	return normalizer{schema: k.schema()}.object(content, k.ref())
}

// normalizeLive also leaves out what the schema does not declare. A live object may come from an API server of a later
// version, and what no intent can name needs no comparison.
func (k kind) normalizeLive(content map[string]any) map[string]any {
	return normalizer{schema: k.schema(), declaredOnly: true}.object(content, k.ref())
}

type normalizer struct {
	schema       *smdschema.Schema
	declaredOnly bool
}

func (n normalizer) object(content map[string]any, ref smdschema.TypeRef) map[string]any {
	normal, _ := n.value(content, ref).(map[string]any)
	return normal
}

// value returns v in normal form. It copies what it changes, and shares what it does not.
func (n normalizer) value(v any, ref smdschema.TypeRef) any {
	if isQuantity(ref) {
		return normalQuantity(v, false)
	}
	atom, ok := n.schema.Resolve(ref)
	if !ok {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if atom.Map != nil {
			return n.fields(v, atom.Map)
		}
	case []any:
		if atom.List != nil {
			return n.items(v, atom.List)
		}
	}
	return v
}

func (n normalizer) fields(v map[string]any, t *smdschema.Map) map[string]any {
	normal := make(map[string]any, len(v))
	for name, child := range v {
		switch field, declared := t.FindField(name); {
		case declared:
			normal[name] = n.value(child, field.Type)
		case isQuantity(t.ElementType):
			normal[name] = normalQuantity(child, true)
		case t.ElementType != (smdschema.TypeRef{}):
			normal[name] = n.value(child, t.ElementType)
		case !n.declaredOnly:
			normal[name] = child
		}
	}
	return normal
}

func (n normalizer) items(v []any, t *smdschema.List) []any {
	normal := make([]any, len(v))
	for i, child := range v {
		normal[i] = n.value(child, t.ElementType)
	}
	return normal
}

func isQuantity(ref smdschema.TypeRef) bool {
	return ref.NamedType != nil && *ref.NamedType == quantityType
}

// normalQuantity returns v as it is if it is no quantity, for the API server to refuse.
func normalQuantity(v any, inResourceList bool) any {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return v
	}
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return v
	}
	if inResourceList {
		// Defaulting rounds every resource list up to thousandths.
		quantity.RoundUp(resource.Milli)
	}
	return quantity.String()
}
