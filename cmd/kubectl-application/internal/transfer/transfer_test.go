package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
	"mycompany.io/application-operator/test/fieldserver"
)

const (
	ourSpec   = "{image: ours, replicas: 3, env: [{name: A, value: ours}], args: [ours]}"
	app       = `.spec.template.spec.containers[name="app"]`
	image     = app + ".image"
	variable  = app + `.env[name="A"].value`
	replicas  = ".spec.replicas"
	theirs    = "spec: {replicas: 7, template: {spec: {containers: [{name: app, image: theirs, imagePullPolicy: Always}]}}}"
	sameValue = "spec: {replicas: 3}"
)

// world is an Application's Deployment on a server.
type world struct {
	t      *testing.T
	server *fieldserver.Server
}

// newWorld returns a Deployment that the operator has applied.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, server: fieldserver.New(cli.TypesOf(cli.DeploymentObject), cli.DeploymentObject.GroupVersionKind())}
	w.reconcile(ourSpec)
	return w
}

// reconcile applies as the operator does, and returns the contested fields.
func (w *world) reconcile(spec string) []ownership.Conflict {
	w.t.Helper()
	intent, err := children.Wanted(w.application(spec), cli.DeploymentObject)
	if err == nil {
		err = w.server.ApplyObject(v1alpha1.FieldManager, intent.Object())
	}
	conflicts, contested := ownership.FromError(err)
	if err != nil && !contested {
		w.t.Fatal(err)
	}
	return conflicts
}

func (w *world) force(manager, config string) *world {
	w.t.Helper()
	if err := w.server.ForceApply(manager, config); err != nil {
		w.t.Fatal(err)
	}
	return w
}

func (w *world) update(manager string, change func(map[string]any)) *world {
	w.t.Helper()
	if err := w.server.Update(manager, change); err != nil {
		w.t.Fatal(err)
	}
	return w
}

func (w *world) child(spec string) *children.Child {
	w.t.Helper()
	live, err := w.server.Live()
	if err != nil {
		w.t.Fatal(err)
	}
	child, err := children.New(w.application(spec), cli.DeploymentObject, live)
	if err != nil {
		w.t.Fatal(err)
	}
	return child
}

