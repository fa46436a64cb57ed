package fieldtree_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

func TestFieldsThatNeverHaveOwners(t *testing.T) {
	object := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, uid: c, resourceVersion: "1", generation: 2, creationTimestamp: null, labels: {x: y}}, data: {k: v}}`)
	tree := build(object, kindOf(t, object))
	for _, path := range []string{".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".metadata.uid", ".metadata.resourceVersion", ".metadata.generation", ".metadata.creationTimestamp"} {
		if n := node(tree, path); n == nil || n.State != fieldtree.Untracked {
			t.Errorf("%s: %+v", path, n)
		}
	}
	if tree.Tracked {
		t.Error("an object without managedFields is said to have some")
	}
	for _, path := range []string{".metadata.labels.x", ".data.k"} {
		if n := node(tree, path); n == nil || n.State != fieldtree.Unowned {
			t.Errorf("%s: %+v", path, n)
		}
	}
}

// An empty struct that somebody applied, and that the API server filled with defaults, is not theirs as a whole.
func TestDefaultsInAnEmptyStruct(t *testing.T) {
	object := parse(t, `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  managedFields:
  - {manager: helm, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {f:spec: {f:strategy: {}}}}
spec: {strategy: {type: RollingUpdate}}
`)
	if n := node(build(object, kindOf(t, object)), ".spec.strategy.type"); n.State != fieldtree.Unowned {
		t.Errorf("with a schema, state is %d", n.State)
	}
	// Nothing tells it from an atomic map if the kind is not known.
	if n := node(build(object, nil), ".spec.strategy.type"); n.State != fieldtree.Owned || !n.Inside {
		t.Errorf("without a schema, state is %d", n.State)
	}
}

func TestEntriesThatCannotBeRead(t *testing.T) {
	object := parse(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  managedFields:
  - {manager: future, operation: Apply, apiVersion: v1, fieldsType: FieldsV2, fieldsV1: {}}
  - {manager: strange, operation: Delete, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {}}
  - {manager: broken, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"k:not JSON": {}}}
  - {manager: good, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {f:data: {f:k: {}}}}
  - {manager: empty, operation: Update, apiVersion: v1, fieldsType: FieldsV1}
data: {k: v}
`)
	tree := build(object, kindOf(t, object))
	var problems []string
	for _, problem := range tree.Problems {
		_, after, _ := strings.Cut(problem.Error(), "manager ")
		name, _, _ := strings.Cut(after, " ")
		problems = append(problems, name)
	}
	if diff := cmp.Diff([]string{`"future"`, `"strange"`, `"broken"`}, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"good Update"}, owners(tree, node(tree, ".data.k"))); diff != "" {
		t.Error(diff)
	}
}

// FR-44: an entry of a version that nobody knows any more is about the fields that still have its names; the rest of it is
// not lost either.
func TestFR44EntriesOfUnknownVersions(t *testing.T) {
	object := parse(t, `
apiVersion: application.mycompany.io/v1alpha1
kind: Application
metadata:
  name: web
  managedFields:
  - {manager: gitops, operation: Apply, apiVersion: application.mycompany.io/v1alpha0, fieldsType: FieldsV1, fieldsV1: {f:spec: {f:image: {}, f:instances: {}}}}
spec: {image: "web:1", replicas: 2}
`)
	tree := build(object, kindOf(t, object))
	if diff := cmp.Diff([]string{"gitops Apply"}, owners(tree, node(tree, ".spec.image"))); diff != "" {
		t.Error(diff)
	}
	if len(tree.Absent) != 1 || tree.Absent[0].Path.String() != ".spec.instances" || tree.Entries[tree.Absent[0].Owner].Name != "gitops" {
		t.Errorf("absent: %+v", tree.Absent)
	}
}

