package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/yamlview"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestGolden(t *testing.T) {
	const path = "testdata/deployment.html"
	got := render(t, example(t))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s, written anew with -update (-want +got):\n%s", path, diff)
	}
}

// The page loads nothing and runs nothing, and its policy lets a browser see to that.
func TestStandsOnItsOwn(t *testing.T) {
	source := render(t, example(t))
	document := parse(t, source)
	for _, element := range all(document, "") {
		switch element.Data {
		case "script", "link", "img", "iframe", "object", "embed", "form", "base", "svg", "video", "audio", "source":
			t.Errorf("there is a <%s>", element.Data)
		}
		for _, a := range element.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "href" {
				t.Errorf("<%s> has %s=%q", element.Data, a.Key, a.Val)
			}
		}
	}
	styles := all(document, "style")
	if len(styles) != 1 {
		t.Fatalf("%d styles", len(styles))
	}
	style := text(styles[0])
	for _, loads := range []string{"url(", "@import", "image-set("} {
		if strings.Contains(style, loads) {
			t.Errorf("the style has %s", loads)
		}
	}
	var policy string
	for _, meta := range all(document, "meta") {
		if attribute(meta, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(meta, "content")
		}
	}
	sum := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("policy is %q, not %q", policy, want)
	}
	if strings.Index(source, "Content-Security-Policy") > strings.Index(source, "<style>") {
		t.Error("the policy comes after the style")
	}
}

func TestShowsTheObject(t *testing.T) {
	p := example(t)
	document := parse(t, render(t, p))

	var want, got []string
	for _, line := range yamlview.Lines(p.Objects[0].Tree) {
		want = append(want, line.Text)
	}
	for _, li := range lines(document) {
		got = append(got, strings.Split(text(all(li, "code")[0]), "\n")...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}

	for _, li := range lines(document) {
		labelled := attribute(li, "tabindex") == "0"
		if owned := strings.Contains(attribute(li, "class"), " o"); owned != labelled {
			t.Errorf("%s: has owners: %v, can be focused: %v", text(li), owned, labelled)
		}
	}
	replicas := lineOf(t, document, "  replicas: 4")
	for _, shown := range []string{".spec.replicas", "application-operator", "hpa", "scale", "2026-01-01T11:55:00Z (5m before)", "apps/v1"} {
		if !strings.Contains(text(replicas), shown) {
			t.Errorf("replicas do not show %q: %s", shown, text(replicas))
		}
	}
	if !hasClass(replicas, "shared") {
		t.Error("two owners are shown as one")
	}
	if defaulted := lineOf(t, document, "  revisionHistoryLimit: 10"); !strings.Contains(text(defaulted), "nobody") || !hasClass(defaulted, "unowned") {
		t.Errorf("a default is not marked: %s", text(defaulted))
	}
}

// Conflicts come before everything else, and there is a word if there are none.
func TestConflicts(t *testing.T) {
	p := example(t)
	source := render(t, p)
	if at := strings.Index(source, `<code>.spec.replicas</code> of Deployment web is owned by <strong>hpa</strong> (Update scale)`); at < 0 || at > strings.Index(source, "<main>") {
		t.Error("the contested field is not on top")
	}
	p.Applications = []*v1alpha1.Application{{}}
	if source := render(t, p); !strings.Contains(source, "Nothing is contested.") {
		t.Error("peace is not told")
	}
	p.Applications = nil
	if source := render(t, p); strings.Contains(source, "contested") && strings.Contains(source, "Nothing is contested.") {
		t.Error("peace is told of an object of which nothing is known")
	}
}

// Each filter is a button that a label presses, and has its rules in the style.
func TestFilters(t *testing.T) {
	document := parse(t, render(t, example(t)))
	style := text(all(document, "style")[0])
	ids := map[string]bool{}
	for _, input := range all(document, "input") {
		if attribute(input, "type") != "radio" || attribute(input, "name") != "filter" || attribute(input, "aria-label") == "" {
			t.Errorf("odd input: %+v", input.Attr)
		}
		ids[attribute(input, "id")] = true
	}
	labels := all(document, "label")
	if len(labels) != len(ids) || len(labels) != 6 { // everything, four managers, nobody
		t.Fatalf("%d labels for %d filters", len(labels), len(ids))
	}
	for _, label := range labels {
		id := attribute(label, "for")
		if !ids[id] {
			t.Errorf("label %q presses nothing", text(label))
		}
		if hides := strings.Contains(style, "#"+id+":checked~main .line:not(.o"); hides == (id == "f0") {
			t.Errorf("filter %s hides: %v", id, hides)
		}
	}
}

func lines(document *html.Node) []*html.Node {
	var found []*html.Node
	for _, li := range all(document, "li") {
		if hasClass(li, "line") {
			found = append(found, li)
		}
	}
	return found
}

func lineOf(t *testing.T, document *html.Node, code string) *html.Node {
	t.Helper()
	for _, li := range lines(document) {
		if text(all(li, "code")[0]) == code {
			return li
		}
	}
	t.Fatalf("there is no line %q", code)
	return nil
}
