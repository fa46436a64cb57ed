package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// fields maps paths, written as the API server writes them, to values. An item of a list with keys has a path and the
// value isItem; its fields have paths of their own. What is atomic is one field.
type fields map[string]any

// isItem is the value of a list item itself.
const isItem = "(item)"

func (f fields) paths() []string { return slices.Sorted(maps.Keys(f)) }

// listKeys are the lists whose items have keys. All other lists are atomic in what the programs use.
var listKeys = map[string][]string{
	"containers":      {"name"},
	"env":             {"name"},
	"ownerReferences": {"uid"},
	"ports":           {"containerPort", "port", "protocol"},
	"volumeMounts":    {"mountPath"},
	"volumes":         {"name"},
}

// isAtomic tells which maps are one field.
func isAtomic(path string) bool {
	return path == ".spec.selector" || path == ".spec.template.spec.nodeSelector" || strings.Contains(path, ".valueFrom.") || strings.HasPrefix(path, ".metadata.ownerReferences[")
}

// flatten lists the fields of an object.
func flatten(object map[string]any) fields {
	flat := fields{}
	for name, value := range object {
		switch name {
		case "apiVersion", "kind", "status":
		case "metadata":
			metadata, _ := value.(map[string]any)
			for _, owned := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
				if value, found := metadata[owned]; found {
					flat.add(".metadata."+owned, owned, value)
				}
			}
		default:
			flat.add("."+name, name, value)
		}
	}
	return flat
}

func (f fields) add(path, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 || isAtomic(path) {
			f[path] = v
			return
		}
		for name, value := range v {
			f.add(path+"."+name, name, value)
		}
	case []any:
		keys, keyed := listKeys[name]
		if !keyed || len(v) == 0 {
			f[path] = v
			return
		}
		for _, item := range v {
			f.addItem(path, keys, item)
		}
	default:
		f[path] = v
	}
}

func (f fields) addItem(list string, keys []string, item any) {
	content, _ := item.(map[string]any)
	path := list + "[" + itemKey(keys, content) + "]"
	if isAtomic(path) {
		f[path] = content
		return
	}
	f[path] = isItem
	for name, value := range content {
		f.add(path+"."+name, name, value)
	}
}

// itemKey writes the keys that an item has, in the order of their names. The protocol of a port is TCP unless it says
// otherwise.
func itemKey(keys []string, item map[string]any) string {
	var parts []string
	for _, key := range keys {
		value, found := item[key]
		if !found && key == "protocol" {
			value, found = "TCP", true
		}
		if found {
			parts = append(parts, key+"="+asJSON(value))
		}
	}
	return strings.Join(parts, ",")
}

func asJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}

// equal compares two values of a field as the API server would if both had been stored.
func equal(path string, a, b any) bool {
	if strings.Contains(path, ".resources.") {
		return quantity(a) == quantity(b)
	}
	return reflect.DeepEqual(stored(path, a), stored(path, b))
}

func quantity(value any) string {
	parsed, err := resource.ParseQuantity(fmt.Sprint(value))
	if err != nil {
		return fmt.Sprint(value)
	}
	return parsed.String()
}

// stored adds what the API server adds to the fields that are one with their defaults.
func stored(path string, value any) any {
	content, isMap := value.(map[string]any)
	if !isMap {
		return value
	}
	content = maps.Clone(content)
	switch {
	case strings.HasSuffix(path, ".fieldRef"):
		addDefault(content, "apiVersion", "v1")
	case strings.HasSuffix(path, ".resourceFieldRef"):
		addDefault(content, "divisor", "0")
	}
	return content
}

func addDefault(content map[string]any, name string, value any) {
	if _, found := content[name]; !found {
		content[name] = value
	}
}

// ownedPaths reads one entry of managedFields: every field and every list item that it holds.
func ownedPaths(encoded []byte) (map[string]bool, error) {
	var tree map[string]any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		return nil, err
	}
	owned := map[string]bool{}
	return owned, collect(owned, "", tree)
}

func collect(owned map[string]bool, path string, tree map[string]any) error {
	for element, value := range tree {
		if element == "." {
			owned[path] = true
			continue
		}
		next := path
		switch prefix, rest, _ := strings.Cut(element, ":"); prefix {
		case "f":
			next += "." + rest
		case "v":
			next += "[=" + rest + "]"
		case "i":
			next += "[" + rest + "]"
		case "k":
			var item map[string]any
			if err := json.Unmarshal([]byte(rest), &item); err != nil {
				return err
			}
			next += "[" + itemKey(slices.Sorted(maps.Keys(item)), item) + "]"
		default:
			return fmt.Errorf("no path element: %q", element)
		}
		below, _ := value.(map[string]any)
		if len(below) == 0 {
			owned[next] = true
			continue
		}
		if err := collect(owned, next, below); err != nil {
			return err
		}
	}
	return nil
}