// A custom resource has no schema here: its lists are named as its claims name them.
func TestCustomResource(t *testing.T) {
	object := parse(t, `
apiVersion: example.com/v1
kind: Gadget
metadata:
  name: a
  managedFields:
  - manager: one
    operation: Apply
    apiVersion: example.com/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:rules: {'k:{"host":"a","port":1}': {.: {}, f:host: {}, f:port: {}, f:to: {}}}
        f:tags: {'v:"x"': {}, "v:2": {}}
        f:blob: {}
        f:matrix: {"i:1": {}}
  - manager: two
    operation: Update
    apiVersion: example.com/v1
    fieldsType: FieldsV1
    fieldsV1: {f:spec: {f:rules: {'k:{"host":"b"}': {.: {}, f:host: {}}}}}
spec:
  rules:
  - {host: a, port: 1, to: x}
  - {host: b}
  - {host: c, port: 2, to: y}
  - not a map
  tags: [x, 2, z]
  blob: {deep: [{er: 1}]}
  matrix: [[1], [2]]
`)
	tree := build(object, nil)
	for path, want := range map[string][]string{
		`.spec.rules[host="a",port=1]`:    {"one Apply"},
		`.spec.rules[host="a",port=1].to`: {"one Apply"},
		`.spec.rules[host="b"].host`:      {"two Update"},
		`.spec.rules[host="c",port=2].to`: nil,
		`.spec.tags[="x"]`:                {"one Apply"},
		`.spec.tags[=2]`:                  {"one Apply"},
		`.spec.tags[="z"]`:                nil,
		`.spec.blob.deep[0].er`:           {"one Apply"},
		`.spec.matrix[0]`:                 nil,
		`.spec.matrix[1]`:                 {"one Apply"},
	} {
		n := node(tree, path)
		if n == nil {
			t.Errorf("there is no %s in %v", path, tree.Paths())
			continue
		}
		if diff := cmp.Diff(want, owners(tree, n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if len(tree.Absent) > 0 {
		t.Errorf("absent: %v", tree.Absent)
	}
}

func TestKeyComesFirst(t *testing.T) {
	object := parse(t, fr46Deployment)
	var names []string
	for _, child := range node(build(object, kindOf(t, object)), `.spec.template.spec.containers[name="app"]`).Children {
		names = append(names, child.Name)
	}
	if diff := cmp.Diff([]string{"name", "env", "image", "imagePullPolicy", "ports"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestKeepField(t *testing.T) {
	const image = `.spec.template.spec.containers[name="app"].image`
	for _, test := range []struct {
		field string
		want  []string
	}{
		{field: ".spec.replicas", want: []string{".spec.replicas"}},
		{field: "spec.replicas", want: []string{".spec.replicas"}},
		{field: image, want: []string{image}},
		{field: "spec.template.spec.containers[name=app].image", want: []string{image}},
		{field: "spec.template.spec.containers[0].image", want: []string{image}},
		{field: ".metadata.annotations.example.com/a.b/c", want: []string{".metadata.annotations.example.com/a.b/c"}},
		{field: ".metadata.finalizers[=example.com/hold]", want: []string{`.metadata.finalizers[="example.com/hold"]`}},
		{field: ".metadata.finalizers", want: []string{".metadata.finalizers", `.metadata.finalizers[="example.com/hold"]`, `.metadata.finalizers[="example.com/wait"]`}},
		{field: ".spec.selector", want: []string{".spec.selector"}},
		{field: ".spec.templat"},
		{field: ".spec.replicas.x"},
		{field: ""},
	} {
		object := parse(t, fr46Deployment)
		tree := build(object, kindOf(t, object))
		found := tree.KeepField(test.field)
		var got []string
		tree.Root.Walk(func(n *fieldtree.Node) bool {
			if !n.Context && found {
				got = append(got, n.Path.String())
			}
			return !n.Whole
		})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.field, diff)
		}
	}
}

func TestKeepManager(t *testing.T) {
	object := parse(t, fr46Deployment)
	tree := build(object, kindOf(t, object))
	if !tree.KeepManager("dns-proxy") {
		t.Fatal("nothing is left")
	}
	const udp = `.spec.template.spec.containers[name="app"].ports[containerPort=53,protocol="UDP"]`
	var kept, context []string
	tree.Root.Walk(func(n *fieldtree.Node) bool {
		if n.Context {
			context = append(context, n.Path.String())
		} else {
			kept = append(kept, n.Path.String())
		}
		return true
	})
	if diff := cmp.Diff([]string{udp, udp + ".containerPort", udp + ".protocol"}, kept); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(context, `.spec.template.spec.containers[name="app"].name`) {
		t.Errorf("the container has lost its name: %v", context)
	}
	if slices.Contains(context, `.spec.template.spec.containers[name="app"].image`) {
		t.Errorf("more is left than leads to the fields: %v", context)
	}
	if tree.KeepManager("somebody else") {
		t.Error("fields of a manager that there is not are left")
	}
}

// Two filters leave what both ask for.
func TestKeepFieldAndManager(t *testing.T) {
	const image = `.spec.template.spec.containers[name="app"].image`
	object := parse(t, fr46Deployment)
	tree := build(object, kindOf(t, object))
	if !tree.KeepField(image) || !tree.KeepManager("application-operator") {
		t.Fatal("nothing is left")
	}
	tree.Root.Walk(func(n *fieldtree.Node) bool {
		if !n.Context && n.Path.String() != image {
			t.Errorf("%s is left", n.Path)
		}
		return true
	})
}

func TestRedact(t *testing.T) {
	const secret = "s3cr3t"
	for _, test := range []struct {
		name, manifest string
		// shown are values that are no secrets.
		shown []string
	}{
		{
			name:     "Secret",
			manifest: `{apiVersion: v1, kind: Secret, metadata: {name: data}, type: Opaque, data: {password: s3cr3t}, stringData: {other: s3cr3t}}`,
			shown:    []string{"Opaque"},
		},
		{
			name: "pods",
			manifest: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"value":"s3cr3t"}', x: visible}},
				spec: {template: {spec: {initContainers: [{name: i, env: [{name: A, value: s3cr3t}]}], containers: [{name: app, image: "web:1", env: [{name: A, value: s3cr3t}, {name: B, valueFrom: {secretKeyRef: {name: pool, key: k}}}]}]}}}}`,
			shown: []string{"visible", "web:1", "pool"},
		},
		{
			name:     "Application",
			manifest: `{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: web}, spec: {image: "web:1", env: [{name: A, value: s3cr3t}], deployment: {spec: {template: {spec: {containers: [{name: b, env: [{name: A, value: s3cr3t}]}]}}}}}}`,
			shown:    []string{"web:1"},
		},
		{
			name:     "custom resource",
			manifest: `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}, spec: {env: {A: s3cr3t}, list: {env: [s3cr3t]}, value: visible, data: {x: shown}}}`,
			shown:    []string{"visible", "shown"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := parse(t, test.manifest)
			tree := build(object, nil)
			tree.Redact()
			var values []string
			tree.Root.Walk(func(n *fieldtree.Node) bool {
				if s, ok := n.Scalar.(string); ok {
					values = append(values, s)
				}
				return true
			})
			if text := strings.Join(values, "\n"); strings.Contains(text, secret) {
				t.Errorf("a secret is shown:\n%s", text)
			}
			for _, shown := range test.shown {
				if !slices.Contains(values, shown) {
					t.Errorf("%q is hidden", shown)
				}
			}
		})
	}
}

// A file may leave out a part of an item's key that the API server would default.
func TestKeyWithDefault(t *testing.T) {
	object := parse(t, `
apiVersion: v1
kind: Service
metadata:
  name: web
  managedFields:
  - {manager: helm, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {f:spec: {f:ports: {'k:{"port":53,"protocol":"TCP"}': {.: {}, f:port: {}}}}}}
spec: {ports: [{port: 53}]}
`)
	n := node(build(object, kindOf(t, object)), `.spec.ports[port=53,protocol="TCP"].port`)
	if n == nil || n.State != fieldtree.Owned {
		t.Errorf("the port is %+v", n)
	}
}