// do plays a change.
func (w *world) do(change *Change, err error) *Change {
	w.t.Helper()
	if err == nil {
		err = w.server.Rewrite(change.After.Live.GetManagedFields())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return change
}

// state tells the value of a field and its owners.
func (w *world) state(path string) string {
	w.t.Helper()
	child := w.child(ourSpec)
	parsed, err := child.Intent.ParsePath(path)
	if err != nil {
		w.t.Fatal(err)
	}
	value, _, err := child.Intent.LiveValue(child.Live, parsed)
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%v: %s", value, owners(child.Live.GetManagedFields(), parsed))
}

func (w *world) application(spec string) *v1alpha1.Application {
	w.t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte("{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: web, namespace: shop, uid: u-1}, spec: " + spec + "}"))
	object := &unstructured.Unstructured{}
	if err == nil {
		err = object.UnmarshalJSON(encoded)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	app, err := cli.AsApplication(object)
	if err != nil {
		w.t.Fatal(err)
	}
	return app
}

func TestTake(t *testing.T) {
	t.Run("a contested field", func(t *testing.T) {
		w := newWorld(t).force("helm", theirs)
		change := w.do(Take(w.child(ourSpec), []string{image}))
		is(t, "who loses", words.Managers(change.Fields[0].From), `"helm" (Apply)`)
		is(t, "then", w.state(image), "theirs: nobody")
		is(t, "what is left of helm's", w.state(app+".imagePullPolicy"), `Always: "helm" (Apply)`)
		is(t, "conflicts", fmt.Sprint(w.reconcile(ourSpec)), `[.spec.replicas ("helm" by Apply)]`)
	})
	t.Run("several at once, from all owners", func(t *testing.T) {
		w := newWorld(t).force("helm", theirs).force("gitops", theirs)
		change := w.do(Take(w.child(ourSpec), []string{image, replicas}))
		is(t, "who loses", words.Managers(change.Fields[1].From), `"gitops" (Apply) and "helm" (Apply)`)
		is(t, "conflicts", fmt.Sprint(w.reconcile(ourSpec)), "[]")
		is(t, "image", w.state(image), `ours: "application-operator" (Apply)`)
		is(t, "replicas", w.state(replicas), `3: "application-operator" (Apply)`)
	})
	t.Run("a count of 0, which would count as scaled to zero if nobody owned it", func(t *testing.T) {
		w := newWorld(t).force("helm", "spec: {replicas: 0}")
		w.do(Take(w.child(ourSpec), []string{replicas}))
		is(t, "then", w.state(replicas), `0: "application-operator" (Apply)`)
		is(t, "conflicts", fmt.Sprint(w.reconcile(ourSpec)), "[]")
		is(t, "at last", w.state(replicas), `3: "application-operator" (Apply)`)
	})
	t.Run("a shared field", func(t *testing.T) {
		w := newWorld(t).force("helm", sameValue)
		w.do(Take(w.child(ourSpec), []string{replicas}))
		is(t, "then", w.state(replicas), `3: "application-operator" (Apply)`)
	})
	t.Run("the operator's own former name", func(t *testing.T) {
		w := newWorld(t).update("application-operator", func(d map[string]any) { d["spec"].(map[string]any)["replicas"] = int64(5) })
		change := w.do(Take(w.child(ourSpec), []string{replicas}))
		is(t, "who loses", words.Managers(change.Fields[0].From), `"application-operator" (Update)`)
	})
	t.Run("nothing to do", func(t *testing.T) {
		w := newWorld(t)
		change, err := Take(w.child(ourSpec), []string{image})
		if err != nil || len(change.Patch) > 0 {
			t.Errorf("got %s, %v", change.Patch, err)
		}
	})
	t.Run("the hand-over manager keeps what it holds for the operator", func(t *testing.T) {
		w := newWorld(t).force(v1alpha1.FieldManagerHandover, "spec: {replicas: 5}")
		change, err := Take(w.child(ourSpec), []string{replicas})
		if err != nil || len(change.Patch) > 0 {
			t.Errorf("got %s, %v", change.Patch, err)
		}
	})
}

// TestPartial: fields of spec.deployment are taken and released like all others.
func TestPartial(t *testing.T) {
	const (
		with    = "{image: ours, deployment: {spec: {template: {spec: {containers: [{name: proxy, image: ours, args: [ours]}]}}}}}"
		without = "{image: ours, deployment: {spec: {template: {spec: {containers: [{name: proxy, image: ours}]}}}}}"
		proxy   = `.spec.template.spec.containers[name="proxy"]`
	)
	w := newWorld(t)
	w.reconcile(with)
	w.force("injector", "spec: {template: {spec: {containers: [{name: proxy, image: theirs}]}}}")
	w.do(Take(w.child(with), []string{proxy + ".image"}))
	is(t, "conflicts", fmt.Sprint(w.reconcile(with)), "[]")
	is(t, "taken", w.state(proxy+".image"), `ours: "application-operator" (Apply)`)

	if _, err := Release(w.child(with), []string{proxy + ".args"}, nil); err == nil || !strings.Contains(err.Error(), "and then remove .spec.deployment"+proxy+".args from the Application") {
		t.Errorf("released to nobody: %v", err)
	}
	w.do(Release(w.child(with), []string{proxy + ".args"}, &Recipient{Name: "injector"}))
	is(t, "shared", w.state(proxy+".args"), `[ours]: "application-operator" (Apply) and "injector" (Apply)`)
	is(t, "conflicts", fmt.Sprint(w.reconcile(without)), "[]")
	is(t, "released", w.state(proxy+".args"), `[ours]: "injector" (Apply)`)

	_, err := Take(w.child(with), []string{proxy + ".stdin"})
	if err == nil || !strings.Contains(err.Error(), "set .spec.deployment"+proxy+".stdin of the Application first") {
		t.Errorf("took what is not wanted: %v", err)
	}
}

// TestTakeOfWhatExcludes: the operator wants no value there, but the field has to go for another one.
func TestTakeOfWhatExcludes(t *testing.T) {
	w := newWorld(t).update("kubectl-edit", func(d map[string]any) {
		pod := d["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		variable := pod["containers"].([]any)[0].(map[string]any)["env"].([]any)[0].(map[string]any)
		delete(variable, "value")
		variable["valueFrom"] = map[string]any{"configMapKeyRef": map[string]any{"name": "c", "key": "k"}}
	})
	_, err := Take(w.child(ourSpec), []string{app + `.env[name="A"].valueFrom.configMapKeyRef`})
	want := `it belongs to "kubectl-edit" (Update), and excludes what the Application wants of ` + variable + `. ` +
		`Let its owner remove it, or remove it yourself: "kubectl application conflicts web" prints how`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestRelease(t *testing.T) {
	helm := &Recipient{Name: "helm"}
	t.Run("what the spec wants is shared, and left when it goes", func(t *testing.T) {
		w := newWorld(t)
		change := w.do(Release(w.child(ourSpec), []string{variable}, helm))
		is(t, "who gains", words.Managers([]ownership.Manager{*change.Fields[0].To}), `"helm" (Apply)`)
		is(t, "then", w.state(variable), `ours: "application-operator" (Apply) and "helm" (Apply)`)
		is(t, "conflicts", fmt.Sprint(w.reconcile(ourSpec)), "[]")
		w.reconcile("{image: ours}")
		is(t, "in the end", w.state(variable), `ours: "helm" (Apply)`)
		is(t, "the rest", w.state(app+".args"), "<nil>: nobody")
	})
	t.Run("to a manager that updates", func(t *testing.T) {
		w := newWorld(t).update("autoscaler", func(d map[string]any) {
			d["metadata"].(map[string]any)["annotations"] = map[string]any{"a": "b"}
		})
		w.do(Release(w.child(ourSpec), []string{replicas}, &Recipient{Name: "autoscaler"}))
		is(t, "then", w.state(replicas), `3: "application-operator" (Apply) and "autoscaler" (Update)`)
	})
	t.Run("a way to write that was chosen", func(t *testing.T) {
		w := newWorld(t)
		w.do(Release(w.child(ourSpec), []string{replicas}, &Recipient{Name: "x", Operation: metav1.ManagedFieldsOperationUpdate}))
		is(t, "then", w.state(replicas), `3: "application-operator" (Apply) and "x" (Update)`)
	})
	t.Run("what the spec does not want any more goes at once", func(t *testing.T) {
		w := newWorld(t)
		w.do(Release(w.child("{image: ours}"), []string{replicas, variable}, nil))
		is(t, "replicas", w.state(replicas), "3: nobody")
		w.reconcile("{image: ours}")
		is(t, "replicas in the end", w.state(replicas), "3: nobody")
		is(t, "the variable in the end", w.state(variable), "ours: nobody")
	})
	t.Run("and to somebody", func(t *testing.T) {
		w := newWorld(t)
		w.do(Release(w.child("{image: ours}"), []string{replicas}, helm))
		is(t, "then", w.state(replicas), `3: "helm" (Apply)`)
	})
	t.Run("what the hand-over manager holds", func(t *testing.T) {
		w := newWorld(t)
		w.reconcile("{image: ours}")
		w.force(v1alpha1.FieldManagerHandover, "spec: {replicas: 5}")
		w.do(Release(w.child("{image: ours}"), []string{replicas}, helm))
		is(t, "then", w.state(replicas), `5: "helm" (Apply)`)
	})
	t.Run("a field that is shared already", func(t *testing.T) {
		w := newWorld(t).force("helm", sameValue)
		change, err := Release(w.child(ourSpec), []string{replicas}, helm)
		if err != nil || len(change.Patch) > 0 {
			t.Errorf("got %s, %v", change.Patch, err)
		}
	})
}

func TestRefusals(t *testing.T) {
	take := func(fields ...string) func(*children.Child) (*Change, error) {
		return func(c *children.Child) (*Change, error) { return Take(c, fields) }
	}
	release := func(to *Recipient, fields ...string) func(*children.Child) (*Change, error) {
		return func(c *children.Child) (*Change, error) { return Release(c, fields, to) }
	}
	for name, tc := range map[string]struct {
		change func(*children.Child)
		plan   func(*children.Child) (*Change, error)
		want   string
	}{
		"no path":                         {plan: take("replicas"), want: `nothing can be at "replicas": paths look like .spec.template`},
		"an item":                         {plan: take(app), want: app + ` is no single field: name one of ` + app + `.args, ` + variable + `, ` + image},
		"a key":                           {plan: take(app + ".name"), want: `is the key of a list item`},
		"one by its place":                {plan: take(".spec.template.spec.containers[0].env[0].value"), want: ".spec.template.spec.containers[0].env[0].value: entries of this list are told by their keys, and not by their place: the one there now is " + variable},
		"one by a place where nothing is": {plan: take(".spec.template.spec.containers[7].image"), want: "the Application wants nothing at .spec.template.spec.containers[7].image"},
		"an unwanted one":                 {plan: take(app + ".imagePullPolicy"), want: "the Application wants nothing at " + app + ".imagePullPolicy of deployment/web, so the operator would not own it: set .spec.imagePullPolicy of the Application first"},
		"one of no short field":           {plan: take(".spec.paused"), want: "set .spec.deployment.spec.paused of the Application first"},
		"one that is never wanted":        {plan: take(".metadata.finalizers"), want: "no field of the Application's spec is about it, and it stays with those who own it"},
		"no child":                        {change: func(c *children.Child) { c.Live = nil }, plan: take(replicas), want: "there is no deployment/web yet"},
		"no wish":                         {change: func(c *children.Child) { c.Intent = nil }, plan: take(replicas), want: "the Application wants no Deployment"},
		"a stranger":                      {change: func(c *children.Child) { c.Live.SetOwnerReferences(nil) }, plan: take(replicas), want: "deployment/web does not belong to this Application"},
		"one that goes":                   {change: func(c *children.Child) { c.Live.SetDeletionTimestamp(&metav1.Time{Time: fieldserver.Moment}) }, plan: take(replicas), want: "is being deleted"},
		"no record":                       {change: func(c *children.Child) { c.Live.SetManagedFields(nil) }, plan: take(replicas), want: "metadata.managedFields of deployment/web cannot be read"},
		"the last claim": {change: func(c *children.Child) {
			c.Live.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x", Operation: "Update", APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)}})
		}, plan: take(replicas), want: "no other field of deployment/web has an owner on record"},

		"replicas to nobody": {plan: release(nil, replicas), want: "the operator would own it again at once: remove .spec.replicas from the Application, and the operator hands it over"},
		"an image to nobody": {plan: release(nil, image), want: "since .spec.image cannot be removed from the Application"},
		"args to nobody":     {plan: release(nil, app+".args"), want: "name who shall have it with --to, and then remove .spec.args from the Application"},
		"what is shared already, to nobody": {change: func(c *children.Child) {
			shared := record(c)[0]
			entries := c.Live.GetManagedFields()
			for i := range entries {
				if entries[i].Manager == shared.Name {
					copied := entries[i]
					copied.Manager = "sharer"
					c.Live.SetManagedFields(append(entries, copied))
				}
			}
		}, plan: release(nil, replicas), want: `remove .spec.replicas from the Application, and the operator lets go of it; the value stays, since "sharer" (Apply) owns it as well`},
		"a label to nobody":  {plan: release(nil, ".metadata.labels.app"), want: "no field of the Application's spec is about it, so the two will share it"},
		"what others own":    {plan: release(&Recipient{Name: "x"}, app+".imagePullPolicy"), want: `the operator does not own ` + app + `.imagePullPolicy of deployment/web, so there is nothing to release: it belongs to "helm" (Apply)`},
		"what nobody owns":   {plan: release(&Recipient{Name: "x"}, ".spec.paused"), want: "nobody does"},
		"to the operator":    {plan: release(&Recipient{Name: "application-operator-handover"}, replicas), want: "is the operator itself"},
		"to nobody by name":  {plan: release(&Recipient{}, replicas), want: `"" is no name of a manager`},
		"to a name too long": {plan: release(&Recipient{Name: strings.Repeat("x", 129)}, replicas), want: "use 1 to 128 printable characters"},
		"to one of two":      {plan: release(&Recipient{Name: "twice"}, replicas), want: `"twice" writes in several ways, as "twice" (Apply) and "twice" (Update): choose one with --to-operation`},
		"to a strange name":  {plan: release(&Recipient{Name: "a\nb"}, replicas), want: "is no name of a manager"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).force("helm", "spec: {template: {spec: {containers: [{name: app, imagePullPolicy: Always}]}}}").
				force("twice", "metadata: {annotations: {a: b}}").
				update("twice", func(d map[string]any) { d["metadata"].(map[string]any)["annotations"].(map[string]any)["c"] = "d" })
			child := w.child(ourSpec)
			if tc.change != nil {
				tc.change(child)
			}
			change, err := tc.plan(child)
			if refusal := (*RefusalError)(nil); !errors.As(err, &refusal) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v\nwant %s", change, err, tc.want)
			}
		})
	}
}

