package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/partial"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
)

// Edit is a change of one field of an Application's spec.
type Edit struct {
	// Edited is the Application after the change.
	Edited *unstructured.Unstructured
	// Command does the change with kubectl.
	Command string
}

// Set returns the edit that gives a field of the spec a value. The error says that the field cannot have it.
func Set(target shell.Target, application *unstructured.Unstructured, field desired.Source, value any) (*Edit, error) {
	if text, _ := value.(string); len(field.Values) > 0 && !slices.Contains(field.Values, text) {
		return nil, fmt.Errorf("%s cannot be %v: it is one of %s", field.Path, value, strings.Join(field.Values, ", "))
	}
	if value == nil || !field.Copied || !field.Settable {
		return nil, fmt.Errorf("%s cannot be set to the value of another field", field.Path)
	}
	return edit(target, application, field, func(parents []parent) (operation, int) {
		last := parents[len(parents)-1]
		last.fields[last.name] = value
		return operation{Op: "add", Value: value}, len(parents)
	})
}

// Drop returns the edit that removes a field, or a list item, from the spec.
func Drop(target shell.Target, application *unstructured.Unstructured, field desired.Source) (*Edit, error) {
	if !field.Removable {
		return nil, fmt.Errorf("%s cannot be removed", field.Path)
	}
	if last := field.Path[len(field.Path)-1]; last.Key != nil {
		return dropItem(target, application, field)
	}
	return edit(target, application, field, func(parents []parent) (operation, int) {
		n := len(parents)
		delete(parents[n-1].fields, parents[n-1].name)
		// In a partial object, an empty map would be a value of its own, and owned. What is left of it goes as well.
		for field.Partial != "" && n > 2 && len(parents[n-1].fields) == 0 && parents[n-2].holds {
			n--
			delete(parents[n-1].fields, parents[n-1].name)
		}
		return operation{Op: "remove"}, n
	})
}

// Exchange returns the edit that removes a field from the spec and gives its neighbor, at another path in the same struct, a
// value. It is one patch, for specs that need one of the two and cannot have both.
func Exchange(target shell.Target, application *unstructured.Unstructured, field desired.Source, neighbor fieldpath.Path, value any) (*Edit, error) {
	failed := func(err error) (*Edit, error) {
		return nil, fmt.Errorf("%s in place of %s of Application %s: %w", neighbor, field.Path, application.GetName(), err)
	}
	edited := application.DeepCopy()
	removed, tests, err := follow(edited.Object, field.Path)
	if err != nil {
		return failed(err)
	}
	added, _, err := follow(edited.Object, neighbor)
	if err != nil {
		return failed(err)
	}
	from, to := removed[len(removed)-1], added[len(added)-1]
	delete(from.fields, from.name)
	to.fields[to.name] = value
	patch, err := json.Marshal(append(tests, operation{Op: "remove", Path: from.pointer}, operation{Op: "add", Path: to.pointer, Value: value}))
	if err != nil {
		return failed(err)
	}
	return &Edit{
		Edited:  edited,
		Command: target.Kubectl("patch", Reference(application.GetName()), "--type=json", "--patch="+string(patch)),
	}, nil
}

// Reference names an Application for kubectl. The full name of the resource always means ours: other kinds called
// Application may exist beside it.
func Reference(name string) string {
	return cli.ApplicationResource.String() + "/" + name
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// parent is a map on the way to a field.
type parent struct {
	fields map[string]any
	// name is the field in it that the way leads through.
	name string
	// holds: the next parent on the way is that field, and not an item of it.
	holds bool
	// pointer is the JSON pointer to the field.
	pointer string
}

// edit makes a change of a copy of the Application. The change gets the maps on the way to the field, and returns what it
// did, and to the field in which of these, counted from 1.
func edit(target shell.Target, application *unstructured.Unstructured, field desired.Source, change func([]parent) (operation, int)) (*Edit, error) {
	failed := func(err error) error {
		return fmt.Errorf("%s of Application %s: %w", field.Path, application.GetName(), err)
	}
	edited := application.DeepCopy()
	parents, tests, err := follow(edited.Object, field.Path)
	if err != nil {
		return nil, failed(err)
	}
	done, n := change(parents)
	done.Path = parents[n-1].pointer
	kind, patch := "merge", mergePatch(parents[:n], done.Value)
	if _, isMap := done.Value.(map[string]any); isMap || len(tests) > 0 {
		// A merge patch replaces lists as a whole, and does not replace maps.
		kind, patch = "json", slices.Concat(tests, []operation{done})
	}
	encoded, err := json.Marshal(patch)
	if err != nil {
		return nil, failed(err)
	}
	return &Edit{
		Edited:  edited,
		Command: target.Kubectl("patch", Reference(application.GetName()), "--type="+kind, "--patch="+string(encoded)),
	}, nil
}

// mergePatch sets the field that the way leads to, or removes it if the value is nil.
func mergePatch(way []parent, value any) any {
	for _, step := range slices.Backward(way) {
		value = map[string]any{step.name: value}
	}
	return value
}

// follow returns the maps on the way to a field, and a test for each list item on it: by the time of the patch another one
// may be in its place.
func follow(content map[string]any, path fieldpath.Path) (parents []parent, tests []operation, err error) {
	var at any = content
	pointer := ""
	for n, element := range path {
		switch in := at.(type) {
		case map[string]any:
			if element.FieldName == nil {
				return nil, nil, fmt.Errorf("nothing to change at %s", path[:n+1])
			}
			name := *element.FieldName
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			at = in[name]
			_, isMap := at.(map[string]any)
			parents = append(parents, parent{fields: in, name: name, holds: isMap, pointer: pointer})
		case []any:
			index := partial.IndexOf(in, element)
			if index < 0 || element.Key == nil {
				return nil, nil, fmt.Errorf("nothing to change at %s", path[:n+1])
			}
			pointer += "/" + strconv.Itoa(index)
			fields, _ := in[index].(map[string]any)
			tests = append(tests, testKeys(pointer, fields, element)...)
			at = in[index]
		default:
			return nil, nil, fmt.Errorf("nothing to change at %s", path[:n+1])
		}
	}
	if len(path) == 0 || path[len(path)-1].FieldName == nil {
		return nil, nil, errors.New("it is no field")
	}
	return parents, tests, nil
}
