package ownership

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

const (
	imageOnly     = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:image":{}}}}}}}`
	imageAndItem  = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`
	itemOnly      = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{}}}}}}}`
	replicasOnly  = `{"f:spec":{"f:replicas":{}}}`
	imagePath     = `.spec.template.spec.containers[name="app"].image`
	replicasPath  = ".spec.replicas"
	notAnEntry    = `{"f:spec":`
	untouchedDate = "2026-01-02T03:04:05Z"
)

func updater(name string) Manager { return Manager{Name: name, Operation: updated} }

var others = func(m Manager) bool { return m != us }

func TestRewrite(t *testing.T) {
	at, err := time.Parse(time.RFC3339, untouchedDate)
	if err != nil {
		t.Fatal(err)
	}
	dated := entry("old", updated, "", imageOnly)
	dated.Time = &metav1.Time{Time: at}
	older := entry("kubectl", updated, "", replicasOnly)
	older.APIVersion = "apps/v1beta2"
	kubectl := entry("kubectl", updated, "", imageOnly)
	kubectl.Time = dated.Time

	for name, tc := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		rewrite func(*Rewrite)
		want    []metav1.ManagedFieldsEntry
		// operations are those of the patch, without the test of the resourceVersion.
		operations []string
		err        error
	}{
		"nothing to do": {
			entries: []metav1.ManagedFieldsEntry{entry(us.Name, applied, "", replicasOnly)},
			rewrite: func(r *Rewrite) { r.Drop(set(t, replicasPath), others) },
			want:    []metav1.ManagedFieldsEntry{entry(us.Name, applied, "", replicasOnly)},
		},
		"an entry that has nothing else goes": {
			entries:    []metav1.ManagedFieldsEntry{entry("kubectl", updated, "scale", replicasOnly), entry(us.Name, applied, "", imageAndItem)},
			rewrite:    func(r *Rewrite) { r.Drop(set(t, replicasPath), others) },
			want:       []metav1.ManagedFieldsEntry{entry(us.Name, applied, "", imageAndItem)},
			operations: []string{"test /0", "remove /0"},
		},
		"the item stays, and its keys": {
			entries:    []metav1.ManagedFieldsEntry{entry(us.Name, applied, "", replicasOnly), entry("helm", applied, "", imageAndItem)},
			rewrite:    func(r *Rewrite) { r.Drop(set(t, imagePath), others) },
			want:       []metav1.ManagedFieldsEntry{entry(us.Name, applied, "", replicasOnly), entry("helm", applied, "", itemOnly)},
			operations: []string{"test /1", "replace /1/fieldsV1"},
		},
		"all owners lose it, at any version, and the last goes first": {
			entries:    []metav1.ManagedFieldsEntry{older, entry("kubectl", updated, "", replicasOnly), entry("helm", applied, "", replicasOnly), dated},
			rewrite:    func(r *Rewrite) { r.Drop(set(t, replicasPath), others) },
			want:       []metav1.ManagedFieldsEntry{dated},
			operations: []string{"test /2", "remove /2", "test /1", "remove /1", "test /0", "remove /0"},
		},
		"entries of one identity lose it as well": {
			entries:    []metav1.ManagedFieldsEntry{entry("kubectl", updated, "", replicasOnly), entry("kubectl", updated, "", replicasOnly), dated},
			rewrite:    func(r *Rewrite) { r.Drop(set(t, replicasPath), others) },
			want:       []metav1.ManagedFieldsEntry{dated},
			operations: []string{"test /1", "remove /1", "test /0", "remove /0"},
		},
		"a field is added to the entry that there is": {
			entries:    []metav1.ManagedFieldsEntry{entry(us.Name, applied, "", replicasOnly), entry("helm", applied, "", itemOnly)},
			rewrite:    func(r *Rewrite) { r.Add(set(t, imagePath), Applier("helm"), "apps/v1", metav1.Now()) },
			want:       []metav1.ManagedFieldsEntry{entry(us.Name, applied, "", replicasOnly), entry("helm", applied, "", imageAndItem)},
			operations: []string{"test /1", "replace /1/fieldsV1"},
		},
		"what is owned already is not added": {
			entries: []metav1.ManagedFieldsEntry{entry("helm", applied, "", imageAndItem)},
			rewrite: func(r *Rewrite) { r.Add(set(t, imagePath), Applier("helm"), "apps/v1", metav1.Now()) },
			want:    []metav1.ManagedFieldsEntry{entry("helm", applied, "", imageAndItem)},
		},
		"the way to write makes another manager": {
			entries:    []metav1.ManagedFieldsEntry{entry("helm", applied, "", imageAndItem)},
			rewrite:    func(r *Rewrite) { r.Add(set(t, imagePath), updater("old"), "apps/v1", metav1.Time{Time: at}) },
			want:       []metav1.ManagedFieldsEntry{entry("helm", applied, "", imageAndItem), dated},
			operations: []string{"add /-"},
		},
		"another version takes another entry": {
			entries:    []metav1.ManagedFieldsEntry{older},
			rewrite:    func(r *Rewrite) { r.Add(set(t, imagePath), updater("kubectl"), "apps/v1", metav1.Time{Time: at}) },
			want:       []metav1.ManagedFieldsEntry{older, kubectl},
			operations: []string{"add /-"},
		},
		"an entry that was empty before stays": {
			entries:    []metav1.ManagedFieldsEntry{entry("idle", applied, "", "{}"), entry("kubectl", updated, "", replicasOnly)},
			rewrite:    func(r *Rewrite) { r.Drop(set(t, replicasPath), others) },
			want:       []metav1.ManagedFieldsEntry{entry("idle", applied, "", "{}")},
			operations: []string{"test /1", "remove /1"},
		},
		"a move": {
			entries: []metav1.ManagedFieldsEntry{entry(us.Name, applied, "", replicasOnly)},
			rewrite: func(r *Rewrite) {
				r.Add(set(t, replicasPath), updater("old"), "apps/v1", metav1.Time{Time: at})
				r.Drop(set(t, replicasPath), func(m Manager) bool { return m == us })
			},
			want: []metav1.ManagedFieldsEntry{{
				Manager: "old", Operation: updated, APIVersion: "apps/v1", FieldsType: fieldsV1, Time: &metav1.Time{Time: at}, FieldsV1: metav1.NewFieldsV1(replicasOnly),
			}},
			operations: []string{"test /0", "remove /0", "add /-"},
		},
		"the last claim": {
			entries: []metav1.ManagedFieldsEntry{entry("kubectl", updated, "", replicasOnly)},
			rewrite: func(r *Rewrite) { r.Drop(set(t, replicasPath), others) },
			err:     ErrLastClaim,
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "42", ManagedFields: tc.entries}}
			before := live.DeepCopy()
			rewrite, err := NewRewrite(live)
			if err != nil {
				t.Fatal(err)
			}
			tc.rewrite(rewrite)
			patch, err := rewrite.Patch()
			if !errors.Is(err, tc.err) {
				t.Fatalf("got error %v, want %v", err, tc.err)
			}
			wantEqual(t, "the live object", live, before)
			if err != nil {
				return
			}
			entries, err := rewrite.Entries()
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "the record", entries, tc.want)
			patched, operations := play(t, patch, live)
			wantEqual(t, "the patched record", patched, tc.want)
			wantEqual(t, "the operations", operations, tc.operations)
		})
	}
}

