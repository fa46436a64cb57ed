package controllers

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

func TestFormerManagers(t *testing.T) {
	entry := func(name string, operation metav1.ManagedFieldsOperationType, subresource string, minute int) ownership.Entry {
		at := metav1.NewTime(start.Add(time.Duration(minute) * time.Minute))
		return ownership.Entry{Manager: ownership.Manager{Name: name, Operation: operation, Subresource: subresource}, Time: &at}
	}
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	for _, c := range []struct {
		name    string
		entries ownership.ManagedFields
		want    []string
	}{
		{"nobody", nil, nil},
		{"the operator's name, before it ever applied", ownership.ManagedFields{entry("application-operator", update, "", 1)}, []string{"application-operator"}},
		{"the operator's name, beside its own entry", ownership.ManagedFields{entry("application-operator", apply, "", 5), entry("application-operator", update, "", 1)}, nil},
		{"a name of the flag, before the operator applied", ownership.ManagedFields{entry("old", update, "", 1)}, []string{"old"}},
		{"a name of the flag, older than the operator's entry", ownership.ManagedFields{entry("application-operator", apply, "", 5), entry("old", update, "", 1)}, []string{"old"}},
		{"a name of the flag that still writes", ownership.ManagedFields{entry("application-operator", apply, "", 5), entry("old", update, "", 6)}, nil},
		{"a subresource", ownership.ManagedFields{entry("old", update, "scale", 1)}, nil},
		{"an apply", ownership.ManagedFields{entry("old", apply, "", 1)}, nil},
		{"somebody else", ownership.ManagedFields{entry("kubectl", update, "", 1)}, nil},
	} {
		got := formerManagers(c.entries, []string{"application-operator", "old"})
		if diff := cmp.Diff(c.want, sets.List(got), cmp.Transformer("empty", func(s []string) []string { return append([]string{}, slices.Clone(s)...) })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
