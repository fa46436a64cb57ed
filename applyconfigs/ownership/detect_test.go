package ownership

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWiped(t *testing.T) {
	fields := `{"f:spec":{"f:replicas":{}}}`
	for name, tc := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		"none":                    {want: true},
		"an empty entry":          {entries: []metav1.ManagedFieldsEntry{{}}, want: true},
		"only before-first-apply": {entries: []metav1.ManagedFieldsEntry{entry(BeforeFirstApply, updated, "", fields)}, want: true},
		"an apply":                {entries: []metav1.ManagedFieldsEntry{entry("us", applied, "", fields)}},
		"both": {entries: []metav1.ManagedFieldsEntry{
			entry(BeforeFirstApply, updated, "", fields), entry("us", applied, "", fields),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			managed, _ := Parse(tc.entries)
			wantEqual(t, "wiped", managed.Wiped(), tc.want)
		})
	}
}

func TestLegacy(t *testing.T) {
	fields := `{"f:spec":{"f:replicas":{}}}`
	managed := parseAll(t,
		entry("us", applied, "", fields),
		entry("us", updated, "", fields),
		entry("us", updated, "status", fields),
		entry("old", updated, "", fields),
		entry("kubectl", updated, "", fields),
	)
	wantEqual(t, "legacy", describe(managed.Legacy("us", "old")), []string{`"old" by Update apps/v1`, `"us" by Update apps/v1`})
	wantEqual(t, "none named", describe(managed.Legacy()), nil)
}
