package controllers

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

func TestFormerManagers(t *testing.T) {
	entry := func(name string, operation metav1.ManagedFieldsOperationType, subresource string) ownership.Entry {
		return ownership.Entry{Manager: ownership.Manager{Name: name, Operation: operation, Subresource: subresource}}
	}
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	for _, c := range []struct {
		name    string
		entries ownership.ManagedFields
		want    []string
	}{
		{"nobody", nil, nil},
		{"the operator's name, before it ever applied", ownership.ManagedFields{entry("application-operator", update, "")}, []string{"application-operator"}},
		{"the operator's name, beside its own entry", ownership.ManagedFields{entry("application-operator", apply, ""), entry("application-operator", update, "")}, nil},
		{"a name of the flag, before the operator applied", ownership.ManagedFields{entry("old", update, "")}, []string{"old"}},
		{"a name of the flag, beside the operator's entry", ownership.ManagedFields{entry("application-operator", apply, ""), entry("old", update, "")}, []string{"old"}},
		{"a subresource", ownership.ManagedFields{entry("old", update, "scale")}, nil},
		{"an apply", ownership.ManagedFields{entry("old", apply, "")}, nil},
		{"somebody else", ownership.ManagedFields{entry("kubectl", update, "")}, nil},
	} {
		got := formerManagers(c.entries, []string{"application-operator", "old"})
		if diff := cmp.Diff(c.want, sets.List(got), cmp.Transformer("empty", func(s []string) []string { return append([]string{}, slices.Clone(s)...) })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
