package controllers

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

func TestReclaimed(t *testing.T) {
	entry := func(m ownership.Manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: m.Name, Operation: m.Operation, Subresource: m.Subresource,
			APIVersion: "application.mycompany.io/v1alpha1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	user := entry(ownership.Manager{Name: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate}, `{"f:spec":{"f:image":{}}}`)
	lost := entry(beforeFirstStatusApply, `{"f:status":{"f:phase":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:status":{}},"k:{\"type\":\"Audited\"}":{".":{},"f:status":{}}}}}`)
	own := entry(statusApplier, `{"f:status":{"f:message":{}}}`)

	entries, found, err := reclaimed([]metav1.ManagedFieldsEntry{user, lost, own}, fieldpath.NewSet())
	if err != nil || !found {
		t.Fatalf("found %t, %v", found, err)
	}
	got := map[string]string{}
	for i := range entries {
		got[entries[i].Manager] = entries[i].FieldsV1.GetRawString()
	}
	want := map[string]string{
		"kubectl":                     `{"f:spec":{"f:image":{}}}`,
		"application-operator-status": `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:status":{}}},"f:message":{},"f:phase":{}}}`,
		"before-first-apply":          `{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Audited\"}":{".":{},"f:status":{}}}}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}

	if _, found, err := reclaimed(entries, fieldpath.NewSet()); found || err != nil {
		t.Errorf("there is nothing left to reclaim: %t, %v", found, err)
	}
	wipedSpec := entry(ownership.Manager{Name: ownership.BeforeFirstApply, Operation: metav1.ManagedFieldsOperationUpdate}, `{"f:spec":{"f:image":{}}}`)
	for _, others := range [][]metav1.ManagedFieldsEntry{nil, {user, own}, {wipedSpec}, {{Manager: "odd"}}} {
		if _, found, err := reclaimed(others, fieldpath.NewSet()); found || err != nil {
			t.Errorf("%v: nothing was lost: %t, %v", others, found, err)
		}
	}
}

// TestReclaimedFromNobody: after a wipe and an apply of the spec, the status has no owner at all.
func TestReclaimedFromNobody(t *testing.T) {
	app := &v1alpha1.Application{}
	if err := json.Unmarshal([]byte(`{"metadata": {"name": "web"}, "status": {
		"phase": "Running", "selector": "app=web",
		"serviceStatus": {"loadBalancer": {}},
		"deploymentStatus": {"conditions": [{"type": "Available", "status": "True"}]},
		"conflicts": [{"kind": "Deployment", "name": "web", "field": ".spec.replicas", "manager": "kubectl"}],
		"conditions": [
			{"type": "Stalled", "status": "True", "reason": "FieldConflict", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"},
			{"type": "Audited", "status": "True", "reason": "Seen", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`), app); err != nil {
		t.Fatal(err)
	}
	reconciler, _, _ := newReconciler(t)
	fields, err := reconciler.statusFields(app)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, Subresource: "status",
			APIVersion: "application.mycompany.io/v1alpha1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	entries, found, err := reclaimed([]metav1.ManagedFieldsEntry{
		entry("somebody", `{"f:status":{"f:selector":{}}}`),
		entry(v1alpha1.FieldManagerStatus, `{"f:status":{"f:phase":{}}}`),
	}, fields)
	if err != nil || !found || len(entries) != 2 {
		t.Fatalf("found %t, %v, %v", found, entries, err)
	}
	const item = `k:{\"type\":\"Stalled\"}`
	want := `{"f:status":{"f:conditions":{"` + item + `":{".":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:conflicts":{},` +
		`"f:deploymentStatus":{"f:conditions":{"k:{\"type\":\"Available\"}":{".":{},"f:status":{},"f:type":{}}}},"f:phase":{}}}`
	if diff := cmp.Diff(want, entries[1].FieldsV1.GetRawString()); diff != "" {
		t.Errorf("the operator's entry (-want +got):\n%s", diff)
	}
	if _, found, err := reclaimed(entries, fields); found || err != nil {
		t.Errorf("there is nothing left to reclaim: %t, %v", found, err)
	}
}
