package fieldtree_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

const (
	operator = "application-operator Apply"
	envtool  = "envtool Update"
	dns      = "dns-proxy Update"
	hpa      = "hpa Update scale"
	status   = "kube-controller-manager Update status"
)

const fr46Deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {"example.com/a.b/c": x, plain: x}
  finalizers: [example.com/hold, example.com/wait]
  managedFields:
  - manager: application-operator
    operation: Apply
    apiVersion: apps/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:metadata:
        f:annotations: {"f:example.com/a.b/c": {}}
        f:finalizers: {'v:"example.com/hold"': {}}
      f:spec:
        f:selector: {}
        f:template:
          f:spec:
            f:containers:
              'k:{"name":"app"}':
                .: {}
                f:name: {}
                f:image: {}
                f:env:
                  'k:{"name":"A"}': {.: {}, f:name: {}, f:value: {}}
                  'k:{"name":"C"}': {.: {}, f:name: {}}
                f:ports:
                  'k:{"containerPort":53,"protocol":"TCP"}': {.: {}, f:containerPort: {}, f:name: {}}
              'k:{"name":"log"}': {.: {}, f:name: {}, f:image: {}}
            f:tolerations: {}
  - manager: envtool
    operation: Update
    apiVersion: apps/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:metadata:
        f:annotations: {.: {}, f:plain: {}}
        f:finalizers: {.: {}, 'v:"example.com/wait"': {}}
      f:spec:
        f:template:
          f:spec:
            f:containers:
              'k:{"name":"app"}':
                f:env:
                  'k:{"name":"B"}': {.: {}, f:name: {}, f:value: {}}
                  'k:{"name":"C"}': {f:value: {}}
              'k:{"name":"log"}': {f:image: {}}
  - manager: dns-proxy
    operation: Update
    apiVersion: apps/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:template:
          f:spec:
            f:containers:
              'k:{"name":"app"}':
                f:ports:
                  'k:{"containerPort":53,"protocol":"UDP"}': {.: {}, f:containerPort: {}, f:protocol: {}}
  - manager: hpa
    operation: Update
    subresource: scale
    apiVersion: apps/v1
    fieldsType: FieldsV1
    fieldsV1: {f:spec: {f:replicas: {}}}
  - manager: kube-controller-manager
    operation: Update
    subresource: status
    apiVersion: apps/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:status:
        f:conditions: {.: {}, 'k:{"type":"Available"}': {.: {}, f:type: {}, f:status: {}}}
spec:
  replicas: 4
  revisionHistoryLimit: 10
  selector: {matchLabels: {app: web}}
  template:
    spec:
      containers:
      - name: app
        image: web:1
        imagePullPolicy: Always
        env:
        - {name: A, value: "1"}
        - {name: B, value: "2"}
        - {name: C, value: "3"}
        ports:
        - {containerPort: 53, protocol: TCP, name: dns}
        - {containerPort: 53, protocol: UDP}
      - {name: log, image: log:1}
      tolerations:
      - {key: a, operator: Exists}
      - {key: b, operator: Exists}
status:
  conditions:
  - {type: Available, status: "True"}
`

const fr46Service = `
apiVersion: v1
kind: Service
metadata:
  name: web
  managedFields:
  - manager: application-operator
    operation: Apply
    apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:ports:
          'k:{"port":53,"protocol":"TCP"}': {.: {}, f:port: {}, f:targetPort: {}}
        f:selector: {}
  - manager: dns-proxy
    operation: Update
    apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:ports:
          'k:{"port":53,"protocol":"UDP"}': {.: {}, f:port: {}, f:protocol: {}, f:targetPort: {}}
spec:
  type: ClusterIP
  selector: {app: web, owner: application-operator}
  ports:
  - {port: 53, protocol: TCP, targetPort: dns}
  - {port: 53, protocol: UDP, targetPort: dns}
`

const fr46Application = `
apiVersion: application.mycompany.io/v1alpha1
kind: Application
metadata:
  name: web
  managedFields:
  - manager: author
    operation: Apply
    apiVersion: application.mycompany.io/v1alpha1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:image: {}
        f:env:
          'k:{"name":"A"}': {.: {}, f:name: {}, f:value: {}}
  - manager: envtool
    operation: Update
    apiVersion: application.mycompany.io/v1alpha1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:env:
          'k:{"name":"B"}': {.: {}, f:name: {}, f:value: {}}
spec:
  image: web:1
  conflictPolicy: Abort
  env:
  - {name: A, value: "1"}
  - {name: B, value: "2"}
