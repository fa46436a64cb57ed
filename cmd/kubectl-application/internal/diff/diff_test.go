package diff

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/test/fieldserver"
	"mycompany.io/application-operator/test/golden"
)

const (
	was = "{image: ours, replicas: 3, env: [{name: A, value: old-secret}, {name: B, value: gone}], args: [kept]}"
	is  = "{image: ours, env: [{name: A, value: new-secret}]}"
)

// TestPrinted shows outcomes as the in-memory server makes them, in place of the API server's dry run.
func TestPrinted(t *testing.T) {
	for name, tc := range map[string]struct {
		object        cli.Object
		before, after string
		others        string
		effect        Effect
		reason        string
		isNew         bool
	}{
		"changed":  {before: was, after: is, effect: Changed},
		"created":  {after: was, effect: Created},
		"new":      {after: was, effect: Created, isNew: true},
		"deleted":  {before: was, after: is, effect: Deleted},
		"aborting": {before: was, after: is, others: "{template: {spec: {containers: [{name: app, env: [{name: A, value: their-secret}]}]}}}", effect: LeftAlone, reason: "fields of it are contested, under conflictPolicy Abort"},
		"yielding": {before: was, after: strings.Replace(is, "{", "{conflictPolicy: Yield, imagePullPolicy: Always, ", 1), others: "{template: {spec: {containers: [{name: app, env: [{name: A, value: their-secret}]}]}}}", effect: Changed},
		"shared":   {before: was, after: is, others: "{replicas: 3}", effect: Changed},
		"service":  {object: cli.ServiceObject, after: "{image: ours, port: 80, expose: NodePort}", effect: Created, isNew: true},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.object == "" {
				tc.object = cli.DeploymentObject
			}
			server := fieldserver.New(cli.TypesOf(tc.object), tc.object.GroupVersionKind())
			var before *unstructured.Unstructured
			if tc.before != "" {
				apply(t, server, tc.object, application(t, tc.before))
				if tc.others != "" {
					if err := server.ForceApply("helm", "spec: "+tc.others); err != nil {
						t.Fatal(err)
					}
				}
				before = live(t, server)
			}
			app := application(t, tc.after)
			child, err := children.New(app, tc.object, before)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := child.Plan()
			if err != nil {
				t.Fatal(err)
			}
			outcome := &Outcome{Child: child, Effect: tc.effect, Reason: tc.reason, Before: before, After: before, isNew: tc.isNew, Conflicts: plan.Conflicts}
			switch tc.effect {
			case Deleted:
				outcome.After = nil
			case Changed, Created:
				short, err := shorten(plan, child)
				if err != nil {
					t.Fatal(err)
				}
				if outcome.After = short.net; outcome.After == nil {
					if err := server.ApplyObject(v1alpha1.FieldManager, short.intent.Object()); err != nil {
						t.Fatal(err)
					}
					outcome.After = live(t, server)
				}
				if before != nil {
					if outcome.GivenUp, err = givenUp(outcome, plan, short.handedOver); err != nil {
						t.Fatal(err)
					}
				}
			}
			if tc.object == cli.ServiceObject {
				// As the API server allocates them.
				spec := outcome.After.Object["spec"].(map[string]any)
				spec["clusterIP"], spec["clusterIPs"] = "10.0.0.1", []any{"10.0.0.1"}
				spec["ports"].([]any)[0].(map[string]any)["nodePort"] = int64(30000)
			}
			golden.Check(t, name, show(t, outcome, false))
			redacted := show(t, outcome, true)
			if strings.Contains(redacted, "-secret") {
				t.Errorf("a value is shown:\n%s", redacted)
			}
			if name == "changed" || name == "yielding" {
				golden.Check(t, name+".redacted", redacted)
			}
		})
	}
}

