package conflicts

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/spec"
	"mycompany.io/application-operator/test/fieldserver"
	"mycompany.io/application-operator/test/golden"
)

const (
	ourSpec = `
spec:
  image: nginx:1.29
  replicas: 3
  port: 8080
  expose: ClusterIP
  args: [--quiet]
  env: [{name: FIRST, value: x}, {name: GREETING, value: it's ours}]
  resources: {limits: {cpu: "1", memory: 64Mi}}
  livenessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 5}
`
	partialSpec = `
spec:
  image: nginx:1.29
  deployment:
    spec:
      strategy: {type: Recreate}
      template: {spec: {containers: [{name: proxy, image: "envoy:1", env: [{name: TOKEN, value: our-secret}]}]}}
`
	app = "spec: {template: {spec: {containers: [{name: app, "
	end = "}]}}}"
)

var target = shell.Target{Namespace: "shop"}

// scenario is a Deployment, or a Service, with a history.
type scenario struct {
	object cli.Object
	spec   string
	// others write after the operator has applied.
	others func(t *testing.T, s *fieldserver.Server)
}

var scenarios = map[string]scenario{
	"none": {spec: ourSpec, others: func(*testing.T, *fieldserver.Server) {}},
	"scaled": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl", func(d map[string]any) { d["spec"].(map[string]any)["replicas"] = int64(5) })
	}},
	"autoscaled": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kube-controller-manager", func(d map[string]any) { d["spec"].(map[string]any)["replicas"] = int64(9) })
	}},
	"image": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-set", func(d map[string]any) { container(d)["image"] = "nginx:1.30" })
	}},
	"yield": {spec: ourSpec + "  conflictPolicy: Yield\n", others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-set", func(d map[string]any) { container(d)["image"] = "nginx:1.30" })
	}},
	"env": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-edit", func(d map[string]any) {
			container(d)["env"].([]any)[1].(map[string]any)["value"] = `their "secret"`
		})
	}},
	"many": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		forced(t, s, "helm", app+`image: "nginx:1.31", args: [--verbose, --trace-everything-that-there-is-to-trace], resources: {limits: {cpu: 2000m}}`+end)
		forced(t, s, "git\nops", app+`image: "nginx:1.31", livenessProbe: {httpGet: {path: /healthz, port: 9090}, periodSeconds: 7}`+end)
	}},
	"identity": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		forced(t, s, "labeller", "metadata: {labels: {owner: me}}")
	}},
	"service-type": {object: cli.ServiceObject, spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-patch", func(d map[string]any) { d["spec"].(map[string]any)["type"] = "NodePort" })
	}},
	"service-external": {object: cli.ServiceObject, spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-patch", func(d map[string]any) { d["spec"].(map[string]any)["type"] = "ExternalName" })
	}},
	"partial": {spec: partialSpec, others: func(t *testing.T, s *fieldserver.Server) {
		forced(t, s, "sidecar-injector", `spec: {template: {spec: {containers: [{name: proxy, image: "envoy:2", env: [{name: TOKEN, value: their-secret}]}]}}}`)
	}},
	"source-for-value": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-edit", func(d map[string]any) {
			variable := container(d)["env"].([]any)[1].(map[string]any)
			delete(variable, "value")
			variable["valueFrom"] = map[string]any{"configMapKeyRef": map[string]any{"name": "c", "key": "k"}}
		})
	}},
	"handler": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-edit", func(d map[string]any) {
			probe := container(d)["livenessProbe"].(map[string]any)
			delete(probe, "httpGet")
			probe["exec"] = map[string]any{"command": []any{"true"}}
		})
	}},
	"container-port": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-edit", func(d map[string]any) {
			container(d)["ports"].([]any)[0].(map[string]any)["containerPort"] = int64(9090)
		})
	}},
	"service-port": {object: cli.ServiceObject, spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-edit", func(d map[string]any) {
			d["spec"].(map[string]any)["ports"].([]any)[0].(map[string]any)["port"] = int64(9090)
		})
	}},
	"wiped": {spec: ourSpec, others: func(t *testing.T, s *fieldserver.Server) {
		updated(t, s, "kubectl-set", func(d map[string]any) { container(d)["image"] = "nginx:1.30" })
	}},
}

func TestPrinted(t *testing.T) {
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			found := find(t, name, scenario)
			for _, format := range []Format{Wide, Table, JSON, YAML} {
				golden.Check(t, name+"."+string(format), render(t, found, format))
			}
			for i := range found {
				found[i].Redact()
			}
			if name == "env" || name == "partial" {
				golden.Check(t, name+".redacted.wide", render(t, found, Wide))
				golden.Check(t, name+".redacted.json", render(t, found, JSON))
			}
		})
	}
}

// TestRedactHidesEverything searches for the values in everything that may be printed.
func TestRedactHidesEverything(t *testing.T) {
	for _, name := range []string{"env", "partial", "source-for-value"} {
		t.Run(name, func(t *testing.T) { hidesEverything(t, find(t, name, scenarios[name])) })
	}
}

