package ownership

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

const (
	applied = metav1.ManagedFieldsOperationApply
	updated = metav1.ManagedFieldsOperationUpdate
)

func TestParse(t *testing.T) {
	withoutFields := entry("none", applied, "", "")
	withoutFields.FieldsV1 = nil
	withTime := entry("timed", updated, "", `{"f:spec":{"f:replicas":{}}}`)
	now := metav1.Now()
	withTime.Time = &now

	for name, tc := range map[string]struct {
		entry metav1.ManagedFieldsEntry
		want  []string
		err   string
	}{
		"apply":             {entry: entry("us", applied, "", `{"f:spec":{"f:replicas":{}}}`), want: []string{".spec.replicas"}},
		"time":              {entry: withTime, want: []string{".spec.replicas"}},
		"subresource":       {entry: entry("kubectl", updated, "scale", `{"f:spec":{"f:replicas":{}}}`), want: []string{".spec.replicas"}},
		"no fieldsV1":       {entry: withoutFields},
		"empty fieldsV1":    {entry: entry("empty", applied, "", `{}`)},
		"empty name":        {entry: entry("", updated, "", `{"f:data":{}}`), want: []string{".data"}},
		"unknown element":   {entry: entry("future", applied, "", `{"x:spec":{},"f:data":{}}`), want: []string{".data"}},
		"list items":        {entry: entry("us", applied, "", `{"f:c":{"k:{\"name\":\"A.B\"}":{".":{},"f:value":{}},"v:\"x\"":{}}}`), want: []string{`.c[="x"]`, `.c[name="A.B"]`, `.c[name="A.B"].value`}},
		"empty entry":       {entry: metav1.ManagedFieldsEntry{}, err: `managedFields[0] of manager "" at "": operation "" is neither Apply nor Update`},
		"unknown operation": {entry: entry("us", "Patch", "", `{}`), err: `managedFields[0] of manager "us" by Patch at "apps/v1": operation "Patch" is neither Apply nor Update`},
		"garbage":           {entry: entry("us", applied, "", `garbage`), err: `fieldsV1: `},
		"cut off":           {entry: entry("us", applied, "", `{"f:spec":{"f:rep`), err: `fieldsV1: `},
		"bad element":       {entry: entry("us", applied, "", `{"spec":{}}`), err: `fieldsV1: `},
		"bad key":           {entry: entry("us", applied, "", `{"k:{":{}}`), err: `fieldsV1: `},
		"empty bytes":       {entry: entry("us", applied, "", ``), err: `fieldsV1: `},
		"no version": {
			entry: metav1.ManagedFieldsEntry{Manager: "us", Operation: applied, FieldsType: fieldsV1},
			err:   `apiVersion is empty`,
		},
		"unknown type": {
			entry: metav1.ManagedFieldsEntry{Manager: "us", Operation: applied, APIVersion: "v1", FieldsType: "FieldsV2"},
			err:   `fieldsType "FieldsV2" is not FieldsV1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			good := entry("other", applied, "", `{"f:data":{}}`)
			managed, err := Parse([]metav1.ManagedFieldsEntry{tc.entry, good})
			if serverErr := managedfields.ValidateManagedFields([]metav1.ManagedFieldsEntry{tc.entry}); (serverErr == nil) != (err == nil) {
				t.Errorf("the API server's decoder says %v, Parse says %v", serverErr, err)
			}
			wantEqual(t, "the other entry", paths(managed.Fields(Applier("other"))), []string{".data"})
			if tc.err != "" {
				var entryErr *EntryError
				if !errors.As(err, &entryErr) || entryErr.Index != 0 || entryErr.Manager.Name != tc.entry.Manager || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error is %v, want an EntryError with %q", err, tc.err)
				}
				wantEqual(t, "number of entries", len(managed), 1)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			manager := Manager{Name: tc.entry.Manager, Operation: tc.entry.Operation, Subresource: tc.entry.Subresource}
			index := slices.IndexFunc(managed, func(e Entry) bool { return e.Manager == manager })
			wantEqual(t, "fields", paths(managed[index].Fields), tc.want)
			wantEqual(t, "version", managed[index].APIVersion, "apps/v1")
			wantEqual(t, "time", managed[index].Time, tc.entry.Time)
		})
	}
}

func TestParseReportsEveryBadEntry(t *testing.T) {
	_, err := Parse([]metav1.ManagedFieldsEntry{entry("a", applied, "", "?"), entry("b", updated, "status", "?")})
	for _, want := range []string{`managedFields[0] of manager "a" by Apply`, `managedFields[1] of manager "b" by Update through "status"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not hold %q", err, want)
		}
	}
}

