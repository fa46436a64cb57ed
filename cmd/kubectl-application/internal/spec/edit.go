package spec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

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

// Set returns the edit that gives the field a value. The error says that the field cannot have it.
func (f Field) Set(target shell.Target, application *unstructured.Unstructured, value any) (*Edit, error) {
	if text, _ := value.(string); f.values != nil && !slices.Contains(f.values, text) {
		return nil, fmt.Errorf("%s cannot be %v: it is one of %s", f.Path, value, strings.Join(f.values, ", "))
	}
	return f.edit(target, application, value)
}

// Drop returns the edit that removes the field from the spec.
func (f Field) Drop(target shell.Target, application *unstructured.Unstructured) (*Edit, error) {
	return f.edit(target, application, nil)
}

// edit removes the field if the value is nil.
func (f Field) edit(target shell.Target, application *unstructured.Unstructured, value any) (*Edit, error) {
	edited := application.DeepCopy()
	pointer, tests, err := f.change(edited.Object, value)
	if err != nil {
		return nil, fmt.Errorf("%s of Application %s: %w", f.Path, application.GetName(), err)
	}
	flags := []string{"--type=merge"}
	var patch any = f.mergePatch(value)
	if len(tests) > 0 {
		// A merge patch replaces lists as a whole.
		flags = []string{"--type=json"}
		operation := map[string]any{"op": "remove", "path": pointer}
		if value != nil {
			operation = map[string]any{"op": "add", "path": pointer, "value": value}
		}
		patch = slices.Concat(tests, []any{operation})
	}
	encoded, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("%s of Application %s: %w", f.Path, application.GetName(), err)
	}
	command := append([]string{"patch", Reference(application.GetName())}, flags...)
	return &Edit{Edited: edited, Command: target.Kubectl(append(command, "--patch="+string(encoded))...)}, nil
}

// Reference names an Application for kubectl. The full name of the resource always means ours: other kinds called
// Application may exist beside it.
func Reference(name string) string {
	return cli.ApplicationResource.String() + "/" + name
}

func (f Field) mergePatch(value any) map[string]any {
	patch := value
	for _, element := range slices.Backward(f.Path) {
		if element.FieldName != nil {
			patch = map[string]any{*element.FieldName: patch}
		}
	}
	return patch.(map[string]any)
}

// change changes the content in place. It returns the JSON pointer to the field, and tests for each list item on the way
// to it.
func (f Field) change(content map[string]any, value any) (pointer string, tests []any, err error) {
	parent := any(content)
	for n, element := range f.Path {
		last := n == len(f.Path)-1
		switch in := parent.(type) {
		case map[string]any:
			if element.FieldName == nil {
				return "", nil, fmt.Errorf("nothing to change at %s", f.Path[:n+1])
			}
			name := *element.FieldName
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			if last {
				if value == nil {
					delete(in, name)
				} else {
					in[name] = value
				}
				return pointer, tests, nil
			}
			parent = in[name]
		case []any:
			index := indexOf(in, element)
			if index < 0 || last {
				return "", nil, fmt.Errorf("nothing to change at %s", f.Path[:n+1])
			}
			pointer += "/" + strconv.Itoa(index)
			for _, key := range *element.Key {
				tests = append(tests, map[string]any{"op": "test", "path": pointer + "/" + key.Name, "value": key.Value.Unstructured()})
			}
			parent = in[index]
		default:
			return "", nil, fmt.Errorf("nothing to change at %s", f.Path[:n+1])
		}
	}
	return "", nil, fmt.Errorf("nothing to change at %s", f.Path)
}

// indexOf returns the index of the item that the element means, or -1.
func indexOf(items []any, element fieldpath.PathElement) int {
	if element.Key == nil {
		return -1
	}
	return slices.IndexFunc(items, func(item any) bool {
		fields, ok := item.(map[string]any)
		if !ok {
			return false
		}
		for _, key := range *element.Key {
			if fields[key.Name] != key.Value.Unstructured() {
				return false
			}
		}
		return true
	})
}