`

// TestFR46 is about the owners of what is in keyed lists, and of everything else that ownership viewers got wrong: each
// field has exactly the owners that managedFields name.
func TestFR46(t *testing.T) {
	const app = `.spec.template.spec.containers[name="app"]`
	for _, test := range []struct {
		name, manifest string
		owners         map[string][]string
		unowned        []string
	}{
		{
			name:     "Deployment",
			manifest: fr46Deployment,
			owners: map[string][]string{
				`.metadata.annotations`:                     {envtool},
				`.metadata.annotations.example.com/a.b/c`:   {operator},
				`.metadata.annotations.plain`:               {envtool},
				`.metadata.finalizers`:                      {envtool},
				`.metadata.finalizers[="example.com/hold"]`: {operator},
				`.metadata.finalizers[="example.com/wait"]`: {envtool},
				`.spec.replicas`:                            {hpa},
				`.spec.selector`:                            {operator},
				app:                                         {operator},
				app + `.name`:                               {operator},
				app + `.image`:                              {operator},
				app + `.env[name="A"]`:                      {operator},
				app + `.env[name="A"].name`:                 {operator},
				app + `.env[name="A"].value`:                {operator},
				app + `.env[name="B"]`:                      {envtool},
				app + `.env[name="B"].name`:                 {envtool},
				app + `.env[name="B"].value`:                {envtool},
				// The item is one manager's, a field in it another's.
				app + `.env[name="C"]`:                                        {operator},
				app + `.env[name="C"].name`:                                   {operator},
				app + `.env[name="C"].value`:                                  {envtool},
				app + `.ports[containerPort=53,protocol="TCP"]`:               {operator},
				app + `.ports[containerPort=53,protocol="TCP"].containerPort`: {operator},
				app + `.ports[containerPort=53,protocol="TCP"].name`:          {operator},
				app + `.ports[containerPort=53,protocol="UDP"]`:               {dns},
				app + `.ports[containerPort=53,protocol="UDP"].containerPort`: {dns},
				app + `.ports[containerPort=53,protocol="UDP"].protocol`:      {dns},
				`.spec.template.spec.containers[name="log"]`:                  {operator},
				`.spec.template.spec.containers[name="log"].name`:             {operator},
				`.spec.template.spec.containers[name="log"].image`:            {operator, envtool},
				`.spec.template.spec.tolerations`:                             {operator},
				`.status.conditions`:                                          {status},
				`.status.conditions[type="Available"]`:                        {status},
				`.status.conditions[type="Available"].type`:                   {status},
				`.status.conditions[type="Available"].status`:                 {status},
			},
			unowned: []string{
				`.spec.revisionHistoryLimit`,
				app + `.imagePullPolicy`,
				app + `.ports[containerPort=53,protocol="TCP"].protocol`,
			},
		},
		{
			name:     "Service",
			manifest: fr46Service,
			owners: map[string][]string{
				`.spec.selector`:                                 {operator},
				`.spec.ports[port=53,protocol="TCP"]`:            {operator},
				`.spec.ports[port=53,protocol="TCP"].port`:       {operator},
				`.spec.ports[port=53,protocol="TCP"].targetPort`: {operator},
				`.spec.ports[port=53,protocol="UDP"]`:            {dns},
				`.spec.ports[port=53,protocol="UDP"].port`:       {dns},
				`.spec.ports[port=53,protocol="UDP"].protocol`:   {dns},
				`.spec.ports[port=53,protocol="UDP"].targetPort`: {dns},
			},
			unowned: []string{`.spec.ports[port=53,protocol="TCP"].protocol`, `.spec.type`},
		},
		{
			name:     "Application",
			manifest: fr46Application,
			owners: map[string][]string{
				`.spec.image`:               {"author Apply"},
				`.spec.env[name="A"]`:       {"author Apply"},
				`.spec.env[name="A"].name`:  {"author Apply"},
				`.spec.env[name="A"].value`: {"author Apply"},
				`.spec.env[name="B"]`:       {envtool},
				`.spec.env[name="B"].name`:  {envtool},
				`.spec.env[name="B"].value`: {envtool},
			},
			unowned: []string{`.spec.conflictPolicy`},
		},
	} {
		fromYAML := parse(t, test.manifest)
		for way, object := range map[string]*unstructured.Unstructured{"yaml": fromYAML, "json": throughJSON(t, fromYAML)} {
			for schema, kind := range map[string]*typed.TypedValue{"with a schema": kindOf(t, object), "without": nil} {
				t.Run(test.name+" from "+way+" "+schema, func(t *testing.T) {
					tree := build(object, kind)
					owned, unowned := map[string][]string{}, []string{}
					tree.Root.Walk(func(n *fieldtree.Node) bool {
						switch n.State {
						case fieldtree.Owned:
							owned[n.Path.String()] = owners(tree, n)
						case fieldtree.Unowned:
							unowned = append(unowned, n.Path.String())
						}
						return !n.Whole
					})
					if diff := cmp.Diff(test.owners, owned); diff != "" {
						t.Errorf("owners (-want +got):\n%s", diff)
					}
					if diff := cmp.Diff(asSet(test.unowned), asSet(unowned)); diff != "" {
						t.Errorf("unowned (-want +got):\n%s", diff)
					}
					if len(tree.Absent) > 0 || len(tree.Problems) > 0 {
						t.Errorf("absent: %v, problems: %v", tree.Absent, tree.Problems)
					}
				})
			}
		}
	}
}

// What is owned as a whole is one field to ownership, and shows its owner at every line.
func TestFR46Whole(t *testing.T) {
	object := parse(t, fr46Deployment)
	for schema, kind := range map[string]*typed.TypedValue{"with a schema": kindOf(t, object), "without": nil} {
		t.Run(schema, func(t *testing.T) {
			tree := build(object, kind)
			for _, path := range []string{".spec.template.spec.tolerations", ".spec.selector"} {
				whole := node(tree, path)
				if whole == nil || !whole.Whole || !whole.Leaf() {
					t.Fatalf("%s is not owned as a whole", path)
				}
				whole.Walk(func(n *fieldtree.Node) bool {
					if diff := cmp.Diff([]string{operator}, owners(tree, n)); diff != "" {
						t.Errorf("%s: %s", n.Path, diff)
					}
					if n.Inside == (n == whole) {
						t.Errorf("%s: inside is %v", n.Path, n.Inside)
					}
					return true
				})
			}
		})
	}
}

// throughJSON reads the object as encoding/json does: all numbers are floats.
func throughJSON(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	encoded, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.YAMLToJSON(encoded)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func asSet(paths []string) map[string]bool {
	set := map[string]bool{}
	for _, path := range paths {
		set[path] = true
	}
	return set
}
