package page_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/page"
)

// attacks are what somebody could write into an object who wants to be run in the reader's browser.
var attacks = []string{
	`</script><img src=x onerror="document.body.dataset.pwned=1">`,
	`</style><script>document.body.dataset.pwned=1</script>`,
	`"><svg onload="document.body.dataset.pwned=1">`,
	`'onmouseover='document.body.dataset.pwned=1`,
	`</code></li></ol><iframe srcdoc="<script>parent.document.body.dataset.pwned=1</script>">`,
	`{{.Policy}}<!--`,
	`javascript:document.body.dataset.pwned=1`,
	`}body{display:none}.x{`,
}

// hostile is a page in which everything that stems from an object is an attack.
func hostile(attack string) page.Page {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(attack)
	content := map[string]any{
		"apiVersion": attack, "kind": attack, attack: attack,
		"spec": map[string]any{"list": []any{map[string]any{"name": attack, attack: attack}}, "set": []any{attack}},
	}
	managed := []metav1.ManagedFieldsEntry{
		{
			Manager: attack, Operation: metav1.ManagedFieldsOperationApply, APIVersion: attack, Subresource: attack, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:` + quoted + `":{},"f:gone` + quoted + `":{},"f:spec":{"f:list":{"k:{\"name\":` + strings.ReplaceAll(`"`+quoted+`"`, `\`, `\\`) + `}":{}},"f:set":{}}}`),
		},
		{Manager: attack, Operation: metav1.ManagedFieldsOperationType(attack), APIVersion: attack, FieldsType: attack},
	}
	return page.Page{
		Objects:      []page.Object{{Heading: attack, Notes: []string{attack}, Tree: fieldtree.Build(content, managed, nil)}},
		Applications: []*v1alpha1.Application{contestedApplication(attack, attack, attack)},
		Now:          now,
	}
}

// Whatever objects hold, the page has the same elements with the same attributes as one of harmless words.
func TestNothingEscapes(t *testing.T) {
	harmless := outline(t, render(t, hostile("harmless")))
	for _, attack := range attacks {
		source := render(t, hostile(attack))
		if diff := cmp.Diff(harmless, outline(t, source)); diff != "" {
			t.Errorf("%s (-harmless +hostile):\n%s", attack, diff)
		}
		document := parse(t, source)
		if style := text(all(document, "style")[0]); strings.Contains(style, "pwned") || strings.Contains(style, "}body{display") {
			t.Errorf("%s is in the style", attack)
		}
		if heading := text(all(document, "h1")[0]); !strings.Contains(heading, attack) {
			t.Errorf("the heading is %q, not the text %q", heading, attack)
		}
	}
}

// outline counts elements with the names of their attributes.
func outline(t *testing.T, source string) []string {
	t.Helper()
	counts := map[string]int{}
	for _, element := range all(parse(t, source), "") {
		names := map[string]bool{}
		for _, a := range element.Attr {
			names[a.Key] = true
		}
		counts[element.Data+" "+strings.Join(slices.Sorted(maps.Keys(names)), " ")]++
	}
	var result []string
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		result = append(result, strings.Repeat("+", counts[key])+key)
	}
	return result
}
