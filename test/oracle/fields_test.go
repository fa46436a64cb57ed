package oracle

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlatten(t *testing.T) {
	object := map[string]any{
		"kind": "Deployment",
		"metadata": map[string]any{
			"name":            "web",
			"labels":          map[string]any{"app.kubernetes.io/name": "web"},
			"ownerReferences": []any{map[string]any{"uid": "u", "name": "web"}},
		},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
				"name":      "app",
				"command":   []any{"run"},
				"env":       []any{map[string]any{"name": "A", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "p"}}}},
				"ports":     []any{map[string]any{"containerPort": int64(80), "name": "app"}},
				"resources": map[string]any{},
			}}}},
		},
		"status": map[string]any{"replicas": int64(1)},
	}
	const app = `.spec.template.spec.containers[name="app"]`
	want := fields{
		".metadata.labels.app.kubernetes.io/name":       "web",
		`.metadata.ownerReferences[uid="u"]`:            map[string]any{"uid": "u", "name": "web"},
		".spec.selector":                                map[string]any{"matchLabels": map[string]any{"app": "web"}},
		app:                                             isItem,
		app + ".name":                                   "app",
		app + ".command":                                []any{"run"},
		app + `.env[name="A"]`:                          isItem,
		app + `.env[name="A"].name`:                     "A",
		app + `.env[name="A"].valueFrom.fieldRef`:       map[string]any{"fieldPath": "p"},
		app + `.ports[containerPort=80,protocol="TCP"]`: isItem,
		app + `.ports[containerPort=80,protocol="TCP"].containerPort`: int64(80),
		app + `.ports[containerPort=80,protocol="TCP"].name`:          "app",
		app + ".resources": map[string]any{},
	}
	if diff := cmp.Diff(want, flatten(object)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOwnedPaths(t *testing.T) {
	owned, err := ownedPaths([]byte(`{
		"f:metadata": {"f:labels": {".": {}, "f:app.kubernetes.io/name": {}}, "f:finalizers": {"v:\"x/y\"": {}}},
		"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}}, "f:args": {"i:0": {}}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`.metadata.finalizers[="x/y"]`,
		".metadata.labels",
		".metadata.labels.app.kubernetes.io/name",
		".spec.args[0]",
		`.spec.ports[port=80,protocol="TCP"]`,
		`.spec.ports[port=80,protocol="TCP"].name`,
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(owned))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, broken := range []string{`[]`, `{"x:y": {}}`, `{"k:name": {}}`} {
		if _, err := ownedPaths([]byte(broken)); err == nil {
			t.Errorf("%s passes for managedFields", broken)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		path string
		a, b any
		want bool
	}{
		{".spec.replicas", int64(1), int64(1), true},
		{".spec.replicas", int64(1), int64(2), false},
		{mainContainer + ".resources.limits.cpu", "1000m", "1", true},
		{mainContainer + ".resources.limits.cpu", "1", int64(1), true},
		{mainContainer + ".resources.limits.cpu", "1", "2", false},
		{mainContainer + `.env[name="A"].valueFrom.fieldRef`, map[string]any{"fieldPath": "p"}, map[string]any{"apiVersion": "v1", "fieldPath": "p"}, true},
		{mainContainer + `.env[name="A"].valueFrom.fieldRef`, map[string]any{"fieldPath": "p"}, map[string]any{"apiVersion": "v1", "fieldPath": "q"}, false},
		{mainContainer + `.env[name="A"].valueFrom.resourceFieldRef`, map[string]any{"resource": "r", "divisor": "0"}, map[string]any{"resource": "r"}, true},
	} {
		if got := equal(c.path, c.a, c.b); got != c.want {
			t.Errorf("%s: %v and %v are equal: %t", c.path, c.a, c.b, got)
		}
	}
}

func TestChanges(t *testing.T) {
	live := func() map[string]any {
		return map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"owner": "x"}, "ownerReferences": []any{}},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "side"},
				map[string]any{"name": "app", "image": "a", "env": []any{map[string]any{"name": "A", "value": "1"}}},
			}}}},
		}
	}
	const app = "/spec/template/spec/containers/1"
	for _, c := range []struct {
		setting string
		want    any
	}{
		{"image=b", map[string]any{"op": "add", "path": app + "/image", "value": "b"}},
		{"env.A=2", map[string]any{"op": "add", "path": app + "/env/0/value", "value": "2"}},
		{"env.B=2", map[string]any{"op": "add", "path": app + "/env/-", "value": map[string]any{"name": "B", "value": "2"}}},
		{"port.80=app", map[string]any{"op": "add", "path": app + "/ports", "value": []any{map[string]any{"containerPort": int64(80), "name": "app"}}}},
		{"cpu=1", map[string]any{"op": "add", "path": app + "/resources", "value": map[string]any{"limits": map[string]any{"cpu": "1"}}}},
		{"replicas=2", map[string]any{"op": "add", "path": "/spec/replicas", "value": int64(2)}},
		{"label.a/b=c", map[string]any{"op": "add", "path": "/metadata/labels/a~1b", "value": "c"}},
		{"note.a=c", map[string]any{"op": "add", "path": "/metadata/annotations", "value": map[string]any{"a": "c"}}},
		{"-label.owner", map[string]any{"op": "remove", "path": "/metadata/labels/owner"}},
		{"-ownerref", map[string]any{"op": "remove", "path": "/metadata/ownerReferences"}},
		{"-cpu", nil},
	} {
		s, err := parseSetting(c.setting)
		if err != nil {
			t.Fatal(err)
		}
		object := live()
		change, err := newChange(deployment, s, object)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == nil {
			if change.op != "" {
				t.Errorf("%s: %v, expected nothing", c.setting, change.operation())
			}
			continue
		}
		if diff := cmp.Diff(c.want, change.operation()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.setting, diff)
		}
		change.applyTo(object)
		again, err := newChange(deployment, s, object)
		if err != nil || (s.absent && again.op != "") || (!s.absent && !cmp.Equal(again.value, any(s.value)) && again.value != int64(2)) {
			t.Errorf("%s does not hold: then %v, %v", c.setting, again, err)
		}
	}
}
