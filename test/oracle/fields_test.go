package oracle

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want map[string][]string
	}{
		"a field of its own": {"{image: a, deployment: {spec: {minReadySeconds: 1}}}", map[string][]string{}},
		"more of the main container": {
			"{image: a, port: 80, deployment: {spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 81, name: b}]}, {name: b, image: b}]}}}}}",
			map[string][]string{},
		},
		"twice": {
			"{image: a, deployment: {spec: {template: {spec: {containers: [{name: app, image: a}]}}}}}",
			map[string][]string{deployment: {"spec.deployment" + plainImage}},
		},
		"an entry twice": {
			"{image: a, env: [{name: A, value: x}], deployment: {spec: {template: {spec: {containers: [{name: app, env: [{name: A, value: y}]}]}}}}}",
			map[string][]string{deployment: {"spec.deployment" + mainContainer + `.env[name="A"].value`}},
		},
		"the port's name": {
			"{image: a, port: 80, expose: ClusterIP, service: {spec: {ports: [{port: 80, name: x}]}}}",
			map[string][]string{service: {`spec.service.spec.ports[port=80,protocol="TCP"].name`}},
		},
		"reserved":   {"{image: a, port: 80, expose: ClusterIP, service: {spec: {selector: {x: y}}}}", map[string][]string{service: {"spec.service.spec.selector"}}},
		"no Service": {"{image: a, port: 80, service: {metadata: {labels: {x: y}}}}", map[string][]string{service: {"spec.service"}}},
		"an operator's label, on pods": {
			"{image: a, deployment: {spec: {template: {metadata: {labels: {owner: x, team: y}}}}}}",
			map[string][]string{deployment: {"spec.deployment.spec.template.metadata.labels.owner"}},
		},
	} {
		if diff := cmp.Diff(c.want, faults(application(t, c.spec))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestPartialContent(t *testing.T) {
	s := settings{}
	for _, text := range []string{"deployment.strategy=RollingUpdate", "deployment.surge=2", "deployment.volume.data=cm:conf", "deployment.mount./data=data", "deployment.sidecar=b", "service.affinity=None"} {
		one, err := parseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, one)
	}
	got, err := applicationContent(s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"deployment": map[string]any{"spec": map[string]any{
			"strategy": map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": int64(2)}},
			"template": map[string]any{"spec": map[string]any{
				"volumes": []any{map[string]any{"name": "data", "configMap": map[string]any{"name": "conf"}}},
				"containers": []any{
					map[string]any{"name": "sidecar", "image": "b"},
					map[string]any{"name": "app", "volumeMounts": []any{map[string]any{"mountPath": "/data", "name": "data"}}},
				},
			}},
		}},
		"service": map[string]any{"spec": map[string]any{"sessionAffinity": "None"}},
	}
	if diff := cmp.Diff(want, specOf(&unstructured.Unstructured{Object: got})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRetainKeys(t *testing.T) {
	content, err := childContent(deployment, settings{{key: "strategy", value: "Recreate"}, {key: "volume.data", value: "empty"}, {key: "volume.logs", absent: true}})
	if err != nil {
		t.Fatal(err)
	}
	retainKeys(content)
	spec := within(content, "spec")
	if diff := cmp.Diff(map[string]any{"type": "Recreate", "$retainKeys": []any{"type"}}, spec["strategy"]); diff != "" {
		t.Errorf("strategy: -want +got:\n%s", diff)
	}
	want := []any{
		map[string]any{"name": "data", "emptyDir": map[string]any{}, "$retainKeys": []any{"emptyDir", "name"}},
		map[string]any{"name": "logs", "$patch": "delete"},
	}
	if diff := cmp.Diff(want, within(within(spec, "template"), "spec")["volumes"]); diff != "" {
		t.Errorf("volumes: -want +got:\n%s", diff)
	}
}
