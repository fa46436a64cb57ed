package yamlview_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/yamlview"
)

// entries returns the managedFields of an object of which this manager owns the field .data.a.
func entries(manager string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{
		Manager:    manager,
		Operation:  metav1.ManagedFieldsOperationUpdate,
		APIVersion: "v1",
		Time:       &metav1.Time{Time: now.Add(-time.Hour)},
		FieldsType: "FieldsV1",
		FieldsV1:   metav1.NewFieldsV1(`{"f:data":{"f:a":{}}}`),
	}}
}

// maxKey bounds the names of fields. YAML has another syntax for those of more than 1024 characters, and nobody has such
// names.
const maxKey = 200

// FuzzWrite prints any content with any manager: it is always YAML, and always the content.
func FuzzWrite(f *testing.F) {
	for _, text := range []string{"a", "a\nb\n", "a\n\n b\n\n", " x\ny", "\n", "tab\t\nb", "é\x01", strings.Repeat("long ", 60), "a # b", "true", "1e3", "", "\u2028a\nb", "a\r\nb", "\u0085", "---\nx", "key: value", "- item", "*a", "? b", "%x", "\ufeffbom"} {
		encoded, err := json.Marshal(map[string]any{"data": map[string]any{"a": text, text: []any{text, map[string]any{"b": text, "c": text}}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded, text, 0)
	}
	f.Add([]byte(`{"a":[[],[[{}]],[{"b":[1,1.5,null,true]}],{}]}`), "m", 80)
	f.Fuzz(func(t *testing.T, encoded []byte, manager string, width int) {
		content := map[string]any{}
		if json.Unmarshal(encoded, &content) != nil || len(content) == 0 {
			t.Skip()
		}
		tree := fieldtree.Build(content, entries(manager), nil)
		tree.Root.Walk(func(n *fieldtree.Node) bool {
			if len(n.Name) > maxKey {
				t.Skip()
			}
			return true
		})
		var out bytes.Buffer
		if err := yamlview.Write(&out, tree, yamlview.Title{Heading: manager}, cli.Terminal{Width: width % 200}, now); err != nil {
			t.Fatal(err)
		}
		// The content as JSON, since YAML encoders do not keep every character.
		again, err := json.Marshal(tree.Root.Content())
		if err != nil {
			t.Skip()
		}
		var wanted, got any
		if err := json.Unmarshal(again, &wanted); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if !reflect.DeepEqual(wanted, got) {
			t.Fatalf("%#v is not %#v:\n%s", got, wanted, out.String())
		}
	})
}