func TestRewriteNamesTheLosers(t *testing.T) {
	live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry("kubectl", updated, "scale", replicasOnly), entry(us.Name, applied, "", replicasOnly),
		entry("helm", applied, "", replicasOnly), entry("idle", applied, "", imageOnly),
		entry("kubectl", updated, "scale", replicasOnly), // of one identity, as an unchanged scale leaves them
	}}}
	rewrite, err := NewRewrite(live)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "losers", rewrite.Drop(set(t, replicasPath), others),
		[]Manager{Applier("helm"), {Name: "kubectl", Operation: updated, Subresource: "scale"}})
	if again := rewrite.Drop(set(t, replicasPath), others); len(again) > 0 {
		t.Errorf("%v lose what they have lost already", again)
	}
}

func TestRewriteNeedsARecord(t *testing.T) {
	for name, entries := range map[string][]metav1.ManagedFieldsEntry{
		"none":       nil,
		"unreadable": {entry("helm", applied, "", imageOnly), entry("kubectl", updated, "", notAnEntry)},
	} {
		_, err := NewRewrite(&metav1.ObjectMeta{ManagedFields: entries})
		if !errors.Is(err, ErrNoRecord) {
			t.Errorf("%s: got %v, want ErrNoRecord", name, err)
		}
		if entryError := (*EntryError)(nil); errors.As(err, &entryError) != (name == "unreadable") {
			t.Errorf("%s: the error does not tell the entry: %v", name, err)
		}
	}
}

// TestRewriteLeavesValuesAlone plays a rewrite against the API server's own field manager.
func TestRewriteLeavesValuesAlone(t *testing.T) {
	h := newHistory(t).
		apply("helm", "spec: {replicas: 5, template: {spec: {containers: [{name: app, image: theirs}]}}}").
		apply(us.Name, "metadata: {labels: {app: web}}")
	rewrite, err := NewRewrite(h.live())
	if err != nil {
		t.Fatal(err)
	}
	rewrite.Drop(set(t, imagePath, replicasPath), others)
	entries, err := rewrite.Entries()
	if err != nil {
		t.Fatal(err)
	}
	h.update("kubectl-application", func(content map[string]any) {
		var encoded []any
		raw, err := json.Marshal(entries)
		if err == nil {
			err = json.Unmarshal(raw, &encoded)
		}
		if err != nil {
			t.Fatal(err)
		}
		content["metadata"].(map[string]any)["managedFields"] = encoded
	})
	managed, err := Parse(h.live().ManagedFields)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "helm's fields", paths(managed.Fields(Applier("helm"))), []string{`.spec.template.spec.containers[name="app"]`, `.spec.template.spec.containers[name="app"].name`})
	if owned := managed.union(func(e Entry) bool { return e.Name == "kubectl-application" }); !owned.Empty() {
		t.Errorf("who rewrites comes to own %v", owned)
	}
	h.apply(us.Name, "metadata: {labels: {app: web}}\nspec: {replicas: 2, template: {spec: {containers: [{name: app, image: ours}]}}}")
}

