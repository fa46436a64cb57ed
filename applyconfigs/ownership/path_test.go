package ownership

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

var samplePaths = []struct {
	text string
	path fieldpath.Path
}{
	{".spec.replicas", fieldpath.MakePathOrDie("spec", "replicas")},
	{inApp + ".image", appPath("image")},
	{inApp + `.env[name="A.B[x=\"y\"]"].value`, appPath("env", fieldpath.KeyByFields("name", `A.B[x="y"]`), "value")},
	{inApp + `.ports[containerPort=53,protocol="UDP"].name`, appPath("ports", fieldpath.KeyByFields("containerPort", 53, "protocol", "UDP"), "name")},
	{inApp + ".resources.limits.nvidia.com/gpu", appPath("resources", "limits", "nvidia.com/gpu")},
	{".metadata.annotations.example.com/a.b[c]/d=\"e\"", fieldpath.MakePathOrDie("metadata", "annotations", `example.com/a.b[c]/d="e"`)},
	{".metadata.annotations.", fieldpath.MakePathOrDie("metadata", "annotations", "")},
	{`.metadata.finalizers[="example.com/a"]`, fieldpath.MakePathOrDie("metadata", "finalizers", value.NewValueInterface("example.com/a"))},
	{`.metadata.ownerReferences[uid="a-b"]`, fieldpath.MakePathOrDie("metadata", "ownerReferences", fieldpath.KeyByFields("uid", "a-b"))},
	{".spec.template.spec.tolerations[0].key", fieldpath.MakePathOrDie("spec", "template", "spec", "tolerations", 0, "key")},
	{".spec.selector.matchLabels.app.kubernetes.io/name", fieldpath.MakePathOrDie("spec", "selector", "matchLabels", "app.kubernetes.io/name")},
}

func appPath(rest ...any) fieldpath.Path {
	start := []any{"spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "app")}
	return fieldpath.MakePathOrDie(append(start, rest...)...)
}

func TestParsePath(t *testing.T) {
	for _, sample := range samplePaths {
		got, err := ParsePath(types, deploymentGVK, sample.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if !got.Equals(sample.path) {
			t.Errorf("%s was read as %v", sample.text, got)
		}
		wantEqual(t, "written again", got.String(), sample.text)
	}
}

// People may write keys in any order.
func TestParsePathSortsKeys(t *testing.T) {
	got, err := ParsePath(types, deploymentGVK, inApp+`.ports[protocol="UDP",containerPort=53]`)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "path", got.String(), inApp+`.ports[containerPort=53,protocol="UDP"]`)
}

func TestParsePathErrors(t *testing.T) {
	for _, text := range []string{
		"", "spec", ".", ".nonsense", ".spec.nonsense", ".spec..replicas", ".spec.replicas.more", ".spec.replicas[0]", ".spec[0]",
		inApp + "image", inApp + `.env[name]`, inApp + `.env[name=]`, inApp + `.env[name="A]`, inApp + `.env[name="A"x].value`,
		inApp + `.env[name="A"`, inApp + `.env[name="A",]`, inApp + `.env[="A",name="B"]`, inApp + `.env[name="A",="B"]`,
		inApp + ".ports[containerPort=NaN]", inApp + ".ports[containerPort=Inf]", inApp + ".ports[", inApp + ".ports[=", inApp + ".ports[containerPort=5x]",
	} {
		if got, err := ParsePath(types, deploymentGVK, text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
	if _, err := ParsePath(types, schema.GroupVersionKind{Group: "x", Version: "v1", Kind: "Y"}, ".spec"); err == nil {
		t.Error("a kind without a schema has paths")
	}
}

// Every path of a real field set, of either kind, survives being written and read.
func TestParsePathRoundTrip(t *testing.T) {
	intent := newTestIntent(t, `  labels: {app.kubernetes.io/name: web}
  finalizers: [example.com/a]
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {annotations: {example.com/a.b/c: x, "": z}}
    spec:
      tolerations: [{key: a}]
      volumes: [{name: tmp, emptyDir: {}}]
      topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 1}]
      containers:
      - {name: app, image: a, args: [a], ports: [{containerPort: 53, protocol: UDP}], env: [{name: A.B, value: x}], volumeMounts: [{name: tmp, mountPath: "/a]b,c=\"d\""}]}
`)
	seen := 0
	intent.Fields().Iterate(func(path fieldpath.Path) {
		seen++
		got, err := ParsePath(types, deploymentGVK, path.String())
		if err != nil {
			t.Error(err)
		} else if !got.Equals(path) {
			t.Errorf("%v was read as %v", path, got)
		}
	})
	if seen < 20 {
		t.Errorf("only %d paths were tried", seen)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, sample := range samplePaths {
		f.Add(sample.text)
	}
	f.Add(inApp + `.ports[containerPort=1e3,protocol=null].name`)
	kind, err := resolveKind(types, deploymentGVK)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := kind.parsePath(text)
		if err != nil {
			return
		}
		again, err := kind.parsePath(path.String())
		if err != nil {
			t.Fatalf("%q was read as %v, which cannot be read: %v", text, path, err)
		}
		if !again.Equals(path) {
			t.Errorf("%q was read as %v, and that as %v", text, path, again)
		}
	})
}
