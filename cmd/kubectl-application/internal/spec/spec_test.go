package spec

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/applyconfigs/desired"
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
  deployment:
    metadata: {annotations: {example.com/a~b: x}}
    spec:
      strategy: {rollingUpdate: {maxSurge: 1}}
      template:
        spec:
          nodeSelector: {disk: ssd, zone: a}
          containers:
          - {name: proxy, image: "envoy:1", ports: [{containerPort: 9, hostPort: 9}, {containerPort: 9, protocol: UDP, hostPort: 8}]}
          - {name: app, stdin: true, env: [{name: C, value: z}]}
  service: {spec: {sessionAffinity: ClientIP}}
`

// source returns the field of the spec that a field of a child comes from.
func source(t *testing.T, object cli.Object, path string) desired.Source {
	t.Helper()
	parsed, err := ownership.ParsePath(cli.TypesOf(object), object.GroupVersionKind(), path)
	if err != nil {
		t.Fatal(err)
	}
	app, err := cli.AsApplication(application(t))
	if err != nil {
		t.Fatal(err)
	}
	found, exists := desired.SourceOf(app, object.GroupVersionKind().Kind, parsed)
	if !exists {
		t.Fatalf("%s has no source", path)
	}
	return found
}

func TestEdits(t *testing.T) {
	const (
		container = `.spec.template.spec.containers[name="app"]`
		proxy     = `.spec.template.spec.containers[name="proxy"]`
		items     = "/spec/deployment/spec/template/spec/containers/"
	)
	for _, c := range []struct {
		object     cli.Object
		path       string
		value      any
		set, drop  string
		impossible bool
	}{
		{path: ".spec.replicas", value: int64(5), set: `--type=merge --patch='{"spec":{"replicas":5}}'`, drop: `--type=merge --patch='{"spec":{"replicas":null}}'`},
		{path: container + ".image", value: "x", set: `--type=merge --patch='{"spec":{"image":"x"}}'`},
		{path: container + ".args", value: []any{"a"}, set: `--type=merge --patch='{"spec":{"args":["a"]}}'`, drop: `--type=merge --patch='{"spec":{"args":null}}'`},
		{path: container + ".resources.limits.cpu", value: "2", set: `--type=merge --patch='{"spec":{"resources":{"limits":{"cpu":"2"}}}}'`, drop: `--type=merge --patch='{"spec":{"resources":{"limits":{"cpu":null}}}}'`},
		{path: container + ".readinessProbe.httpGet.port", value: int64(1), set: `--type=merge --patch='{"spec":{"readinessProbe":{"httpGet":{"port":1}}}}'`},
		{
			path: container + `.env[name="A"].value`, value: "y",
			set:  `--type=json --patch='[{"op":"test","path":"/spec/env/0/name","value":"A"},{"op":"add","path":"/spec/env/0/value","value":"y"}]'`,
			drop: `--type=json --patch='[{"op":"test","path":"/spec/env/0/name","value":"A"},{"op":"remove","path":"/spec/env/0/value"}]'`,
		},
		{path: container + `.env[name="Z"].value`, value: "y", impossible: true},
		{
			path: ".metadata.annotations.example.com/a~b", value: "y",
			set:  `--type=merge --patch='{"spec":{"deployment":{"metadata":{"annotations":{"example.com/a~b":"y"}}}}}'`,
			drop: `--type=merge --patch='{"spec":{"deployment":{"metadata":null}}}'`,
		},
		{
			path: ".spec.strategy.rollingUpdate.maxSurge", value: int64(2),
			set:  `--type=merge --patch='{"spec":{"deployment":{"spec":{"strategy":{"rollingUpdate":{"maxSurge":2}}}}}}'`,
			drop: `--type=merge --patch='{"spec":{"deployment":{"spec":{"strategy":null}}}}'`,
		},
		{
			path: ".spec.template.spec.nodeSelector", value: map[string]any{"disk": "hdd"},
			set:  `--type=json --patch='[{"op":"add","path":"/spec/deployment/spec/template/spec/nodeSelector","value":{"disk":"hdd"}}]'`,
			drop: `--type=merge --patch='{"spec":{"deployment":{"spec":{"template":{"spec":{"nodeSelector":null}}}}}}'`,
		},
		{
			path: proxy + ".image", value: "envoy:2",
			set:  `--type=json --patch='[{"op":"test","path":"` + items + `0/name","value":"proxy"},{"op":"add","path":"` + items + `0/image","value":"envoy:2"}]'`,
			drop: `--type=json --patch='[{"op":"test","path":"` + items + `0/name","value":"proxy"},{"op":"remove","path":"` + items + `0/image"}]'`,
		},
		{
			path: proxy + `.ports[containerPort=9,protocol="TCP"].hostPort`, value: int64(7),
			set: `--type=json --patch='[{"op":"test","path":"` + items + `0/name","value":"proxy"},{"op":"test","path":"` + items + `0/ports/0/containerPort","value":9},` +
				`{"op":"add","path":"` + items + `0/ports/0/hostPort","value":7}]'`,
			drop: `--type=json --patch='[{"op":"test","path":"` + items + `0/name","value":"proxy"},{"op":"test","path":"` + items + `0/ports/0/containerPort","value":9},` +
				`{"op":"remove","path":"` + items + `0/ports/0/hostPort"}]'`,
		},
		{
			path: container + `.env[name="C"].value`, value: "d",
			set: `--type=json --patch='[{"op":"test","path":"` + items + `1/name","value":"app"},{"op":"test","path":"` + items + `1/env/0/name","value":"C"},` +
				`{"op":"add","path":"` + items + `1/env/0/value","value":"d"}]'`,
			drop: `--type=json --patch='[{"op":"test","path":"` + items + `1/name","value":"app"},{"op":"test","path":"` + items + `1/env/0/name","value":"C"},` +
				`{"op":"remove","path":"` + items + `1/env/0/value"}]'`,
		},
		{
			object: cli.ServiceObject, path: ".spec.sessionAffinity", value: "None",
			set:  `--type=merge --patch='{"spec":{"service":{"spec":{"sessionAffinity":"None"}}}}'`,
			drop: `--type=merge --patch='{"spec":{"service":null}}'`,
		},
		{object: cli.ServiceObject, path: ".spec.type", value: "NodePort", set: `--type=merge --patch='{"spec":{"expose":"NodePort"}}'`},
		{object: cli.ServiceObject, path: ".spec.type", value: "ExternalName", impossible: true},
		{object: cli.ServiceObject, path: `.spec.ports[port=8080,protocol="TCP"].name`, value: "web", impossible: true},
		{path: ".spec.paused", value: true, set: `--type=merge --patch='{"spec":{"deployment":{"spec":{"paused":true}}}}'`},
		{path: `.spec.template.spec.containers[name="other"].image`, value: "x", impossible: true},
	} {
		t.Run(c.path, func(t *testing.T) {
			if c.object == "" {
				c.object = cli.DeploymentObject
			}
			before, field := application(t), source(t, c.object, c.path)
			const kubectl = "kubectl patch applications.application.mycompany.io/web "
			set, err := Set(shell.Target{}, before, field, c.value)
			if c.impossible {
				if err == nil {
					t.Errorf("set by %s", set.Command)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "set", set.Command, kubectl+c.set)
			if value := wanted(t, set.Edited, c.object, c.path); !reflect.DeepEqual(value, c.value) {
				t.Errorf("of the edited Application, the operator wants %v", value)
			}
			drop, err := Drop(shell.Target{}, before, field)
			switch {
			case c.drop == "":
				if err == nil {
					t.Errorf("removed by %s", drop.Command)
				}
			case err != nil:
				t.Error(err)
			default:
				compare(t, "drop", drop.Command, kubectl+c.drop)
				if value := wanted(t, drop.Edited, c.object, c.path); value != nil {
					t.Errorf("of the edited Application, the operator still wants %v", value)
				}
			}
			if diff := cmp.Diff(application(t), before); diff != "" {
				t.Errorf("the Application itself was changed:\n%s", diff)
			}
		})
	}
}

// wanted returns what the operator wants of a field of a child.
func wanted(t *testing.T, application *unstructured.Unstructured, object cli.Object, path string) any {
	t.Helper()
	app, err := cli.AsApplication(application)
	if err != nil {
		t.Fatal(err)
	}
	intent, err := children.Wanted(app, object)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := intent.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := intent.Value(parsed)
	return value
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
