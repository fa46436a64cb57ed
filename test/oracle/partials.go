package oracle

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// partialFields are the fields of a spec that hold partial children, by kind. A setting of one is that of the child behind
// the name of the field: deployment.grace=10, service.affinity=None.
var partialFields = map[string]string{deployment: "deployment", service: "service"}

// splitPartials takes from the settings of an Application those of partial children, by kind and under the child's keys.
func splitPartials(s settings) (rest settings, partials map[string]settings) {
	partials = map[string]settings{}
	for _, one := range s {
		kind := partialOf(one.key)
		if kind == "" {
			rest = append(rest, one)
			continue
		}
		one.key = strings.TrimPrefix(one.key, partialFields[kind]+".")
		partials[kind] = append(partials[kind], one)
	}
	return rest, partials
}

// partialOf returns the kind of the partial child that a key of an Application is about, or nothing.
func partialOf(key string) string {
	for kind, field := range partialFields {
		if strings.HasPrefix(key, field+".") {
			return kind
		}
	}
	return ""
}

// partialContent returns a partial child: it says nothing of which object it is.
func partialContent(kind string, s settings) (map[string]any, error) {
	content, err := childContent(kind, s)
	if err != nil {
		return nil, err
	}
	delete(content, "apiVersion")
	delete(content, "kind")
	metadata := within(content, "metadata")
	delete(metadata, "name")
	if len(metadata) == 0 {
		delete(content, "metadata")
	}
	return content, nil
}

// partialWish returns what the partial child in a spec asks for. An empty text of a variable says nothing.
func partialWish(spec map[string]any, kind string) fields {
	content, _ := spec[partialFields[kind]].(map[string]any)
	wish := flatten(content)
	for path, value := range wish {
		if strings.Contains(path, ".env[") && strings.HasSuffix(path, ".value") && value == "" {
			delete(wish, path)
		}
	}
	return wish
}

// reservedFields are what the operator must keep as it is.
var reservedFields = map[string][]string{
	deployment: {".metadata.labels.app", ".metadata.labels.owner", ".spec.selector", ".spec.template.metadata.labels.app", ".spec.template.metadata.labels.owner"},
	service:    {".metadata.labels.app", ".metadata.labels.owner", ".spec.selector"},
}

// faults returns what is wrong with the partial children of a spec, by kind: paths in the spec. Of a spec with any fault
// nothing is applied, neither to the one child nor to the other.
func faults(app *unstructured.Unstructured) map[string][]string {
	spec := specOf(app)
	found := map[string][]string{}
	for kind, field := range partialFields {
		if _, present := spec[field]; !present {
			continue
		}
		generated := generatedFields(app, kind)
		if generated == nil {
			found[kind] = []string{"spec." + field}
			continue
		}
		for path := range partialWish(spec, kind) {
			reserved := slices.ContainsFunc(reservedFields[kind], func(own string) bool { return isInside(path, own) })
			if _, twice := generated[path]; reserved || twice && !isKey(path) && generated[path] != isItem {
				found[kind] = append(found[kind], "spec."+field+path)
			}
		}
		slices.Sort(found[kind])
	}
	maps.DeleteFunc(found, func(_ string, paths []string) bool { return len(paths) == 0 })
	return found
}

func isFaulty(app *unstructured.Unstructured) bool { return len(faults(app)) > 0 }

// isKey reports whether a field is what its list item is found by.
func isKey(path string) bool {
	item := itemAround(path)
	if item == "" {
		return false
	}
	list, _, _ := strings.Cut(item[strings.LastIndex(item[:strings.LastIndex(item, "[")], ".")+1:], "[")
	return slices.Contains(listKeys[list], strings.TrimPrefix(path, item+"."))
}
