package ownership

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

func TestValues(t *testing.T) {
	intent := newTestIntent(t, `
spec:
  replicas: 0
  template:
    spec:
      containers:
      - name: app
        args: [a, b]
        resources: {limits: {cpu: 1000m}}
        env: [{name: A, value: x}, {name: B, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}]
        ports: [{containerPort: 8080, name: app}]
`)
	live := newHistory(t).apply("helm", `
spec:
  replicas: 5
  template:
    spec:
      containers:
      - {name: other, image: x}
      - name: app
        args: [c]
        resources: {limits: {cpu: "2000m"}}
        env: [{name: A, value: "y"}]
        ports: [{containerPort: 8080, protocol: TCP, name: theirs}, {containerPort: 8080, protocol: UDP, name: udp}]
`).live()
	const app = `.spec.template.spec.containers[name="app"]`
	for path, want := range map[string]struct{ wanted, live any }{
		".spec.replicas":                          {int64(0), int64(5)},
		".spec.paused":                            {nil, nil},
		app + ".args":                             {[]any{"a", "b"}, []any{"c"}},
		app + ".image":                            {nil, nil},
		app + ".name":                             {"app", "app"},
		app + ".resources.limits.cpu":             {"1", "2"},
		app + `.env[name="A"].value`:              {"x", "y"},
		app + `.env[name="C"].value`:              {nil, nil},
		app + `.env[name="B"].valueFrom.fieldRef`: {map[string]any{"apiVersion": "v1", "fieldPath": "metadata.name"}, nil},
		app + `.ports[containerPort=8080,protocol="TCP"].name`: {"app", "theirs"},
		app + `.ports[containerPort=8080,protocol="UDP"].name`: {nil, "udp"},
		app + `.env[name="A"]`:                                 {map[string]any{"name": "A", "value": "x"}, map[string]any{"name": "A", "value": "y"}},
		".spec.template":                                       {nil, nil}, // not to be owned as such
	} {
		parsed, err := intent.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		wanted, wants := intent.Value(parsed)
		wantEqual(t, path+": wanted", wanted, want.wanted)
		wantEqual(t, path+": is wanted", wants, want.wanted != nil)
		for _, form := range forms {
			value, exists, err := intent.LiveValue(inForm(t, form, live), parsed)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, path+": live, "+form, value, want.live)
			wantEqual(t, path+": is live, "+form, exists, want.live != nil)
		}
	}
	if value, exists, err := intent.LiveValue((*appsv1.Deployment)(nil), fieldpath.MakePathOrDie("spec", "replicas")); value != nil || exists || err != nil {
		t.Errorf("of no object: %v, %v, %v", value, exists, err)
	}
}

func TestExcerpt(t *testing.T) {
	intent := newTestIntent(t, `
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: app
        image: x
        env: [{name: A, value: x}, {name: B, value: "y"}]
`)
	for path, want := range map[string]string{
		".spec.replicas": `spec: {replicas: 3}`,
		`.spec.template.spec.containers[name="app"].env[name="B"].value`: `spec: {template: {spec: {containers: [{name: app, env: [{name: B, value: "y"}]}]}}}`,
		".metadata.name": `{}`,
		".spec.paused":   `{}`,
	} {
		excerpt := intent.Excerpt(set(t, path))
		got, err := yaml.Marshal(excerpt.Object)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, path, fromYAML(t, string(got)).Object, fromYAML(t, want).Object)
		excerpt.Object["spec"] = "changed"
	}
	wantEqual(t, "the intent", intent.Object().Object["spec"].(map[string]any)["replicas"], any(int64(3)))
}
