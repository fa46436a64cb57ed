package ownership

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func parseAll(t testing.TB, entries ...metav1.ManagedFieldsEntry) ManagedFields {
	t.Helper()
	managed, err := Parse(entries)
	if err != nil {
		t.Fatal(err)
	}
	return managed
}

func TestFieldsByIdentity(t *testing.T) {
	managed := parseAll(t,
		entry("us", applied, "", `{"f:spec":{"f:replicas":{},"f:paused":{}}}`),
		entry("us", updated, "", `{"f:spec":{"f:replicas":{},"f:selector":{}}}`),
		entry("us", updated, "status", `{"f:status":{"f:replicas":{}}}`),
	)
	wantEqual(t, "applied", paths(managed.Fields(Applier("us"))), []string{".spec.paused", ".spec.replicas"})
	wantEqual(t, "of others", paths(managed.OtherFields(Applier("us"))), []string{".spec.replicas", ".spec.selector", ".status.replicas"})
	wantEqual(t, "of a stranger", paths(managed.Fields(Applier("x"))), nil)
}

func TestOwners(t *testing.T) {
	managed := parseAll(t,
		entry("z", applied, "", `{"f:spec":{"f:replicas":{}}}`),
		entry("kubectl", updated, "scale", `{"f:spec":{"f:replicas":{}}}`),
		entry("kubectl", updated, "", `{"f:spec":{"f:paused":{}}}`),
		entry("a", updated, "", `{"f:spec":{"f:replicas":{}}}`),
	)
	for path, want := range map[string][]string{
		".spec.replicas": {`"a" by Update apps/v1`, `"kubectl" by Update through "scale" apps/v1`, `"z" by Apply apps/v1`},
		".spec.paused":   {`"kubectl" by Update apps/v1`},
		".spec":          nil,
		".spec.selector": nil,
	} {
		parsed, err := ParsePath(types, deploymentGVK, path)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, path, describe(managed.Owners(parsed)), want)
	}
	if owners := managed.Owners(nil); owners != nil {
		t.Errorf("the object as a whole has owners %v", owners)
	}
}

func TestResultsAreCopies(t *testing.T) {
	managed := parseAll(t, entry("a", updated, "", `{"f:a":{}}`), entry("b", updated, "", `{"f:a":{}}`))
	_ = append(managed.Legacy("a"), Entry{Manager: Applier("intruder")})
	wantEqual(t, "entries", describe(managed), []string{`"a" by Update apps/v1`, `"b" by Update apps/v1`})
}
