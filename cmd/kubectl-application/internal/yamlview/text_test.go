package yamlview_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/yamlview"
)

func write(t *testing.T, tree *fieldtree.Tree, terminal cli.Terminal) []byte {
	t.Helper()
	var out bytes.Buffer
	title := yamlview.Title{Heading: "Deployment web in namespace shop", Notes: []string{"A note."}}
	if err := yamlview.Write(&out, tree, title, terminal, now); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWrite(t *testing.T) {
	for name, test := range map[string]struct {
		terminal cli.Terminal
		change   func(*fieldtree.Tree)
	}{
		"plain":         {},
		"width-120":     {terminal: cli.Terminal{Width: 120}},
		"width-80":      {terminal: cli.Terminal{Width: 80}},
		"width-40":      {terminal: cli.Terminal{Width: 40}},
		"colour":        {terminal: cli.Terminal{Colour: true, Width: 120}},
		"redacted":      {change: (*fieldtree.Tree).Redact},
		"one-manager":   {change: func(tree *fieldtree.Tree) { tree.KeepManager("gitops") }},
		"one-field":     {change: func(tree *fieldtree.Tree) { tree.KeepField("spec.template.spec.containers[name=app].env") }},
		"one-odd-field": {change: func(tree *fieldtree.Tree) { tree.KeepField(".metadata.annotations.note") }},
	} {
		t.Run(name, func(t *testing.T) {
			tree := read(t, "testdata/deployment.input.yaml")
			if test.change != nil {
				test.change(tree)
			}
			golden(t, "deployment."+name+".txt", write(t, tree, test.terminal))
		})
	}
	t.Run("untracked", func(t *testing.T) {
		golden(t, "untracked.txt", write(t, read(t, "testdata/untracked.input.yaml"), cli.Terminal{}))
	})
}

// The output is YAML, and the object's own, on terminals of any width.
func TestOutputIsTheObject(t *testing.T) {
	for width := range 140 {
		tree := read(t, "testdata/deployment.input.yaml")
		var got map[string]any
		if err := yaml.Unmarshal(write(t, tree, cli.Terminal{Width: width}), &got); err != nil {
			t.Fatalf("at width %d: %v", width, err)
		}
		if want := normal(t, tree.Root.Content()); !reflect.DeepEqual(want, got) {
			t.Fatalf("at width %d: %v, not %v", width, got, want)
		}
	}
}

// Owners never make a line longer than the terminal, unless it is too narrow for anything.
func TestOutputFits(t *testing.T) {
	tree := read(t, "testdata/deployment.input.yaml")
	longest := 0
	for _, line := range yamlview.Lines(tree) {
		longest = max(longest, utf8.RuneCountInString(line.Text))
	}
	for width := 40; width < 160; width++ {
		for line := range strings.Lines(string(write(t, tree, cli.Terminal{Width: width}))) {
			text, owners, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  # ")
			if n := utf8.RuneCountInString(text + "  # " + owners); owners != "" && n > width {
				t.Errorf("at width %d: %d columns: %s", width, n, line)
			}
		}
	}
}

// What a file says its managers are called can neither end the comment nor reach the terminal.
func TestNothingEscapesFromComments(t *testing.T) {
	content := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "x\x1b[31m"}}
	for _, odd := range []string{"line\nbreak: true", "esc\x1b[31m", "nobody", "", "a, b (Apply)", "\u202eright to left"} {
		tree := fieldtree.Build(content, entries(odd), nil)
		var out bytes.Buffer
		if err := yamlview.Write(&out, tree, yamlview.Title{Heading: odd, Notes: []string{odd}}, cli.Terminal{}, now); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := yaml.Unmarshal(out.Bytes(), &got); err != nil || !reflect.DeepEqual(content, got) {
			t.Errorf("%q: %v\n%s", odd, err, out.String())
		}
		if strings.ContainsAny(out.String(), "\x1b\u202e") {
			t.Errorf("%q reaches the terminal as it is:\n%q", odd, out.String())
		}
		if !strings.Contains(out.String(), "# "+yamlview.Name(odd)+" (Update, 60m)") {
			t.Errorf("%q is not named:\n%s", odd, out.String())
		}
	}
}

func normal(t *testing.T, content any) map[string]any {
	t.Helper()
	encoded, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	var result map[string]any
	if err := yaml.Unmarshal(encoded, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// Who owns an item is one thing, and who owns its first field another: they share a line only if that says the same.
func TestItemOfAnotherOwner(t *testing.T) {
	content := map[string]any{"list": []any{map[string]any{"name": "a", "x": "1"}, map[string]any{"name": "b"}}}
	managed := append(entries("item"), entries("field")...)
	managed[0].FieldsV1 = metav1.NewFieldsV1(`{"f:list":{"k:{\"name\":\"a\"}":{".":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}`)
	managed[1].FieldsV1 = metav1.NewFieldsV1(`{"f:list":{"k:{\"name\":\"a\"}":{"f:name":{},"f:x":{}}}}`)
	var out bytes.Buffer
	if err := yamlview.Write(&out, fieldtree.Build(content, managed, nil), yamlview.Title{Heading: "h"}, cli.Terminal{}, now); err != nil {
		t.Fatal(err)
	}
	want := `# h
list:
-          # item (Update v1, 60m)
  name: a  # field (Update v1, 60m)
  x: "1"   # field (Update v1, 60m)
- name: b  # item (Update v1, 60m)
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
