package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// widget has one of everything that can break.
const widget = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    selectableFields: [{jsonPath: .spec.name}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [name]
            x-kubernetes-validations:
            - {rule: self.size > 0, message: has a size}
            properties:
              name: {type: string, maxLength: 10, pattern: "^[a-z]+$"}
              size: {type: integer, minimum: 1, maximum: 5, default: 1}
              mode: {type: string, enum: [A, B]}
              free: {type: string}
              note: {type: string, nullable: true}
              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              tags: {type: object, additionalProperties: {type: string}}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
              list:
                type: array
                maxItems: 3
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [key]
                items: {type: object, required: [key], properties: {key: {type: string}, value: {type: string}}}
`

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"nothing", "", "", nil},
		{"a description", "type: string, nullable: true", "type: string, nullable: true, description: what to know", nil},
		{"a new field", "free: {type: string}", "free: {type: string}\n              more: {type: string, enum: [X], pattern: x}", nil},
		{"a field that is removed", "free: {type: string}", "", []string{"v1.spec.free: was removed"}},
		{"a field of an item that is removed", ", value: {type: string}", "", []string{"v1.spec.list[].value: was removed"}},
		{"another type", "free: {type: string}", "free: {type: integer}", []string{"v1.spec.free: the type was string and is integer"}},
		{"no number or text any more", "port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", "port: {type: integer}",
			[]string{"v1.spec.port: the type was integer or string and is integer"}},
		{"a field that becomes required", "required: [name]", "required: [free, name]", []string{"v1.spec.free: is newly required"}},
		{"a required field with a default", "required: [name]", "required: [name, size]", nil},
		{"a field that is required no more", "required: [name]", "required: []", nil},
		{"a value less", "enum: [A, B]", "enum: [A]", []string{`v1.spec.mode: the value "B" is no longer allowed`}},
		{"a value more", "enum: [A, B]", "enum: [A, B, C]", nil},
		{"a new enumeration", "free: {type: string}", "free: {type: string, enum: [A]}", []string{"v1.spec.free: is newly limited to an enumeration"}},
		{"no enumeration", "enum: [A, B]", "maxLength: 99", []string{"v1.spec.mode: maxLength was none and is 99"}},
		{"another pattern", "^[a-z]+$", "^[a-y]+$", []string{`v1.spec.name: the pattern was "^[a-z]+$" and is "^[a-y]+$"`}},
		{"no pattern", `, pattern: "^[a-z]+$"`, "", nil},
		{"a format", "free: {type: string}", "free: {type: string, format: date}", []string{`v1.spec.free: the format was "" and is "date"`}},
		{"shorter", "maxLength: 10", "maxLength: 9", []string{"v1.spec.name: maxLength was 10 and is 9"}},
		{"longer", "maxLength: 10", "maxLength: 11, minLength: 0", nil},
		{"not as short", "maxLength: 10", "maxLength: 10, minLength: 1", []string{"v1.spec.name: minLength was none and is 1"}},
		{"greater", "minimum: 1", "minimum: 2", []string{"v1.spec.size: minimum was 1 and is 2"}},
		{"smaller", "minimum: 1", "minimum: 0", nil},
		{"less", "maximum: 5", "maximum: 4", []string{"v1.spec.size: maximum was 5 and is 4"}},
		{"not the maximum itself", "maximum: 5", "maximum: 5, exclusiveMaximum: true", []string{"v1.spec.size: maximum itself is no longer allowed"}},
		{"fewer items", "maxItems: 3", "maxItems: 2", []string{"v1.spec.list: maxItems was 3 and is 2"}},
		{"steps", "minimum: 1", "minimum: 1, multipleOf: 2", []string{"v1.spec.size: multipleOf was none and is 2"}},
		{"another default", "default: 1", "default: 2", []string{"v1.spec.size: the default was 1 and is 2"}},
		{"a new default", "free: {type: string}", "free: {type: string, default: x}", []string{`v1.spec.free: the default was none and is "x"`}},
		{"no null", ", nullable: true", "", []string{"v1.spec.note: null is no longer allowed"}},
		{"a list that merges otherwise", "x-kubernetes-list-type: map\n                x-kubernetes-list-map-keys: [key]", "x-kubernetes-list-type: atomic",
			[]string{`v1.spec.list: x-kubernetes-list-type was "map" and is "atomic", which moves ownership`, `v1.spec.list: x-kubernetes-list-map-keys was "key" and is "", which moves ownership`}},
		{"an atomic map", "tags: {type: object,", "tags: {type: object, x-kubernetes-map-type: atomic,", []string{`v1.spec.tags: x-kubernetes-map-type was "granular" and is "atomic", which moves ownership`}},
		{"values of a map", "additionalProperties: {type: string}", "additionalProperties: {type: integer}", []string{"v1.spec.tags{}: the type was string and is integer"}},
		{"no map", "additionalProperties: {type: string}", "properties: {a: {type: string}}", []string{"v1.spec.tags: keys of one's own are no longer allowed"}},
		{"unknown fields", "x-kubernetes-preserve-unknown-fields: true", "properties: {a: {type: string}}", []string{"v1.spec.open: unknown fields are no longer kept"}},
		{"a new rule", "- {rule: self.size > 0, message: has a size}", "- {rule: self.size > 0, message: has a size}\n            - {rule: self.size < 4}",
			[]string{`v1.spec: the rule "self.size < 4" is new`}},
		{"other words of a rule", "message: has a size", "message: says more", nil},
		{"no rule", "\n            - {rule: self.size > 0, message: has a size}", " []", nil},
		{"a choice", "anyOf: [{type: integer}, {type: string}]", "anyOf: [{type: integer}]", []string{"v1.spec.port: anyOf changed"}},
		{"another version", "- name: v1", "- name: v2", []string{"v1: was removed; whoever wrote at it cannot apply any more"}},
		{"a version that is not served", "served: true", "served: false", []string{"v1: is no longer served"}},
		{"no status", "status: {}, ", "", []string{`v1: the subresource status was "there" and is ""`}},
		{"another path of scale", ".status.size", ".status.count", []string{`v1: the subresource scale was ".spec.size .status.size " and is ".spec.size .status.count "`}},
		{"no field selector", "selectableFields: [{jsonPath: .spec.name}]", "", []string{"v1: the field selector .spec.name was removed"}},
		{"another kind", "kind: Widget", "kind: Gadget", []string{"kind: was Widget and is Gadget"}},
		{"another scope", "scope: Namespaced", "scope: Cluster", []string{"scope: was Namespaced and is Cluster"}},
		{"no short name", ", shortNames: [wd]", "", []string{"shortNames: wd was removed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(widget, c.old) {
				t.Fatalf("%q is not in the original", c.old)
			}
			got := compare(parse(t, widget), parse(t, strings.Replace(widget, c.old, c.new, 1)))
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestRun(t *testing.T) {
	breaking := strings.Replace(widget, "maxLength: 10", "maxLength: 9", 1)
	for _, c := range []struct{ name, current, accepted, fails string }{
		{"no change", widget, "# none\n\n", ""},
		{"a change that breaks", breaking, "", "compared with v1.10.0, objects or clients break:\nv1.spec.name: maxLength was 10 and is 9\n"},
		{"a change that is meant", breaking, "# names got shorter\nv1.spec.name: maxLength was 10 and is 9\n", ""},
		{"one that was meant once", widget, "v1.spec.name: maxLength was 10 and is 9\n", "accepts what is no change since v1.10.0"},
		{"no CRD", "kind: ConfigMap", "", "holds no CustomResourceDefinition"},
		{"two CRDs", widget + "---" + widget, "", "holds more than one CustomResourceDefinition"},
		{"an unknown field", strings.Replace(widget, "scope:", "scoop:", 1), "", `unknown field "spec.scoop"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "releases", "v1.9.0", "install.yaml"), strings.Replace(widget, "maxLength: 10", "maxLength: 3", 1))
			write(t, filepath.Join(dir, "releases", "v1.10.0", "install.yaml"), "kind: Namespace\n---"+widget+"---\nkind: Deployment\nspec: {versions: 3}\n")
			write(t, filepath.Join(dir, "crd.yaml"), c.current)
			write(t, filepath.Join(dir, "accepted"), c.accepted)
			err := run(io.Discard, filepath.Join(dir, "releases"), filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "accepted"))
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("got %v, want %q", err, c.fails)
			}
		})
	}
}

func parse(t *testing.T, manifest string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crd.yaml")
	write(t, path, manifest)
	crd, err := readCRD(path)
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
