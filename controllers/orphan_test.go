package controllers

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// TestOrphan: which children are let go, and which are missed, when an Application that orphans them is deleted.
func TestOrphan(t *testing.T) {
	withoutOwner := func(child client.Object) { child.SetOwnerReferences(nil) }
	for _, c := range []struct {
		name    string
		change  func(app *v1alpha1.Application, s *server)
		patched []string
		lost    string // the children that the Event names, or none
	}{
		{"both are there", func(*v1alpha1.Application, *server) {}, []string{"patch Deployment", "patch Service"}, ""},
		{"the cache has lost them", func(_ *v1alpha1.Application, s *server) {
			delete(s.cached, "Deployment")
			delete(s.cached, "Service")
		}, []string{"patch Deployment", "patch Service"}, ""},
		{"one is gone", func(_ *v1alpha1.Application, s *server) { delete(s.stored, "Service") }, []string{"patch Deployment"}, "Service web"},
		{"both are going", func(_ *v1alpha1.Application, s *server) {
			for _, child := range []string{"Deployment", "Service"} {
				s.stored[child].SetDeletionTimestamp(&metav1.Time{Time: start})
			}
		}, nil, "Deployment web and Service web"},
		{"one was never wanted", func(app *v1alpha1.Application, s *server) {
			app.Spec.Expose = ""
			delete(s.stored, "Service")
		}, []string{"patch Deployment"}, ""},
		{"nothing was ever wanted of an invalid spec", func(app *v1alpha1.Application, s *server) {
			app.Spec.Deployment = rawJSON(`{"spec": {"paused": 1}}`)
			delete(s.stored, "Service")
		}, []string{"patch Deployment"}, ""},
		{"one has another controller", func(_ *v1alpha1.Application, s *server) { s.stored["Deployment"].GetOwnerReferences()[0].UID = "other" },
			[]string{"patch Service"}, ""},
		{"one has another controller, and the operator's claims", func(_ *v1alpha1.Application, s *server) {
			s.stored["Deployment"].GetOwnerReferences()[0].UID = "other"
			s.stored["Deployment"].SetManagedFields([]metav1.ManagedFieldsEntry{ownedFields(v1alpha1.FieldManager, byApply, `{"f:spec":{"f:replicas":{}}}`)})
		}, []string{"patch Service"}, ""},
		{"one is nobody's", func(_ *v1alpha1.Application, s *server) { withoutOwner(s.stored["Deployment"]) }, []string{"patch Service"}, ""},
		{"one was let go before", func(_ *v1alpha1.Application, s *server) {
			withoutOwner(s.stored["Deployment"])
			s.stored["Deployment"].SetManagedFields([]metav1.ManagedFieldsEntry{ownedFields(v1alpha1.FieldManager, byApply, ownerLabelOnly)})
		}, []string{"patch Service"}, ""},
		{"the garbage collector let one go, with the operator's claims", func(_ *v1alpha1.Application, s *server) {
			withoutOwner(s.stored["Deployment"])
			s.stored["Deployment"].SetManagedFields([]metav1.ManagedFieldsEntry{ownedFields(v1alpha1.FieldManager, byApply, `{"f:spec":{"f:replicas":{}}}`)})
		}, []string{"patch Deployment", "patch Service"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, events := newReconciler(t)
			app := orphaning()
			app.DeletionTimestamp = &metav1.Time{Time: start}
			s.has(app, newDeployment(), newService())
			c.change(app, s)
			if err := reconcileWeb(t, r); err != nil {
				t.Fatal(err)
			}
			expectRequests(t, s, slices.Concat(c.patched, []string{"apply Application"})...)
			switch {
			case c.lost == "" && len(events.events) > 0:
				t.Errorf("Events %v: %v", events.events, events.notes)
			case c.lost != "" && (len(events.events) != 1 || events.events[0] != "Warning ChildrenLost" || !strings.Contains(events.notes[0], ": "+c.lost+".")):
				t.Errorf("Events %v: %v, want that %s were lost", events.events, events.notes, c.lost)
			}
		})
	}
}

// TestOrphanPatch: the child loses its owner reference and the operator's entries, and nothing else.
func TestOrphanPatch(t *testing.T) {
	const some = `{"f:spec":{"f:replicas":{}}}`
	own, handover := ownedFields(v1alpha1.FieldManager, byApply, some), ownedFields(v1alpha1.FieldManagerHandover, byApply, some)
	gitops, edited := ownedFields("gitops", byApply, some), ownedFields(v1alpha1.FieldManager, byUpdate, some)
	scaled := ownedFields(v1alpha1.FieldManagerHandover, byApply, some)
	scaled.Subresource = "scale"
	labelOnly := ownedFields(v1alpha1.FieldManager, byApply, ownerLabelOnly)
	backup := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Backup", Name: "b", UID: "backup"}
	for _, c := range []struct {
		name         string
		before, want []metav1.ManagedFieldsEntry
	}{
		{"others stay", []metav1.ManagedFieldsEntry{own, handover, gitops, edited, scaled}, []metav1.ManagedFieldsEntry{gitops, edited, scaled}},
		{"the record must not be empty", []metav1.ManagedFieldsEntry{handover, own}, []metav1.ManagedFieldsEntry{labelOnly}},
		{"there is nothing on record", nil, nil},
	} {
		child := newDeployment()
		child.OwnerReferences = append(child.OwnerReferences, backup)
		child.ManagedFields = c.before
		patch, err := orphanPatch(child, newApp())
		if err != nil {
			t.Fatal(err)
		}
		got := patchOperations(t, string(patch))
		var references []metav1.OwnerReference
		var entries []metav1.ManagedFieldsEntry
		for path, into := range map[string]any{"/metadata/ownerReferences": &references, "/metadata/managedFields": &entries} {
			if err := json.Unmarshal(got[path], into); err != nil {
				t.Fatalf("%s: %s: %v", c.name, patch, err)
			}
		}
		if diff := cmp.Diff([]metav1.OwnerReference{backup}, references); diff != "" {
			t.Errorf("%s: owner references (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(describeEntries(c.want), describeEntries(entries)); diff != "" {
			t.Errorf("%s: managedFields (-want +got):\n%s", c.name, diff)
		}
		if string(got["/metadata/resourceVersion"]) != `"200"` || len(got) != 3 {
			t.Errorf("%s: patch %s", c.name, patch)
		}
	}
}

func describeEntries(entries []metav1.ManagedFieldsEntry) []string {
	var lines []string
	for i := range entries {
		lines = append(lines, managerOf(&entries[i]).String()+" "+entries[i].FieldsV1.GetRawString())
	}
	return lines
}
