package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

func scopeOf(t *testing.T, selector string, namespaces ...string) Scope {
	t.Helper()
	scope := Scope{Namespaces: namespaces}
	if selector != "" {
		parsed, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		scope.Selector = parsed
	}
	return scope
}

func TestScopesOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"team=red", "", true},
		{"team=red", "team=red", true},
		{"team=red", "team=blue", false},
		{"team in (red,green)", "team in (green,blue)", true},
		{"team in (red,green)", "team in (white,blue)", false},
		{"team=red", "team!=red", false},
		{"team=red", "team notin (red,blue)", false},
		{"team in (red,blue)", "team!=red", true},
		{"team", "!team", false},
		{"team=red", "!team", false},
		{"!team", "!team", true},
		{"!team", "team!=red", true}, // absent is not red
		{"team=red", "tier=front", true},
		{"team=red,tier=front", "team=red,tier=back", false},
		{"tier>3", "tier<2", true}, // numbers are not compared
		{"tier>3", "!tier", false},
		{"team=red,team=blue", "", true}, // only where both have a selector
	} {
		a, b := scopeOf(t, c.a), scopeOf(t, c.b)
		if got := a.overlaps(b); got != c.want {
			t.Errorf("%q and %q: %t", c.a, c.b, got)
		}
		if a.overlaps(b) != b.overlaps(a) {
			t.Errorf("%q and %q: not symmetrical", c.a, c.b)
		}
	}
	for _, c := range []struct {
		a, b []string
		want bool
	}{
		{nil, []string{"shop"}, true},
		{[]string{"shop"}, []string{"shop", "bar"}, true},
		{[]string{"shop"}, []string{"bar"}, false},
	} {
		if got := scopeOf(t, "", c.a...).overlaps(scopeOf(t, "", c.b...)); got != c.want {
			t.Errorf("%v and %v: %t", c.a, c.b, got)
		}
	}
}

func TestScopeCovers(t *testing.T) {
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{"team": "red"}}}
	for _, c := range []struct {
		scope Scope
		want  bool
	}{
		{Scope{}, true},
		{scopeOf(t, "team=red", "bar", "shop"), true},
		{scopeOf(t, "team=red", "bar"), false},
		{scopeOf(t, "team=blue"), false},
	} {
		if got := c.scope.covers(app); got != c.want {
			t.Errorf("%s: %t", c.scope.encode(), got)
		}
	}
}

func TestScopeIsWrittenAndRead(t *testing.T) {
	for encoded, scope := range map[string]Scope{
		"{}":                         {},
		`{"namespaces":["a","b"]}`:   scopeOf(t, "", "a", "b"),
		`{"selector":"team=red,!x"}`: scopeOf(t, "team=red,!x"),
	} {
		if got := scope.encode(); got != encoded {
			t.Errorf("wrote %s, want %s", got, encoded)
		}
		read, err := decodeScope(encoded)
		if err != nil || read.encode() != encoded {
			t.Errorf("read %s as %s, %v", encoded, read.encode(), err)
		}
	}
	if scope, err := decodeScope(""); err != nil || scope.encode() != "{}" {
		t.Errorf("an operator that says nothing: %s, %v", scope.encode(), err)
	}
	for _, bad := range []string{"all", `{"selector":"=="}`} {
		if _, err := decodeScope(bad); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
