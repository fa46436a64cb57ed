package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// TestVocabularyIsComplete: a reason that the API has and the vocabulary lacks would be counted as one of somebody else's.
func TestVocabularyIsComplete(t *testing.T) {
	reasons := constants(t, "../apis/application/v1alpha1/conditions.go", "Reason")
	if len(reasons) < 15 {
		t.Fatalf("only %v", reasons)
	}
	for _, reason := range reasons {
		if !slices.Contains(conditionReasons, reason) && !slices.Contains(eventReasons, reason) {
			t.Errorf("%s is not in the vocabulary", reason)
		}
	}
}

// TestVocabularyInOnePlace: no other file invents an outcome, a reason or a key of the log.
func TestVocabularyInOnePlace(t *testing.T) {
	words := map[string]bool{}
	for _, word := range append(constants(t, "vocabulary.go", "outcome"), constants(t, "vocabulary.go", "key")...) {
		words[strconv.Quote(word)] = true
	}
	for _, word := range constants(t, "../apis/application/v1alpha1/conditions.go", "Reason") {
		words[strconv.Quote(word)] = true
	}
	delete(words, `"status"`)                   // also a subresource and a field
	delete(words, `"ProgressDeadlineExceeded"`) // also the Deployment's own reason, which ours is read from
	for path, file := range parseSources(t, ".") {
		if path == "vocabulary.go" {
			continue
		}
		ast.Inspect(file, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if ok && literal.Kind == token.STRING && words[literal.Value] {
				t.Errorf("%s spells %s out", path, literal.Value)
			}
			return true
		})
	}
}

func TestKnownOr(t *testing.T) {
	for value, want := range map[string]string{"kubectl": "kubectl", "zoe": "other", "": "other", "Kubectl": "other"} {
		if got := knownOr(value, knownManagers); got != want {
			t.Errorf("%q counts as %q, want %q", value, got, want)
		}
	}
	if !slices.IsSorted(knownManagers[4:]) {
		t.Error("the managers of others are not sorted")
	}
	if got := knownOr(v1alpha1.ReasonSynced, conditionReasons); got != v1alpha1.ReasonSynced {
		t.Errorf("Synced counts as %q", got)
	}
}

// constants returns the string constants of a file whose names begin so.
func constants(t *testing.T, path, prefix string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) || len(spec.Values) != 1 {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		return true
	})
	if len(values) == 0 {
		t.Fatalf("%s has no constants %s…", path, prefix)
	}
	return values
}