func TestParseOrderIsStable(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		entry("b", applied, "", `{"f:a":{}}`),
		entry("a", updated, "", `{"f:a":{}}`),
		entry("a", updated, "scale", `{"f:a":{}}`),
		entry("a", applied, "", `{"f:a":{}}`),
	}
	older := entries[1]
	older.APIVersion = "apps/v1beta1"
	entries = append(entries, older)

	want := []string{`"a" by Apply apps/v1`, `"a" by Update apps/v1`, `"a" by Update apps/v1beta1`, `"a" by Update through "scale" apps/v1`, `"b" by Apply apps/v1`}
	for range entries {
		entries = append(entries[1:], entries[0])
		managed, err := Parse(entries)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "order", describe(managed), want)
	}
}

func TestParseRepeatedIdentity(t *testing.T) {
	version := func(e metav1.ManagedFieldsEntry, v string) metav1.ManagedFieldsEntry { e.APIVersion = v; return e }
	managed := parseAll(t,
		entry("a", updated, "", `{"f:first":{}}`),
		version(entry("b", applied, "", `{"f:first":{}}`), "apps/v1beta2"),
		entry("a", updated, "scale", `{"f:scale":{}}`),
		version(entry("a", updated, "", `{"f:old":{}}`), "apps/v1beta2"),
		entry("a", updated, "", `{"f:last":{}}`),
		version(entry("b", applied, "", `{"f:last":{}}`), "apps/v1beta1"),
	)
	wantEqual(t, "entries", describe(managed), []string{
		`"a" by Update apps/v1`, `"a" by Update apps/v1beta2`, `"a" by Update through "scale" apps/v1`, `"b" by Apply apps/v1beta1`,
	})
	wantEqual(t, "fields of a", paths(managed.Fields(Manager{Name: "a", Operation: updated})), []string{".last", ".old"})
	wantEqual(t, "fields of b", paths(managed.Fields(Applier("b"))), []string{".last"})
}

func describe(managed ManagedFields) []string {
	var all []string
	for _, e := range managed {
		all = append(all, e.Manager.String()+" "+e.APIVersion)
	}
	return all
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`[]`, `[{}]`, `null`, `[null]`,
		`[{"manager":"us","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]`,
		`[{"manager":"a","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"k:{\"a\":null,\"b\":[1]}":{".":{}},"v:{}":{},"v:[]":{},"i:-1":{},"v:1e400":{}}}]`,
		`[{"manager":"a","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":[]},{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var entries []metav1.ManagedFieldsEntry
		if json.Unmarshal(data, &entries) != nil {
			// What is no list of entries still has to survive as the fields of one.
			entries = []metav1.ManagedFieldsEntry{entry("raw", updated, "", string(data))}
		}
		managed, err := Parse(entries)
		if len(managed) > len(entries) || (err != nil && len(managed) == len(entries)) {
			t.Fatalf("%d of %d entries, error is %v", len(managed), len(entries), err)
		}
		slices.Reverse(entries)
		reversed, _ := Parse(entries)
		wantEqual(t, "reversed", len(reversed), len(managed))
		for i, e := range managed {
			if e.Fields == nil {
				t.Fatal("an entry without a set")
			}
			wantEqual(t, "reversed manager", reversed[i].Manager, e.Manager)
			if owners := managed.Owners(nil); owners != nil {
				t.Errorf("owners of nothing: %v", owners)
			}
			// Whoever uses a set will print, compare and split it.
			_ = paths(e.Fields.Leaves())
			union := managed.Fields(e.Manager).Union(managed.OtherFields(e.Manager))
			if !e.Fields.Difference(union).Empty() {
				t.Errorf("union lacks fields of %s", e.Manager)
			}
			again, err := Parse([]metav1.ManagedFieldsEntry{entries[len(entries)-1]})
			if err == nil && len(again) != 1 {
				t.Error("one good entry gave none")
			}
		}
	})
}
