package partial_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/applyconfigs/partial"
)

// TestProblems: what is wrong with a partial object is told with its path and what was probably meant, and never a value.
func TestProblems(t *testing.T) {
	pod := func(spec string) string { return "{spec: {template: {spec: {" + spec + "}}}}" }
	app := func(fields string) string { return pod("containers: [{name: app, " + fields + "}]") }
	const container = `it.spec.template.spec.containers[name="app"]`
	for _, c := range []struct {
		name     string
		kind     partial.Kind
		manifest string
		problems []string
	}{
		{"a misspelt field", deployments, pod("contianers: []"), []string{"it.spec.template.spec.contianers: there is no such field; did you mean containers?"}},
		{"a field in another case", deployments, "{spec: {minreadyseconds: 1}}", []string{"it.spec.minreadyseconds: there is no such field; did you mean minReadySeconds?"}},
		{"a misspelt field of an entry", deployments, app("resorces: {}"), []string{container + ".resorces: there is no such field; did you mean resources?"}},
		{"two letters swapped in a short field", deployments, app("tyt: true"), []string{container + ".tyt: there is no such field; did you mean tty?"}},
		{"a field that lacks its parents", deployments, "{strategy: {}}", []string{"it.strategy: there is no such field; did you mean spec.strategy?"}},
		{"a field that lacks most of its parents", deployments, "{containers: []}", []string{"it.containers: there is no such field; did you mean spec.template.spec.containers?"}},
		{"a field of another place", deployments, pod("minReadySeconds: 5"), []string{"it.spec.template.spec.minReadySeconds: there is no such field; did you mean it.spec.minReadySeconds?"}},
		{"a field in its parent's sibling", deployments, "{spec: {nodeSelector: {}}}", []string{"it.spec.nodeSelector: there is no such field; did you mean template.spec.nodeSelector?"}},
		{"a field that is like no other", deployments, "{spec: {somethingElse: 1}}", []string{"it.spec.somethingElse: there is no such field"}},
		{"several", deployments, "{spec: {replicas: many, paused: 1}, metadat: {}}", []string{
			"it.metadat: there is no such field; did you mean metadata?", "it.spec.paused: it must be true or false, not a number",
			"it.spec.replicas: it must be a number, not a string",
		}},
		{"no object", deployments, "[a]", []string{"it: it must be an object, not a list"}},
		{"a list where an object is due", deployments, "{spec: []}", []string{"it.spec: it must be an object, not a list"}},
		{"an object where a list is due", deployments, pod("containers: {name: app}"), []string{"it.spec.template.spec.containers: it must be a list, not an object"}},
		{"an object where a string is due", deployments, app("image: {a: b}"), []string{container + ".image: it must be a string, not an object"}},
		{"a number where a string is due", deployments, app("env: [{name: A, value: 4711}]"), []string{container + `.env[name="A"].value: it must be a string, not a number: put it in quotes`}},
		{"a truth where a string is due", deployments, "{metadata: {annotations: {a: true}}}", []string{"it.metadata.annotations.a: it must be a string, not true or false: put it in quotes"}},
		{"half a number", deployments, "{spec: {replicas: 1.5}}", []string{"it.spec.replicas: it must be a whole number"}},
		{"a number that is too great", deployments, "{spec: {replicas: 99999999999}}", []string{"it.spec.replicas: it must be a whole number of at most 32 bits"}},
		{"no quantity", deployments, app("resources: {limits: {cpu: lots, memory: true}}"), []string{
			container + ".resources.limits.cpu: it must be a quantity, such as 500m or 1Gi", container + ".resources.limits.memory: it must be a quantity, such as 500m or 1Gi",
		}},
		{"neither number nor name", deployments, app("livenessProbe: {httpGet: {port: 8.5}}"), []string{container + ".livenessProbe.httpGet.port: it must be a whole number or a string, not a number"}},
		{"an empty key", deployments, pod("imagePullSecrets: [{name: ''}]"), []string{
			"it.spec.template.spec.imagePullSecrets[0]: name is empty, by which this list tells its entries apart",
		}},
		{"two entries of one key", deployments, pod("containers: [{name: a}, {name: b}, {name: a}]"), []string{
			`it.spec.template.spec.containers[name="a"]: there are two such entries, and lists like this one tell their entries apart by name: remove one`,
		}},
		{"two entries of one key, which one leaves to the default", deployments, app("ports: [{containerPort: 53}, {containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]"), []string{
			container + `.ports[containerPort=53,protocol="TCP"]: there are two such entries, and lists like this one tell their entries apart by containerPort and protocol: remove one`,
		}},
		{"two entries of one key, which one leaves empty", deployments, app("ports: [{containerPort: 53, protocol: ''}, {containerPort: 53}]"), []string{
			container + `.ports[containerPort=53,protocol="TCP"]: there are two such entries, and lists like this one tell their entries apart by containerPort and protocol: remove one`,
		}},
		{"an entry without its key", deployments, pod("containers: [{name: a}, {image: a}]"), []string{"it.spec.template.spec.containers[1]: name is missing, by which this list tells its entries apart"}},
		{"a null for a key", deployments, pod("volumes: [{name: null}]"), []string{"it.spec.template.spec.volumes[0]: name is missing, by which this list tells its entries apart"}},
		{"an object for a key", deployments, pod("volumes: [{name: {a: b}}]"), []string{"it.spec.template.spec.volumes[0].name: it must be a string, not an object"}},
		{"an entry that is none", deployments, pod("volumes: [data]"), []string{"it.spec.template.spec.volumes[0]: it must be an object, not a string"}},
		{"a null for an entry", deployments, pod("tolerations: [null]"), []string{"it.spec.template.spec.tolerations[0]: a list entry must not be null: remove it"}},
		{"a field of an entry without a key", deployments, pod("tolerations: [{}, {kee: a}]"), []string{"it.spec.template.spec.tolerations[1].kee: there is no such field; did you mean key?"}},
		{"two equal entries of a set", deployments, "{metadata: {finalizers: [a, a]}}", []string{
			`it.metadata.finalizers[="a"]: there are two such entries, and lists like this one tell their entries apart by their values: remove one`,
		}},
		{"a Service", services, "{spec: {ports: [{port: 80, target: 1}]}}", []string{`it.spec.ports[port=80,protocol="TCP"].target: there is no such field`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			object, err := parse(t, c.kind, c.manifest)
			invalid := (*partial.InvalidError)(nil)
			if !errors.As(err, &invalid) || object != nil {
				t.Fatalf("got %v, %v", object, err)
			}
			var problems []string
			for _, problem := range invalid.Problems {
				problems = append(problems, problem.String())
			}
			if diff := cmp.Diff(c.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if got := err.Error(); got != strings.Join(problems, "; ") || strings.Contains(got, "4711") {
				t.Errorf("the error says %q", got)
			}
		})
	}
}

func TestManyProblems(t *testing.T) {
	fields := make([]string, 0, 20)
	for n := range 20 {
		fields = append(fields, fmt.Sprintf("unheardOf%02d: 1", n))
	}
	_, err := parse(t, deployments, "{"+strings.Join(fields, ", ")+"}")
	if !strings.HasSuffix(err.Error(), "it.unheardOf07: there is no such field; and 12 more") {
		t.Errorf("the error says %q", err)
	}
}

func TestNothing(t *testing.T) {
	for _, manifest := range []string{"null", "{}", "{spec: null}", "{spec: {strategy: {type: null}}}"} {
		if object, err := parse(t, deployments, manifest); object != nil || err != nil {
			t.Errorf("%s: got %v, %v", manifest, object, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	if _, err := partial.Parse(types, deployments, "it", []byte("{")); !errors.As(err, new(*partial.InvalidError)) {
		t.Errorf("what is no JSON: %v", err)
	}
	unknown := partial.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Unknown"}, New: deployments.New}
	if _, err := partial.Parse(types, unknown, "it", []byte("{}")); err == nil || errors.As(err, new(*partial.InvalidError)) {
		t.Errorf("an unknown kind: %v", err)
	}
}

// FuzzParse: whatever is in a partial object, it is either refused with paths, or becomes a part of any object without
// taking away from it, to the same effect if it is read once more.
func FuzzParse(f *testing.F) {
	for _, manifest := range []string{
		"{}", "{spec: {replicas: 1.5}}", "{spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 1}], env: [{name: A, valueFrom: {fieldRef: {fieldPath: a}}}]}]}}}}",
		"{spec: {template: {spec: {volumes: [{name: a, emptyDir: {}}, {name: b, projected: {sources: [{serviceAccountToken: {path: a}}]}}]}}}}",
		"{metadata: {labels: {a: b}, annotations: null}, spec: {strategy: {rollingUpdate: {maxSurge: 25%}}}}",
		"{spec: {template: {spec: {tolerations: [{key: '', tolerationSeconds: 5}], nodeSelector: {}, containers: [{name: app, args: []}]}}}}",
	} {
		raw, err := yaml.YAMLToJSON([]byte(manifest))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	base := deployment(f, "{metadata: {labels: {base: x}}, spec: {template: {spec: {containers: [{name: app, image: web}]}}}}")
	f.Fuzz(func(t *testing.T, raw []byte) {
		object, err := partial.Parse(types, deployments, "it", raw)
		if invalid := (*partial.InvalidError)(nil); errors.As(err, &invalid) {
			for _, problem := range invalid.Problems {
				if !strings.HasPrefix(problem.Path, "it") || problem.Message == "" {
					t.Errorf("problem %+v", problem)
				}
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if object == nil {
			return
		}
		merged, err := object.MergeOver(base)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(merged)
		if err != nil {
			t.Fatal(err)
		}
		again, err := object.MergeOver(merged)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(merged.Object, again.Object); diff != "" {
			t.Errorf("merged twice it is another (-once +twice):\n%s", diff)
		}
		overlap, err := object.Overlap(base)
		if err != nil {
			t.Fatal(err)
		}
		if overlap.Empty() && (merged.GetLabels()["base"] != "x" || !strings.Contains(string(encoded), `"image":"web"`)) {
			t.Errorf("something was lost: %s", encoded)
		}
	})
}
