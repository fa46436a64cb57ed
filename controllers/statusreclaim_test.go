package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

	entries, found, err := reclaimed([]metav1.ManagedFieldsEntry{user, lost, own})
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

	if _, found, err := reclaimed(entries); found || err != nil {
		t.Errorf("there is nothing left to reclaim: %t, %v", found, err)
	}
	wipedSpec := entry(ownership.Manager{Name: ownership.BeforeFirstApply, Operation: metav1.ManagedFieldsOperationUpdate}, `{"f:spec":{"f:image":{}}}`)
	for _, others := range [][]metav1.ManagedFieldsEntry{nil, {user, own}, {wipedSpec}, {{Manager: "odd"}}} {
		if _, found, err := reclaimed(others); found || err != nil {
			t.Errorf("%v: nothing was lost: %t, %v", others, found, err)
		}
	}
}