// FuzzTransfer: whatever stands in managedFields, a transfer has a patch of JSON or a reason, and takes nothing beside the field.
func FuzzTransfer(f *testing.F) {
	for _, fields := range []string{
		`{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{".":{},"f:replicas":{".":{},"f:x":{}}}}`, `{}`, `null`, `{"f:spec":3}`,
		`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{},"f:image":{}},"k:{\"name\":7}":{}}}}}}`,
	} {
		f.Add("helm", "Apply", "", "apps/v1", fields, image, "helm")
		f.Add("application-operator", "Update", "scale", "apps/v1", fields, replicas, "new")
	}
	var once sync.Once
	var base *children.Child
	f.Fuzz(func(t *testing.T, manager, operation, subresource, version, fields, path, to string) {
		if !json.Valid([]byte(fields)) {
			return // an object has come as JSON
		}
		once.Do(func() { base = newWorld(t).force("gitops", theirs).child(ourSpec) })
		child := base.WithRecord(append(base.Live.GetManagedFields(), metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), Subresource: subresource,
			APIVersion: version, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}))
		taken, takeErr := Take(child, []string{path})
		given, giveErr := Release(child, []string{path}, &Recipient{Name: to})
		for change, err := range map[*Change]error{taken: takeErr, given: giveErr} {
			if err == nil && len(change.Patch) > 0 && !json.Valid(change.Patch) {
				t.Errorf("the patch is no JSON: %s", change.Patch)
			}
		}
		if takeErr != nil || len(taken.Patch) == 0 {
			return
		}
		before, after := record(child), record(taken.After)
		for _, entry := range before {
			lost := entry.Fields.Difference(after.Fields(entry.Manager))
			lost.Iterate(func(p fieldpath.Path) {
				if p.String() != taken.Fields[0].Path.String() {
					t.Errorf("%s lost %s", entry.Manager, p)
				}
			})
		}
	})
}

func is(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}