// FuzzRewrite: whatever stands in managedFields, a rewrite takes exactly what it is told to, and what it makes can be read.
func FuzzRewrite(f *testing.F) {
	for _, fields := range []string{imageOnly, imageAndItem, itemOnly, replicasOnly, notAnEntry, `{"f:spec":{".":{},"f:replicas":{},"v:1":{},"i:3":{}}}`} {
		f.Add("helm", "Apply", "", "apps/v1", fields, replicasOnly)
		f.Add(us.Name, "Update", "scale", "", replicasOnly, fields)
	}
	f.Fuzz(func(t *testing.T, manager, operation, subresource, version, fields, more string) {
		first := entry(manager, metav1.ManagedFieldsOperationType(operation), subresource, fields)
		first.APIVersion = version
		// What arrives here has come as JSON.
		sent, err := json.Marshal(metav1.ObjectMeta{ResourceVersion: "1", ManagedFields: []metav1.ManagedFieldsEntry{first, entry("kubectl", updated, "", more)}})
		if err != nil {
			return
		}
		live := &metav1.ObjectMeta{}
		if err := json.Unmarshal(sent, live); err != nil {
			t.Fatal(err)
		}
		rewrite, err := NewRewrite(live)
		if err != nil {
			return
		}
		before, err := Parse(live.ManagedFields)
		if err != nil {
			t.Fatalf("a record that can be rewritten cannot be read: %v", err)
		}
		taken := set(t, replicasPath, imagePath)
		losers := rewrite.Drop(taken, others)
		rewrite.Add(set(t, imagePath), us, "apps/v1", metav1.Unix(1, 0).Rfc3339Copy())
		patch, err := rewrite.Patch()
		if err != nil {
			t.Fatal(err)
		}
		entries, err := rewrite.Entries()
		if err != nil {
			t.Fatal(err)
		}
		patched, _ := play(t, patch, live)
		wantEqual(t, "the patched record", patched, entries)
		if err := managedfields.ValidateManagedFields(entries); err != nil {
			t.Fatalf("the API server cannot read it: %v", err)
		}
		after, err := Parse(entries)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range before {
			want := e.Fields
			if e.Manager != us {
				want = want.Difference(taken)
			}
			if e.Manager == us {
				continue
			}
			if got := after.filter(func(a Entry) bool { return a.identity() == e.identity() }).Fields(e.Manager); !got.Equals(want) {
				t.Errorf("%s had %v, has %v", e.Manager, e.Fields, got)
			}
			if lost := !want.Equals(e.Fields); lost != slices.Contains(losers, e.Manager) && lost {
				t.Errorf("%s lost something, and is not among %v", e.Manager, losers)
			}
		}
	})
}

// play applies a patch to managedFields, as far as rewrites use JSON patches.
func play(t *testing.T, patch []byte, live metav1.Object) (entries []metav1.ManagedFieldsEntry, operations []string) {
	t.Helper()
	var steps []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(patch, &steps); err != nil {
		t.Fatal(err)
	}
	if steps[0].Op != "test" || steps[0].Path != "/metadata/resourceVersion" || string(steps[0].Value) != strconv.Quote(live.GetResourceVersion()) {
		t.Fatalf("the patch begins with %+v", steps[0])
	}
	entries = slices.Clone(live.GetManagedFields())
	for _, step := range steps[1:] {
		path, found := strings.CutPrefix(step.Path, "/metadata/managedFields")
		if !found {
			t.Fatalf("the patch touches %s", step.Path)
		}
		operations = append(operations, step.Op+" "+path)
		index, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		var value metav1.ManagedFieldsEntry
		if step.Op != "remove" && rest == "" {
			if err := json.Unmarshal(step.Value, &value); err != nil {
				t.Fatal(err)
			}
		}
		if step.Op == "add" {
			entries = append(entries, value)
			continue
		}
		i, err := strconv.Atoi(index)
		if err != nil || i >= len(entries) {
			t.Fatalf("there is no entry %q", index)
		}
		switch step.Op {
		case "test":
			// As the API server compares: as JSON.
			is, err := json.Marshal(entries[i])
			if err != nil || string(is) != string(step.Value) {
				t.Fatalf("entry %d is %s, %v; the patch expects %s", i, is, err, step.Value)
			}
		case "remove":
			entries = slices.Delete(entries, i, i+1)
		case "replace":
			entries[i].FieldsV1 = metav1.NewFieldsV1(string(step.Value))
		}
	}
	return entries, operations
}
