package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// change is one operation of a JSON patch: where it goes in the object for which it was made, and what it does there.
// There is nothing to do if op is empty.
type change struct {
	op    string
	path  []any
	value any
}

// item selects the item of a list that has this key.
type item struct {
	key   string
	value any
}

// newChange makes the change of a setting for an object.
func newChange(kind string, s setting, live map[string]any) (change, error) {
	place, err := placeOf(kind, s.key)
	if err != nil {
		return change{}, err
	}
	value := any(s.value)
	if n, err := strconv.ParseInt(s.value, 10, 64); err == nil && isNumber(s.key) {
		value = n
	}
	var here any = live
	var path []any
	for n, element := range place {
		next, where, found := descend(here, element)
		if !found {
			if s.absent {
				return change{}, nil
			}
			return change{op: "add", path: append(path, where), value: nest(where, element, place[n+1:], value)}, nil
		}
		here, path = next, append(path, where)
	}
	if s.absent {
		return change{op: "remove", path: path}, nil
	}
	return change{op: "add", path: path, value: value}, nil
}

func isNumber(key string) bool {
	return slices.Contains([]string{"replicas", "minready", "grace", "surge"}, key) || strings.HasSuffix(key, ".period") || strings.HasSuffix(key, ".failures")
}

// placeOf tells where a setting is in a child.
func placeOf(kind, key string) ([]any, error) {
	group, name, _ := strings.Cut(key, ".")
	container := []any{"spec", "template", "spec", "containers", item{"name", "app"}}
	port, _ := strconv.ParseInt(name, 10, 64)
	switch {
	case key == "ownerref":
		return []any{"metadata", "ownerReferences"}, nil
	case group == "label":
		return []any{"metadata", "labels", name}, nil
	case group == "note":
		return []any{"metadata", "annotations", name}, nil
	case kind == service && key == "type":
		return []any{"spec", "type"}, nil
	case kind == service && key == "affinity":
		return []any{"spec", "sessionAffinity"}, nil
	case kind == service && group == "port":
		return []any{"spec", "ports", item{"port", port}, "targetPort"}, nil
	case kind == service:
		return nil, fmt.Errorf("%s: not in a Service", key)
	case group == "podlabel":
		return []any{"spec", "template", "metadata", "labels", name}, nil
	case group == "podnote":
		return []any{"spec", "template", "metadata", "annotations", name}, nil
	case key == "strategy":
		return []any{"spec", "strategy", "type"}, nil
	case key == "surge":
		return []any{"spec", "strategy", "rollingUpdate", "maxSurge"}, nil
	case key == "grace":
		return []any{"spec", "template", "spec", "terminationGracePeriodSeconds"}, nil
	case key == "account":
		return []any{"spec", "template", "spec", "serviceAccountName"}, nil
	case key == "sidecar":
		return []any{"spec", "template", "spec", "containers", item{"name", "sidecar"}, "image"}, nil
	case key == "replicas":
		return []any{"spec", "replicas"}, nil
	case key == "minready":
		return []any{"spec", "minReadySeconds"}, nil
	case key == "image":
		return append(container, "image"), nil
	case key == "pull":
		return append(container, "imagePullPolicy"), nil
	case group == "env":
		return append(container, "env", item{"name", name}, "value"), nil
	case key == "cpu":
		return append(container, "resources", "limits", "cpu"), nil
	case key == "memory":
		return append(container, "resources", "requests", "memory"), nil
	case group == "port":
		return append(container, "ports", item{"containerPort", port}, "name"), nil
	case key == "live.period":
		return append(container, "livenessProbe", "periodSeconds"), nil
	case key == "live.failures":
		return append(container, "livenessProbe", "failureThreshold"), nil
	default:
		return nil, fmt.Errorf("%s: nobody patches this", key)
	}
}

// descend goes one element down and says by what name or index.
func descend(here, element any) (next, where any, found bool) {
	wanted, isItem := element.(item)
	if !isItem {
		content, _ := here.(map[string]any)
		next, found = content[fmt.Sprint(element)]
		return next, element, found
	}
	list, _ := here.([]any)
	for index, one := range list {
		if content, ok := one.(map[string]any); ok && asJSON(content[wanted.key]) == asJSON(wanted.value) {
			return one, index, true
		}
	}
	return nil, "-", false
}

// nest returns the value to be added where the object ends: with all that is between there and the value of the setting.
func nest(where, element any, below []any, value any) any {
	if _, isItem := element.(item); isItem && where == "-" {
		return itemWith(element, below, value)
	}
	if len(below) == 0 {
		return value
	}
	if _, isItem := below[0].(item); isItem {
		return []any{itemWith(below[0], below[1:], value)}
	}
	return map[string]any{fmt.Sprint(below[0]): nest(nil, nil, below[1:], value)}
}

func itemWith(element any, below []any, value any) any {
	key, _ := element.(item)
	content := map[string]any{key.key: key.value}
	if nested, ok := nest(nil, nil, below, value).(map[string]any); ok {
		maps.Copy(content, nested)
	} else if len(below) > 0 {
		content[fmt.Sprint(below[0])] = value
	}
	return content
}

// operation returns the change as the API server reads it.
func (c change) operation() any {
	var pointer strings.Builder
	for _, element := range c.path {
		pointer.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(element)))
	}
	operation := map[string]any{"op": c.op, "path": pointer.String()}
	if c.op == "add" {
		operation["value"] = c.value
	}
	return operation
}

// applyTo does the change to the object for which it was made.
func (c change) applyTo(object map[string]any) {
	if c.op == "" {
		return
	}
	var here any = object
	attach := func(any) {}
	for _, element := range c.path[:len(c.path)-1] {
		switch h := here.(type) {
		case map[string]any:
			name := fmt.Sprint(element)
			here, attach = h[name], func(list any) { h[name] = list }
		case []any:
			index, _ := element.(int)
			here = h[index]
		}
	}
	last := c.path[len(c.path)-1]
	switch h := here.(type) {
	case map[string]any:
		if c.op == "remove" {
			delete(h, fmt.Sprint(last))
		} else {
			h[fmt.Sprint(last)] = c.value
		}
	case []any:
		attach(append(h, c.value)) // all settings end in a field, so an item is only ever added
	}
}
