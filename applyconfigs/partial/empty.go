package partial

import smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"

// isNothing reports whether v is null, or an object of nulls.
func isNothing(v any) bool {
	fields, ok := v.(map[string]any)
	if !ok || len(fields) == 0 {
		return v == nil
	}
	for _, field := range fields {
		if !isNothing(field) {
			return false
		}
	}
	return true
}

// isEmpty reports whether v is what a variable in Go holds before anything is assigned to it.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == nil || v == "" || v == false || v == int64(0) || v == float64(0)
	}
}

// without returns a copy of v that lacks the fields which drop says yes to. The entries of lists stay, and so does an object
// of which no field is left.
func without(v any, drop func(any) bool) any {
	switch v := v.(type) {
	case map[string]any:
		rest := make(map[string]any, len(v))
		for name, field := range v {
			if !drop(field) {
				rest[name] = without(field, drop)
			}
		}
		return rest
	case []any:
		rest := make([]any, len(v))
		for i, item := range v {
			rest[i] = without(item, drop)
		}
		return rest
	default:
		return v
	}
}

// keyDefault returns the value that a key of list entries has where it is missing, or nil.
func keyDefault(entry smdschema.Atom, name string) any {
	if entry.Map == nil {
		return nil
	}
	field, _ := entry.Map.FindField(name)
	if isEmpty(field.Default) || field.Default == 0 {
		return nil
	}
	return field.Default
}
