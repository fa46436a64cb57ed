package spec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/partial"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
)

// Rename returns the edit that gives a list item of the spec the keys of another.
func Rename(target shell.Target, application *unstructured.Unstructured, field desired.Source, keys fieldpath.PathElement) (*Edit, error) {
	return editItem(target, application, field, func(item *listItem) []operation {
		var operations []operation
		for _, key := range *keys.Key {
			value := key.Value.Unstructured()
			if item.fields()[key.Name] != value {
				item.fields()[key.Name] = value
				operations = append(operations, operation{Op: "add", Path: item.pointer() + "/" + key.Name, Value: value})
			}
		}
		return operations
	})
}

// dropItem returns the edit that removes a list item from the spec. A list that is left empty wants nothing.
func dropItem(target shell.Target, application *unstructured.Unstructured, field desired.Source) (*Edit, error) {
	return editItem(target, application, field, func(item *listItem) []operation {
		item.parent.fields[item.parent.name] = slices.Delete(item.list, item.index, item.index+1)
		return []operation{{Op: "remove", Path: item.pointer()}}
	})
}

func editItem(target shell.Target, application *unstructured.Unstructured, field desired.Source, change func(*listItem) []operation) (*Edit, error) {
	edited := application.DeepCopy()
	item, tests, err := followItem(edited.Object, field.Path)
	if err != nil {
		return nil, fmt.Errorf("%s of Application %s: %w", field.Path, application.GetName(), err)
	}
	command, err := jsonPatch(target, Reference(application.GetName()), append(tests, change(item)...))
	return &Edit{Edited: edited, Command: command}, err
}

// Write returns the command that gives a field of a live object a value. Unlike a strategic merge patch it tells the items of
// a list by all their keys, and fails if the list is another by then.
func Write(target shell.Target, reference string, live map[string]any, path fieldpath.Path, value any) (string, error) {
	parents, tests, err := follow(live, path)
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", path, reference, err)
	}
	return jsonPatch(target, reference, append(tests, operation{Op: "add", Path: parents[len(parents)-1].pointer, Value: value}))
}

// Replace returns the command that puts another item in the place of a list item of a live object, as Write does.
func Replace(target shell.Target, reference string, live map[string]any, path fieldpath.Path, value any) (string, error) {
	item, tests, err := followItem(live, path)
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", path, reference, err)
	}
	return jsonPatch(target, reference, append(tests, operation{Op: "replace", Path: item.pointer(), Value: value}))
}

func jsonPatch(target shell.Target, reference string, operations []operation) (string, error) {
	encoded, err := json.Marshal(operations)
	if err != nil {
		return "", fmt.Errorf("building the patch: %w", err)
	}
	return target.Kubectl("patch", reference, "--type=json", "--patch="+string(encoded)), nil
}

// listItem is an item of a list with keys.
type listItem struct {
	// parent holds the list.
	parent parent
	list   []any
	index  int
}

func (i *listItem) fields() map[string]any {
	fields, _ := i.list[i.index].(map[string]any)
	return fields
}

func (i *listItem) pointer() string { return i.parent.pointer + "/" + strconv.Itoa(i.index) }

// followItem returns the list item that a path leads to, and the tests that it is still there.
func followItem(content map[string]any, path fieldpath.Path) (*listItem, []operation, error) {
	last := len(path) - 1
	if last < 1 || path[last].Key == nil {
		return nil, nil, fmt.Errorf("%s is no item of a list with keys", path)
	}
	parents, tests, err := follow(content, path[:last])
	if err != nil {
		return nil, nil, err
	}
	item := &listItem{parent: parents[len(parents)-1]}
	item.list, _ = item.parent.fields[item.parent.name].([]any)
	if item.index = partial.IndexOf(item.list, path[last]); item.index < 0 || item.fields() == nil {
		return nil, nil, fmt.Errorf("there is no item %s", path[last])
	}
	return item, append(tests, testKeys(item.pointer(), item.fields(), path[last])...), nil
}

// testKeys returns a test for each key that a list item has. Keys with a default need not be there.
func testKeys(pointer string, fields map[string]any, item fieldpath.PathElement) (tests []operation) {
	for _, key := range *item.Key {
		if value, has := fields[key.Name]; has {
			tests = append(tests, operation{Op: "test", Path: pointer + "/" + key.Name, Value: value})
		}
	}
	return tests
}
