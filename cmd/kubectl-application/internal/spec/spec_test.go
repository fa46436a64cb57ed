package spec

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
)

const everything = `
apiVersion: application.mycompany.io/v1alpha1
kind: Application
metadata: {name: web, namespace: shop, uid: u-1}
spec:
  image: nginx:1.29
  imagePullPolicy: Always
  command: [/bin/sh]
  args: [-c, "true"]
  env: [{name: A, value: x}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: k}}}]
  envFrom: [{configMapRef: {name: c}}]
  resources: {limits: {cpu: "1"}, requests: {memory: 64Mi}}
  livenessProbe: {exec: {command: [a]}, periodSeconds: 7}
  readinessProbe: {httpGet: {path: /, port: 8080}, failureThreshold: 2}
  startupProbe: {tcpSocket: {port: app}, timeoutSeconds: 3}
  replicas: 3
  port: 8080
  expose: ClusterIP
`

// TestSource: whatever the operator wants of a child stands in the spec where Source says, or follows from the name and the
// port alone.
func TestSource(t *testing.T) {
	object := application(t)
	app, err := cli.AsApplication(object)
	if err != nil {
		t.Fatal(err)
	}
	asSpec := specIntent(t, object)
	found := 0
	for _, child := range children.Objects {
		intent, err := children.Wanted(app, child)
		if err != nil {
			t.Fatal(err)
		}
		intent.Fields().Leaves().Iterate(func(path fieldpath.Path) {
			source, exists := Source(child, path)
			if !exists {
				return
			}
			found++
			wanted, _ := intent.Value(path)
			stands, is := asSpec.Value(source.Path)
			if !is || !reflect.DeepEqual(stands, wanted) {
				t.Errorf("%s is %v, and %s is %v", path, wanted, source.Path, stands)
			}
		})
	}
	// Image, pull policy, command, args, three of each variable, envFrom, resources, probes, replicas, expose.
	if found < 18 {
		t.Errorf("only %d fields have a source", found)
	}
}

func TestEdits(t *testing.T) {
	container := `.spec.template.spec.containers[name="app"]`
	for path, want := range map[string]struct {
		value      any
		set, drop  string
		required   bool
		impossible bool
	}{
		".spec.replicas":                           {value: int64(5), set: `--type=merge --patch='{"spec":{"replicas":5}}'`, drop: `--type=merge --patch='{"spec":{"replicas":null}}'`},
		container + ".image":                       {value: "x", set: `--type=merge --patch='{"spec":{"image":"x"}}'`, required: true},
		container + ".args":                        {value: []any{"a"}, set: `--type=merge --patch='{"spec":{"args":["a"]}}'`, drop: `--type=merge --patch='{"spec":{"args":null}}'`},
		container + ".resources.limits.cpu":        {value: "2", set: `--type=merge --patch='{"spec":{"resources":{"limits":{"cpu":"2"}}}}'`, drop: `--type=merge --patch='{"spec":{"resources":{"limits":{"cpu":null}}}}'`},
		container + ".readinessProbe.httpGet.port": {value: int64(1), set: `--type=merge --patch='{"spec":{"readinessProbe":{"httpGet":{"port":1}}}}'`, required: true},
		container + `.env[name="A"].value`: {value: "y",
			set:  `--type=json --patch='[{"op":"test","path":"/spec/env/0/name","value":"A"},{"op":"add","path":"/spec/env/0/value","value":"y"}]'`,
			drop: `--type=json --patch='[{"op":"test","path":"/spec/env/0/name","value":"A"},{"op":"remove","path":"/spec/env/0/value"}]'`},
		container + `.env[name="Z"].value`: {value: "y", impossible: true},
	} {
		t.Run(path, func(t *testing.T) {
			object := application(t)
			parsed, err := ownership.ParsePath(cli.TypesOf(cli.DeploymentObject), cli.DeploymentObject.GroupVersionKind(), path)
			if err != nil {
				t.Fatal(err)
			}
			source, exists := Source(cli.DeploymentObject, parsed)
			if !exists || source.Required != want.required {
				t.Fatalf("source: %+v, %v", source, exists)
			}
			set, err := source.Set(shell.Target{}, object, want.value)
			if want.impossible {
				if err == nil {
					t.Errorf("set by %s", set.Command)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "set", set.Command, "kubectl patch applications.application.mycompany.io/web "+want.set)
			if value, _ := specIntent(t, set.Edited).Value(source.Path); !reflect.DeepEqual(value, want.value) {
				t.Errorf("the edited Application has %v", value)
			}
			drop, err := source.Drop(shell.Target{}, object)
			if err != nil {
				t.Fatal(err)
			}
			if !want.required {
				compare(t, "drop", drop.Command, "kubectl patch applications.application.mycompany.io/web "+want.drop)
			}
			if _, is := specIntent(t, drop.Edited).Value(source.Path); is {
				t.Error("the edited Application still has the field")
			}
			if diff := cmp.Diff(application(t), object); diff != "" {
				t.Errorf("the Application itself was changed:\n%s", diff)
			}
		})
	}
}

func TestNoSource(t *testing.T) {
	for path, object := range map[string]cli.Object{
		".metadata.labels.app": cli.DeploymentObject,
		`.spec.template.spec.containers[name="app"].ports[containerPort=8080,protocol="TCP"].name`: cli.DeploymentObject,
		`.spec.template.spec.containers[name="sidecar"].image`:                                     cli.DeploymentObject,
		`.spec.template.spec.containers[name="app"]`:                                               cli.DeploymentObject,
		".spec.paused":   cli.DeploymentObject,
		".spec.selector": cli.ServiceObject,
	} {
		parsed, err := ownership.ParsePath(cli.TypesOf(object), object.GroupVersionKind(), path)
		if err != nil {
			t.Fatal(err)
		}
		if source, exists := Source(object, parsed); exists {
			t.Errorf("%s comes from %s", path, source.Path)
		}
	}
}

func TestExposeHasThreeValues(t *testing.T) {
	source, _ := Source(cli.ServiceObject, fieldpath.MakePathOrDie("spec", "type"))
	if _, err := source.Set(shell.Target{}, application(t), "NodePort"); err != nil {
		t.Error(err)
	}
	if edit, err := source.Set(shell.Target{}, application(t), "ExternalName"); err == nil {
		t.Errorf("set by %s", edit.Command)
	}
}

// specIntent reads values of an Application by paths.
func specIntent(t *testing.T, object *unstructured.Unstructured) *ownership.Intent {
	t.Helper()
	intent, err := ownership.NewIntent(cli.TypesOf(cli.ApplicationObject), ownership.Applier("test"), object)
	if err != nil {
		t.Fatal(err)
	}
	return intent
}

func application(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(everything))
	object := &unstructured.Unstructured{}
	if err == nil {
		err = json.Unmarshal(encoded, object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", what, got, want)
	}
}
