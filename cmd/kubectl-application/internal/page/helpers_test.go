package page_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/page"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// tree reads the object that the tests of the YAML are about.
func tree(t testing.TB) *fieldtree.Tree {
	t.Helper()
	encoded, err := os.ReadFile("../yamlview/testdata/deployment.input.yaml")
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(encoded, &object.Object); err != nil {
		t.Fatal(err)
	}
	return fieldtree.Build(object.Object, object.GetManagedFields(), cli.SchemaOf(object.GroupVersionKind()))
}

func example(t testing.TB) page.Page {
	t.Helper()
	shown := tree(t)
	shown.Redact()
	return page.Page{
		Objects:      []page.Object{{Heading: "Deployment web in namespace shop", Notes: []string{"A note."}, Tree: shown}},
		Applications: []*v1alpha1.Application{contestedApplication(".spec.replicas", "hpa", "scale")},
		Redacted:     true,
		Now:          now,
	}
}

func contestedApplication(field, manager, subresource string) *v1alpha1.Application {
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	app.Status.Conflicts = []v1alpha1.FieldConflict{{
		Kind: "Deployment", Name: "web", Field: field, Manager: manager, Subresource: subresource,
		Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1",
	}}
	return app
}

func render(t testing.TB, p page.Page) string {
	t.Helper()
	var out bytes.Buffer
	if err := page.Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func parse(t testing.TB, text string) *html.Node {
	t.Helper()
	document, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// all returns the elements of this name, in the order of the document; all elements if there is no name.
func all(document *html.Node, name string) []*html.Node {
	var found []*html.Node
	for n := range document.Descendants() {
		if n.Type == html.ElementNode && (name == "" || n.Data == name) {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
