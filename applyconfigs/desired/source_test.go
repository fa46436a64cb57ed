package desired_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// maximal has a value in each field of a spec that children come from, and a partial child of either kind that shares
// list items with them.
const maximal = `
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
  resources: {limits: {cpu: "1"}, requests: {memory: 64Mi}, claims: [{name: gpu, request: one}]}
  livenessProbe: {exec: {command: [a]}, periodSeconds: 7}
  readinessProbe: {httpGet: {path: /, port: 8080}, failureThreshold: 2}
  startupProbe: {tcpSocket: {port: app}, timeoutSeconds: 3}
  replicas: 3
  port: 8080
  expose: ClusterIP
  deployment:
    metadata: {annotations: {example.com/note: a}, labels: {team: blue}}
    spec:
      strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}
      template:
        spec:
          tolerations: [{key: a}]
          containers:
          - name: proxy
            image: envoy:1.30
            env: [{name: SECRET, value: s}]
            ports: [{containerPort: 9000}, {containerPort: 9000, protocol: UDP}]
          - name: app
            ports: [{containerPort: 8080, hostPort: 80}]
            env: [{name: C, value: z}]
            volumeMounts: [{mountPath: /data, name: data}]
  service:
    metadata: {annotations: {example.com/lb: internal}}
    spec:
      externalTrafficPolicy: Local
      ports: [{port: 8080, appProtocol: http}, {port: 9000, name: admin}]
`

// derived are the fields of the children that no field of the spec is copied to.
var derived = []string{
	".metadata.labels.app", ".metadata.labels.app.kubernetes.io/instance", ".metadata.labels.app.kubernetes.io/managed-by",
	".metadata.labels.app.kubernetes.io/name", ".metadata.labels.owner",
	`.metadata.ownerReferences[uid="u-1"].apiVersion`, `.metadata.ownerReferences[uid="u-1"].blockOwnerDeletion`,
	`.metadata.ownerReferences[uid="u-1"].controller`, `.metadata.ownerReferences[uid="u-1"].kind`, `.metadata.ownerReferences[uid="u-1"].name`,
	`.metadata.ownerReferences[uid="u-1"]`, // atomic
	".spec.selector", ".spec.selector.app", ".spec.selector.owner", ".spec.selector.matchLabels.app", ".spec.selector.matchLabels.owner",
	".spec.template.metadata.labels.app", ".spec.template.metadata.labels.app.kubernetes.io/instance",
	".spec.template.metadata.labels.app.kubernetes.io/managed-by", ".spec.template.metadata.labels.app.kubernetes.io/name",
	".spec.template.metadata.labels.owner",
}

// TestSourceOfEveryField: whatever the operator wants of a child stands in the spec where SourceOf says, or is known to be
// derived. And everything that the spec says of children is found.
func TestSourceOfEveryField(t *testing.T) {
	app, spec := maximalApplication(t)
	children, err := desired.ForApplication(childTypes, app)
	if err != nil {
		t.Fatal(err)
	}
	unseen := map[string]bool{}
	spec.Fields().Leaves().Iterate(func(path fieldpath.Path) {
		if !ownership.IsKey(path) && path.String() != ".spec.port" {
			unseen[path.String()] = true
		}
	})
	for kind, config := range map[string]any{"Deployment": children.Deployment, "Service": children.Service} {
		intent, err := ownership.NewIntent(childTypes, ownership.Applier("test"), config)
		if err != nil {
			t.Fatal(err)
		}
		intent.Fields().Leaves().Iterate(func(path fieldpath.Path) {
			source, exists := desired.SourceOf(app, kind, path)
			switch {
			case ownership.IsKey(path):
				if exists {
					t.Errorf("%s: the key %s comes from %s", kind, path, source.Path)
				}
				return
			case !exists:
				if !slices.Contains(derived, path.String()) {
					t.Errorf("%s: %s comes from nowhere", kind, path)
				}
				return
			case !source.Held:
				t.Errorf("%s: %s could come from %s only", kind, path, source.Path)
				return
			case !source.Copied:
				if source.Path.String() != ".spec.port" || source.Settable || source.Removable {
					t.Errorf("%s: %s is made from %+v", kind, path, source)
				}
				return
			}
			delete(unseen, source.Path.String())
			wanted, _ := intent.Value(path)
			stands, is := spec.Value(source.Path)
			if !is || !reflect.DeepEqual(stands, wanted) {
				t.Errorf("%s: %s is %v, and %s is %v", kind, path, wanted, source.Path, stands)
			}
		})
	}
	for path := range unseen {
		t.Errorf("nothing comes from %s", path)
	}
}

// TestMaximalIsMaximal: a new field of the spec needs a value in the other test.
func TestMaximalIsMaximal(t *testing.T) {
	app, _ := maximalApplication(t)
	spec := reflect.ValueOf(app.Spec)
	for i := range spec.NumField() {
		switch name := spec.Type().Field(i).Name; name {
		case "ConflictPolicy", "DeletionPolicy", "Paused": // no field of a child comes from these
		default:
			if spec.Field(i).IsZero() {
				t.Errorf("spec has no %s", name)
			}
		}
	}
}

