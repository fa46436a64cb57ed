package redact

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

const deployment = `
kind: Deployment
metadata:
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"secret": 1}', note: public}
spec:
  template:
    spec:
      initContainers: [{name: init, env: [{name: A, value: secret-0}]}]
      containers:
      - name: app
        image: public
        args: [public]
        env: [{name: A, value: secret-1}, {name: B, valueFrom: {secretKeyRef: {name: public, key: k}}}, {name: C, value: same-secret}]
`

func TestObject(t *testing.T) {
	object := parse(t, deployment)
	hidden := show(t, Object(object))
	if strings.Contains(hidden, "secret-") || strings.Contains(hidden, `"secret"`) || strings.Count(hidden, "'***'") != 4 {
		t.Errorf("shown:\n%s", hidden)
	}
	for _, public := range []string{"image: public", "- public", "note: public", "name: public"} {
		if !strings.Contains(hidden, public) {
			t.Errorf("%s is hidden in:\n%s", public, hidden)
		}
	}
	if show(t, object) != show(t, parse(t, deployment)) {
		t.Error("the object itself was changed")
	}
	if secret := show(t, Object(parse(t, "{kind: Secret, data: {a: secret}, stringData: {b: secret}, type: x}"))); strings.Contains(secret, "secret\n") {
		t.Errorf("shown:\n%s", secret)
	}
	application := show(t, Object(parse(t, "{kind: Application, spec: {image: public, env: [{name: A, value: secret-1}], deployment: "+toJSON(t, deployment)+"}}")))
	if strings.Contains(application, "secret-") || strings.Count(application, "'***'") != 5 {
		t.Errorf("shown of a partial object:\n%s", application)
	}
	if Object(nil) != nil {
		t.Error("nil is no object")
	}
}

func TestPair(t *testing.T) {
	before := parse(t, deployment)
	// Another order, and one value changed.
	after := parse(t, strings.Replace(strings.Replace(deployment, "{name: A, value: secret-1}, ", "", 1), "same-secret}", "same-secret}, {name: A, value: secret-2}", 1))
	b, a := Pair(before, after)
	hidden := show(t, b) + show(t, a)
	if strings.Contains(hidden, "secret-") || strings.Count(hidden, Before) != 1 || strings.Count(hidden, After) != 1 {
		t.Errorf("shown:\n%s", hidden)
	}
	if b, a := Pair(nil, after); b != nil || !strings.Contains(show(t, a), Hidden) {
		t.Error("an object that comes is not hidden")
	}
}

func TestHides(t *testing.T) {
	env := []any{"spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "app"), "env", fieldpath.KeyByFields("name", "A")}
	for _, tc := range []struct {
		path []any
		want bool
	}{
		{append(env, "value"), true},
		{append(env, "name"), false},
		{[]any{"spec", "env", fieldpath.KeyByFields("name", "A"), "value"}, true},
		{append([]any{"spec", "deployment"}, append(env, "value")...), true},
		{[]any{"spec", "env", 0, "value"}, true},
		{[]any{"spec", "env", "A"}, true},
		{[]any{"spec", "env"}, false},
		{[]any{"metadata", "annotations", lastApplied}, true},
		{[]any{"spec", "replicas"}, false},
		{nil, false},
	} {
		path := fieldpath.MakePathOrDie(tc.path...)
		if got := Hides(path); got != tc.want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// FuzzPair: any object is shown, and none changes.
func FuzzPair(f *testing.F) {
	f.Add(deployment, deployment)
	f.Add("env: [{value: x}, 3, {name: 1, value: y}]", "env: {value: 1}")
	f.Fuzz(func(t *testing.T, one, other string) {
		before, after := &unstructured.Unstructured{}, &unstructured.Unstructured{}
		if yaml.Unmarshal([]byte(one), &before.Object) != nil || yaml.Unmarshal([]byte(other), &after.Object) != nil {
			return
		}
		if b, a := Pair(before, after); b == nil || a == nil {
			t.Error("an object is gone")
		}
	})
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func toJSON(t *testing.T, text string) string {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func show(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	encoded, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