// TestSeveralSteps: the steps of a plan lead where their net effect does. Beside what the operator first claims, no step
// could hold what it wants.
func TestSeveralSteps(t *testing.T) {
	const (
		identity  = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: "
		container = "template: {spec: {containers: [{name: app, %}]}}}}"
		itemOwned = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{},%}}}}}}`
	)
	inContainer := func(text string) string { return strings.Replace(container, "%", text, 1) }
	for name, tc := range map[string]struct {
		live, owned, handedOver, wanted string
		steps                           int
	}{
		"a default that excludes": {
			live: identity + "{replicas: 2, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}", owned: `{"f:spec":{"f:replicas":{}}}`,
			wanted: identity + "{replicas: 3, strategy: {type: Recreate}}}", steps: 2,
		},
		"a variable's source": {
			live:  identity + "{" + inContainer("image: a, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"),
			owned: strings.Replace(itemOwned, "%", `"f:image":{}`, 1), wanted: identity + "{" + inContainer("image: a, env: [{name: A, value: x}]"), steps: 2,
		},
		"a port of the same name": {
			live:  identity + "{" + inContainer("image: a, ports: [{containerPort: 9090, protocol: TCP, name: app}]"),
			owned: strings.Replace(itemOwned, "%", `"f:image":{}`, 1), wanted: identity + "{" + inContainer("image: a, ports: [{containerPort: 8080, name: app}]"), steps: 2,
		},
		"replicas that are handed over": {
			live: identity + "{replicas: 2, paused: true}}", owned: `{"f:spec":{"f:replicas":{},"f:paused":{}}}`, wanted: identity + "{paused: true}}", steps: 2,
		},
		"replicas that are taken back": {
			live: identity + "{replicas: 2, paused: true}}", owned: `{"f:spec":{"f:paused":{}}}`, handedOver: `{"f:spec":{"f:replicas":{}}}`,
			wanted: identity + "{replicas: 4, paused: true}}", steps: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			schemas := cli.TypesOf(cli.DeploymentObject)
			server := fieldserver.New(schemas, cli.DeploymentObject.GroupVersionKind())
			if err := server.ForceApply("somebody", tc.live); err != nil {
				t.Fatal(err)
			}
			entry := func(manager, fields string) metav1.ManagedFieldsEntry {
				return metav1.ManagedFieldsEntry{
					Manager: manager, Operation: "Apply", APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
				}
			}
			entries := []metav1.ManagedFieldsEntry{entry(v1alpha1.FieldManager, tc.owned)}
			if tc.handedOver != "" {
				entries = append(entries, entry(v1alpha1.FieldManagerHandover, tc.handedOver))
			}
			if err := server.Rewrite(entries); err != nil {
				t.Fatal(err)
			}
			before := live(t, server)
			intent, err := ownership.NewIntent(schemas, operator, object(t, tc.wanted))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := transition.For(schemas, intent, before, v1alpha1.ConflictAbort)
			if err != nil || len(plan.Steps) != tc.steps {
				t.Fatalf("the plan is %+v, %v", plan, err)
			}
			short, err := shorten(plan, &children.Child{Object: cli.DeploymentObject, Live: before, Intent: intent})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range plan.Steps {
				if err := server.ApplyObject(step.Manager().Name, step.Object()); err != nil {
					t.Fatal(err)
				}
			}
			after := live(t, server)
			if diff := cmp.Diff(bare(after), bare(short.net)); diff != "" {
				t.Errorf("the net effect differs from that of all steps (-steps +net):\n%s", diff)
			}
			if cmp.Equal(bare(before), bare(after)) && !strings.Contains(name, "handed over") {
				t.Error("nothing has changed")
			}
		})
	}
}

// bare returns what is compared of an object.
func bare(object *unstructured.Unstructured) any { return object.Object["spec"] }

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	object := &unstructured.Unstructured{}
	if err == nil {
		err = object.UnmarshalJSON(encoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func TestExternalProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	for script, want := range map[string]string{
		"cat \"$2\"/* \"$3\"/*; echo \"$1\"; exit 1": "before\nafter\n--flag\n",
		"exit 0": "",
		"exit 3": `error: running "` + program + ` --flag", as KUBECTL_EXTERNAL_DIFF says: exit status 3`,
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		d := &differ{streams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, external: program + " --flag"}
		if err := d.write(t.Context(), "deployment/web", []byte("before\n"), []byte("after\n")); err != nil {
			out.WriteString("error: " + err.Error())
		}
		if out.String() != want {
			t.Errorf("got  %s\nwant %s", out.String(), want)
		}
	}
}

func show(t *testing.T, outcome *Outcome, hide bool) string {
	t.Helper()
	before, after, err := outcome.documents(hide)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString(outcome.comments(hide))
	d := &differ{streams: genericiooptions.IOStreams{Out: &out}}
	if err := d.write(t.Context(), outcome.Child.Reference(), before, after); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func apply(t *testing.T, server *fieldserver.Server, object cli.Object, app *v1alpha1.Application) {
	t.Helper()
	intent, err := children.Wanted(app, object)
	if err == nil {
		err = server.ApplyObject(v1alpha1.FieldManager, intent.Object())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func live(t *testing.T, server *fieldserver.Server) *unstructured.Unstructured {
	t.Helper()
	object, err := server.Live()
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func application(t *testing.T, spec string) *v1alpha1.Application {
	t.Helper()
	app := &v1alpha1.Application{}
	if err := yaml.Unmarshal([]byte("{metadata: {name: web, namespace: shop, uid: u-1}, spec: "+spec+"}"), app); err != nil {
		t.Fatal(err)
	}
	return app
}