func TestSourceOf(t *testing.T) {
	const (
		app   = `.spec.template.spec.containers[name="app"]`
		proxy = `.spec.template.spec.containers[name="proxy"]`
	)
	maximal, _ := maximalApplication(t)
	for _, c := range []struct{ kind, path, want string }{
		{"Deployment", ".spec.replicas", ".spec.replicas copied settable removable"},
		{"Deployment", app + ".image", ".spec.image copied settable"},
		{"Deployment", app + ".imagePullPolicy", ".spec.imagePullPolicy copied settable removable"},
		{"Deployment", app + ".readinessProbe", ".spec.readinessProbe copied settable removable"},
		{"Deployment", app + ".readinessProbe.httpGet.port", ".spec.readinessProbe.httpGet.port copied settable"},
		{"Deployment", app + ".readinessProbe.httpGet", ".spec.readinessProbe.httpGet copied settable"},
		{"Deployment", app + ".livenessProbe.exec.command", ".spec.livenessProbe.exec.command copied settable"},
		{"Deployment", app + ".livenessProbe.periodSeconds", ".spec.livenessProbe.periodSeconds copied settable removable"},
		{"Deployment", app + `.env[name="A"]`, `.spec.env[name="A"] copied settable removable`},
		{"Deployment", app + `.env[name="A"].value`, `.spec.env[name="A"].value copied settable removable`},
		{"Deployment", app + `.ports[containerPort=8080,protocol="TCP"]`, ".spec.port settable removable"},
		{"Deployment", app + `.ports[containerPort=8080,protocol="TCP"].name`, ".spec.port"},
		{"Service", ".spec.type", ".spec.expose copied settable ClusterIP NodePort LoadBalancer"},
		{"Service", `.spec.ports[port=8080,protocol="TCP"]`, ".spec.port settable removable"},
		{"Service", `.spec.ports[port=8080,protocol="TCP"].targetPort`, ".spec.port"},

		{"Deployment", ".metadata.annotations.example.com/note", ".spec.deployment.metadata.annotations.example.com/note in spec.deployment copied settable removable"},
		{"Deployment", ".spec.strategy.type", ".spec.deployment.spec.strategy.type in spec.deployment copied settable removable"},
		{"Deployment", app + `.env[name="C"].value`, ".spec.deployment" + app + `.env[name="C"].value in spec.deployment copied settable removable`},
		{"Deployment", app + `.ports[containerPort=8080,protocol="TCP"].hostPort`, ".spec.deployment" + app + `.ports[containerPort=8080,protocol="TCP"].hostPort in spec.deployment copied settable removable`},
		{"Deployment", proxy + ".image", ".spec.deployment" + proxy + ".image in spec.deployment copied settable removable"},
		{"Deployment", proxy + `.ports[containerPort=9000,protocol="UDP"]`, ".spec.deployment" + proxy + `.ports[containerPort=9000,protocol="UDP"] in spec.deployment copied settable removable`},
		{"Service", `.spec.ports[port=9000,protocol="TCP"].name`, `.spec.service.spec.ports[port=9000,protocol="TCP"].name in spec.service copied settable removable`},
		{"Service", `.spec.ports[port=8080,protocol="TCP"].appProtocol`, `.spec.service.spec.ports[port=8080,protocol="TCP"].appProtocol in spec.service copied settable removable`},

		{"Deployment", ".spec.strategy.rollingUpdate.maxUnavailable", ".spec.deployment.spec.strategy.rollingUpdate.maxUnavailable in spec.deployment not held copied settable"},
		{"Deployment", proxy + `.ports[containerPort=9000,protocol="SCTP"].name`, ".spec.deployment" + proxy + `.ports[containerPort=9000,protocol="SCTP"].name in spec.deployment not held copied settable`},
		{"Deployment", `.spec.template.spec.containers[name="other"].image`, `.spec.deployment.spec.template.spec.containers[name="other"].image in spec.deployment not held copied settable`},
		{"Service", ".spec.sessionAffinity", ".spec.service.spec.sessionAffinity in spec.service not held copied settable"},

		{"Deployment", app, ""},
		{"Deployment", app + ".name", ""},
		{"Deployment", ".metadata.labels.app", ""},
		{"Deployment", ".metadata.labels.app.kubernetes.io/name", ""},
		{"Deployment", ".spec.template.metadata.labels.owner", ""},
		{"Deployment", ".metadata.finalizers", ""},
		{"Deployment", ".status.replicas", ""},
		{"Service", ".spec.selector", ""},
		{"ConfigMap", ".spec.replicas", ""},
	} {
		t.Run(c.kind+c.path, func(t *testing.T) {
			gvk := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
			if c.kind == "Service" {
				gvk = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
			}
			path, err := ownership.ParsePath(childTypes, gvk, c.path)
			if err != nil {
				t.Fatal(err)
			}
			source, exists := desired.SourceOf(maximal, c.kind, path)
			got := ""
			if exists {
				got = describe(source)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func describe(s desired.Source) string {
	words := []string{s.Path.String()}
	if s.Partial != "" {
		words = append(words, "in", s.Partial)
	}
	if !s.Held {
		words = append(words, "not held")
	}
	if s.Copied {
		words = append(words, "copied")
	}
	if s.Settable {
		words = append(words, "settable")
	}
	if s.Removable {
		words = append(words, "removable")
	}
	return strings.Join(append(words, s.Values...), " ")
}

// maximalApplication returns the Application as its Go type, and its own fields.
func maximalApplication(t *testing.T) (*v1alpha1.Application, *ownership.Intent) {
	t.Helper()
	app, object := &v1alpha1.Application{}, &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(maximal), app); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(maximal), &object.Object); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	spec, err := ownership.NewIntent(applyconfigs.NewTypeConverter(scheme), ownership.Applier("test"), object)
	if err != nil {
		t.Fatal(err)
	}
	return app, spec
}