func hidesEverything(t *testing.T, found []Conflict) {
	t.Helper()
	for i := range found {
		found[i].Redact()
	}
	for _, format := range []Format{Wide, Table, JSON, YAML} {
		printed := render(t, found, format)
		if strings.Contains(printed, "secret") || strings.Contains(printed, "ours") || !strings.Contains(printed, "***") {
			t.Errorf("%s shows:\n%s", format, printed)
		}
	}
}

func TestWaysToEndAConflict(t *testing.T) {
	for name, want := range map[string][]string{
		"scaled":           {"KeepLive", "KeepLive", "GetWanted", "GetWanted"},
		"autoscaled":       {"KeepLive", "KeepLive", "GetWanted", "GetWanted", "GetWanted"},
		"image":            {"KeepLive", "GetWanted", "GetWanted"},
		"env":              {"KeepLive", "KeepLive", "GetWanted", "GetWanted"},
		"identity":         {"GetWanted", "GetWanted", "GetWanted"},
		"service-type":     {"KeepLive", "GetWanted", "GetWanted"},
		"service-external": {"GetWanted", "GetWanted"},
		"source-for-value": {"KeepLive", "KeepLive", "GetWanted"},
		"handler":          {"KeepLive", "GetWanted"},
		"container-port":   {"KeepLive", "GetWanted"},
		"service-port":     {"KeepLive", "GetWanted"},
	} {
		t.Run(name, func(t *testing.T) {
			found := find(t, name, scenarios[name])
			if len(found) != 1 {
				t.Fatalf("found %d conflicts", len(found))
			}
			var outcomes []string
			for _, r := range found[0].Resolutions {
				outcomes = append(outcomes, string(r.Outcome))
			}
			if diff := cmp.Diff(want, outcomes); diff != "" {
				t.Errorf("ways to end it differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	object := application(t, ourSpec+`
status:
  phase: Failed
  message: all is well
  conflicts:
  - {kind: Application, name: web, field: .status.phase, manager: liar, operation: Update, subresource: status, apiVersion: application.mycompany.io/v1alpha1}
  - {kind: Application, name: web, field: .status.message, manager: liar, operation: Update, subresource: status, apiVersion: application.mycompany.io/v1alpha1}
  - {kind: Deployment, name: web, field: .spec.replicas, manager: liar, operation: Update, apiVersion: apps/v1}
`)
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: "Apply", APIVersion: "application.mycompany.io/v1alpha1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:image":{}}}`)},
		{Manager: "liar", Operation: "Update", Subresource: "status", APIVersion: "application.mycompany.io/v1alpha1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:observedGeneration":{},"f:phase":{}}}`), Time: &metav1.Time{Time: fieldserver.Moment}},
	})
	app, err := cli.AsApplication(object)
	if err != nil {
		t.Fatal(err)
	}
	found, err := FindInStatus(target, object, app)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "status.wide", render(t, found, Wide))
	golden.Check(t, "status.json", render(t, found, JSON))
}

// TestEnds: an edit counts only if the operator's own code finds the conflict gone.
func TestEnds(t *testing.T) {
	child := childOf(t, "image", scenarios["image"])
	conflicts, err := child.Intent.Conflicts(child.Live)
	if err != nil {
		t.Fatal(err)
	}
	contest := &contest{child: child, field: ownership.GroupByField(conflicts)[0]}
	for image, want := range map[string]bool{"nginx:1.29": false, "nginx:1.30": true, "nginx:1.31": false} {
		edited := application(t, strings.Replace(ourSpec, "nginx:1.29", image, 1))
		if got := contest.ends(&spec.Edit{Edited: edited}); got != want {
			t.Errorf("%s ends the conflict: %v", image, got)
		}
	}
}

// TestReportedSince: a write through scale has no time, but the operator's report does.
func TestReportedSince(t *testing.T) {
	reported := v1alpha1.FieldConflict{
		Kind: "Deployment", Name: "web", Field: ".spec.replicas", Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate,
		Subresource: "scale", APIVersion: "apps/v1",
	}
	condition := metav1.Condition{
		Type: v1alpha1.ConditionSynced, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonFieldConflict,
		LastTransitionTime: metav1.Time{Time: fieldserver.Moment},
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.FieldConflict, *metav1.Condition)
		want   bool
	}{
		"reported":          {change: func(*v1alpha1.FieldConflict, *metav1.Condition) {}, want: true},
		"another owner":     {change: func(c *v1alpha1.FieldConflict, _ *metav1.Condition) { c.Manager = "other" }},
		"a stale condition": {change: func(_ *v1alpha1.FieldConflict, c *metav1.Condition) { c.Reason = v1alpha1.ReasonSynced }},
		"a yielded field":   {change: func(_ *v1alpha1.FieldConflict, c *metav1.Condition) { c.Status = metav1.ConditionTrue }},
	} {
		child := childOf(t, "scaled", scenarios["scaled"])
		conflict, synced := reported, condition
		tc.change(&conflict, &synced)
		child.App.Status = v1alpha1.ApplicationStatus{Conflicts: []v1alpha1.FieldConflict{conflict}, Conditions: []metav1.Condition{synced}}
		found, err := Find(target, application(t, ourSpec), child)
		if err != nil {
			t.Fatal(err)
		}
		if since := found[0].Owners[0].Since; (since != nil) != tc.want || tc.want && !since.Time.Equal(fieldserver.Moment) {
			t.Errorf("%s: since %v", name, since)
		}
	}
}

func TestNothingOfOthers(t *testing.T) {
	child := childOf(t, "image", scenarios["image"])
	child.Live.SetOwnerReferences(nil)
	if found, err := Find(target, application(t, ourSpec), child); len(found) > 0 || err != nil {
		t.Errorf("of an object that is not the Application's: %v, %v", found, err)
	}
	for name, change := range map[string]func(*children.Child){
		"not wanted": func(c *children.Child) { c.Intent = nil },
		"not there":  func(c *children.Child) { c.Live = nil },
	} {
		child := childOf(t, "image", scenarios["image"])
		change(child)
		if found, err := Find(target, application(t, ourSpec), child); len(found) > 0 || err != nil {
			t.Errorf("of an object that is %s: %v, %v", name, found, err)
		}
	}
}

// FuzzFind: whatever stands in managedFields, the answer is an answer or an error.
func FuzzFind(f *testing.F) {
	for _, fields := range []string{
		`{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{".":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:image":{}}}}}}}`,
		`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":1}":{"f:image":{}},"v:3":{},"i:7":{}}}}}}`, `{`, `null`, ``,
	} {
		f.Add("helm", "Apply", "", "apps/v1", fields)
		f.Add("kubectl\x1b[31m", "Update", "scale", "extensions/v1beta1", fields)
	}
	var once sync.Once
	var scaled *children.Child
	f.Fuzz(func(t *testing.T, manager, operation, subresource, version, fields string) {
		once.Do(func() { scaled = childOf(t, "scaled", scenarios["scaled"]) })
		if !json.Valid([]byte(fields)) {
			return // an object has come as JSON
		}
		child := scaled.WithRecord(scaled.Live.GetManagedFields())
		child.Live.SetManagedFields(append(child.Live.GetManagedFields(), metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), Subresource: subresource,
			APIVersion: version, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}))
		found, err := Find(target, application(t, ourSpec), child)
		if err != nil {
			return
		}
		for _, format := range []Format{Wide, Table, JSON, YAML} {
			if printed := render(t, found, format); strings.Contains(printed, "\x1b") {
				t.Errorf("a manager's name reaches the terminal: %q", printed)
			}
		}
	})
}

func find(t *testing.T, name string, s scenario) []Conflict {
	t.Helper()
	found, err := Find(target, application(t, s.spec), childOf(t, name, s))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// childOf plays the history of a scenario.
func childOf(t *testing.T, name string, s scenario) *children.Child {
	t.Helper()
	if s.object == "" {
		s.object = cli.DeploymentObject
	}
	app, err := cli.AsApplication(application(t, s.spec))
	if err != nil {
		t.Fatal(err)
	}
	intent, err := children.Wanted(app, s.object)
	if err != nil {
		t.Fatal(err)
	}
	server := fieldserver.New(cli.TypesOf(s.object), s.object.GroupVersionKind())
	if err := server.ApplyObject(v1alpha1.FieldManager, intent.Object()); err != nil {
		t.Fatal(err)
	}
	s.others(t, server)
	live, err := server.Live()
	if err != nil {
		t.Fatal(err)
	}
	switch name {
	case "wiped":
		live.SetManagedFields(nil)
	case "scaled", "autoscaled":
		// As the scale subresource records it: by its name, and without a time.
		entries := live.GetManagedFields()
		for i := range entries {
			if entries[i].Manager != v1alpha1.FieldManager {
				entries[i].Subresource, entries[i].Time = "scale", nil
			}
		}
		live.SetManagedFields(entries)
	}
	child, err := children.New(app, s.object, live)
	if err != nil {
		t.Fatal(err)
	}
	return child
}

func application(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte("apiVersion: application.mycompany.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: shop, uid: u-1}\n" + spec))
	object := &unstructured.Unstructured{}
	if err == nil {
		err = object.UnmarshalJSON(encoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func updated(t *testing.T, s *fieldserver.Server, manager string, change func(map[string]any)) {
	t.Helper()
	if err := s.Update(manager, change); err != nil {
		t.Fatal(err)
	}
}

func forced(t *testing.T, s *fieldserver.Server, manager, config string) {
	t.Helper()
	if err := s.ForceApply(manager, config); err != nil {
		t.Fatal(err)
	}
}

func container(deployment map[string]any) map[string]any {
	containers, _, _ := unstructured.NestedFieldNoCopy(deployment, "spec", "template", "spec", "containers")
	return containers.([]any)[0].(map[string]any)
}

func render(t *testing.T, found []Conflict, format Format) string {
	t.Helper()
	var b bytes.Buffer
	p := &printer{out: &b, format: format, namespaces: format == Table, now: fieldserver.Moment.Add(3 * time.Minute)}
	if err := p.print(found); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
