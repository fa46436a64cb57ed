package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

const (
	byApply  = metav1.ManagedFieldsOperationApply
	byUpdate = metav1.ManagedFieldsOperationUpdate
)

func TestListConflicts(t *testing.T) {
	const image = `.spec.template.spec.containers[name="app"].image`
	for _, c := range []struct {
		name      string
		conflicts []ownership.Conflict
		want      string
	}{
		{"applied", []ownership.Conflict{{Field: image, Manager: "gitops", Operation: byApply}}, image + ` is owned by "gitops" (Apply)`},
		{"through a subresource", []ownership.Conflict{replicasConflict}, `.spec.replicas is owned by "kubectl" (Update, subresource scale)`},
		{
			"several managers of one field, in any order",
			[]ownership.Conflict{
				{Field: image, Manager: "kubectl-edit", Operation: byUpdate, APIVersion: "apps/v1"},
				{Field: ".spec.replicas", Manager: "hpa", Operation: byUpdate, Subresource: "scale"},
				{Field: image, Manager: "gitops", Operation: byApply},
			},
			`.spec.replicas is owned by "hpa" (Update, subresource scale); ` + image + ` is owned by "gitops" (Apply) and "kubectl-edit" (Update)`,
		},
		{
			"names that could be taken for a part of the sentence",
			[]ownership.Conflict{
				{Field: ".a", Manager: `ops "night" team`, Operation: byApply},
				{Field: ".b", Manager: `a, b: c; .spec.replicas is owned by d`, Operation: byApply},
				{Field: `.metadata.annotations.example.com/a;b`, Manager: strings.Repeat("m", 128), Operation: byUpdate},
			},
			`.a is owned by "ops \"night\" team" (Apply); .b is owned by "a, b: c; .spec.replicas is owned by d" (Apply); ` +
				`.metadata.annotations.example.com/a;b is owned by "` + strings.Repeat("m", 128) + `" (Update)`,
		},
		{
			"one that excludes another",
			[]ownership.Conflict{{Field: ".b", Manager: "x", Operation: byApply, Against: ".a"}},
			`.b is owned by "x" (Apply), and excludes what the spec wants of .a`,
		},
		{"nobody named", []ownership.Conflict{{Field: ".spec.replicas"}}, ".spec.replicas is owned by a manager that the API server did not name"},
		{"an env entry", []ownership.Conflict{{Field: `.spec.template.spec.containers[name="app"].env[name="A.B"].value`, Manager: "x", Operation: byApply}},
			`.spec.template.spec.containers[name="app"].env[name="A.B"].value is owned by "x" (Apply)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, listConflicts(c.conflicts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			slices.Reverse(c.conflicts)
			if diff := cmp.Diff(c.want, listConflicts(c.conflicts)); diff != "" {
				t.Errorf("in the opposite order (-want +got):\n%s", diff)
			}
		})
	}
}

// TestListConflictsIsBounded: a message names eight fields, without counting the rest, which comes and goes.
func TestListConflictsIsBounded(t *testing.T) {
	conflicts := func(n int) (list []ownership.Conflict) {
		for i := range n {
			// Two managers for each: fields are limited, not managers.
			field := fmt.Sprintf(".spec.%c", 'a'+i)
			list = append(list, ownership.Conflict{Field: field, Manager: "m", Operation: byApply}, ownership.Conflict{Field: field, Manager: "n", Operation: byApply})
		}
		return list
	}
	eight, nine, twelve := listConflicts(conflicts(8)), listConflicts(conflicts(9)), listConflicts(conflicts(12))
	if n := strings.Count(eight, "is owned by"); n != 8 || strings.Contains(eight, "more") {
		t.Errorf("eight fields: %s", eight)
	}
	if n := strings.Count(nine, "is owned by"); n != 8 || !strings.HasSuffix(nine, "; and more, see status.conflicts") {
		t.Errorf("nine fields: %s", nine)
	}
	if nine != twelve {
		t.Errorf("the message depends on the number of fields that it does not name:\n%s\n%s", nine, twelve)
	}
}

func TestConflictMessage(t *testing.T) {
	message := conflictMessage(newApp(), contest(t, newApp(), "Deployment", replicasConflict))
	for _, part := range []string{
		"Deployment web is left as it is", "no change of it is applied", // what it holds up
		`.spec.replicas is owned by "kubectl" (Update, subresource scale)`, // what is contested
		"set the spec to the live value", "let its manager give it up",     // the ways out
	} {
		if !strings.Contains(message, part) {
			t.Errorf("the message lacks %q: %s", part, message)
		}
	}
}

// TestAdvice: a message offers just the ways out that there are.
func TestAdvice(t *testing.T) {
	const (
		container = `.spec.template.spec.containers[name="app"].`
		both      = "set the spec to the live value, which is then shared, or remove it from the spec, or let its manager give it up"
		onlySet   = "set the spec to the live value, which is then shared, or let its manager give it up"
		none      = "let its manager give it up"
	)
	inPartial := func(field string) string {
		return "set it in " + field + " to the live value, which is then shared, or remove it from " + field + ", or let its manager give it up"
	}
	fields := func(fields ...string) (conflicts []ownership.Conflict) {
		for _, field := range fields {
			field, against, _ := strings.Cut(field, " against ")
			conflicts = append(conflicts, ownership.Conflict{Field: field, Manager: "m", Operation: byApply, Against: against})
		}
		return conflicts
	}
	for _, c := range []struct {
		name   string
		fields []string
		want   string
	}{
		{"a field of the spec", []string{".spec.replicas"}, "For each field, " + both},
		{"several fields of the spec", []string{".spec.replicas", container + `env[name="A"].value`}, "For each field, " + both},
		{"one that must be there", []string{container + "image"}, "For each field, " + onlySet},
		{"one whose name begins like it", []string{container + "imagePullPolicy"}, "For each field, " + both},
		{"the type of a Service", []string{".spec.type"}, "For each field, " + onlySet},
		{"a label", []string{".metadata.labels.app"}, "For each field, " + none},
		{"the name of a port", []string{container + `ports[containerPort=8080,protocol="TCP"].name`}, "For each field, " + none},
		{"a port in place of another", []string{container + `ports[containerPort=9090,protocol="TCP"].name against ` + container + `ports[containerPort=8080,protocol="TCP"]`}, "For each field, " + both},
		{"a port of a Service in place of another", []string{`.spec.ports[port=9090,protocol="TCP"].name against .spec.ports[port=8080,protocol="TCP"]`}, "For each field, " + both},
		{"a source in place of a value", []string{container + `env[name="A"].valueFrom.fieldRef against ` + container + `env[name="A"].value`}, "For each field, " + both},
		{"a rest of what the spec wants no more", []string{container + "readinessProbe.periodSeconds against " + container + "readinessProbe"}, "For each field, " + onlySet},
		{"another container", []string{`.spec.template.spec.containers[name="sidecar"].image`}, "For each field, " + none},
		{"a field that no schema knows", []string{".spec.template.spec.nonsense"}, "For each field, " + none},
		{"the port of a probe", []string{container + "readinessProbe.httpGet.port"}, "For each field, " + onlySet},
		{"a field of spec.deployment", []string{`.spec.template.spec.containers[name="proxy"].image`}, "For each field, " + inPartial("spec.deployment")},
		{"one inside the main container", []string{container + `env[name="B"].value`}, "For each field, " + inPartial("spec.deployment")},
		{"a field of spec.service", []string{".spec.sessionAffinity"}, "For each field, " + inPartial("spec.service")},
		{"a rest that stands against spec.deployment", []string{".spec.strategy.rollingUpdate.maxSurge against .spec.strategy.type"}, "For each field, " + inPartial("spec.deployment")},
		{
			"one of each", []string{".spec.replicas", ".spec.strategy.type"},
			"For .spec.replicas, " + both + ". For .spec.strategy.type, " + inPartial("spec.deployment"),
		},
		{
			"different ones", []string{".metadata.labels.app", ".spec.replicas", container + "args", container + "image"},
			"For .metadata.labels.app, " + none + ". For .spec.replicas and " + container + "args, " + both + ". For " + container + "image, " + onlySet,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			app, kind := newPartialApp(), "Deployment"
			if strings.HasPrefix(c.fields[0], ".spec.type") || strings.HasPrefix(c.fields[0], ".spec.ports") || strings.HasPrefix(c.fields[0], ".spec.session") {
				kind = "Service"
			}
			if diff := cmp.Diff(c.want, advice(app, contest(t, app, kind, fields(c.fields...)...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJoinSentences(t *testing.T) {
	if got, want := joinSentences([]string{"It said: no.", "Try again"}), "It said: no. Try again"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSentencesBeginWithCapitals: messages about several children are joined.
func TestSentencesBeginWithCapitals(t *testing.T) {
	for _, code := range []int32{403, 422, 500} {
		result := (&childResult{kind: "Deployment", name: "web"}).failed(&apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Message: "words"}})
		if first, _ := utf8.DecodeRuneInString(result.message); !unicode.IsUpper(first) {
			t.Errorf("%d: %s", code, result.message)
		}
	}
}

func TestFieldConflicts(t *testing.T) {
	deployment := &childResult{kind: "Deployment", name: "web", conflicts: []ownership.Conflict{
		{Field: ".spec.replicas", Manager: "hpa", Operation: byUpdate, Subresource: "scale", APIVersion: "apps/v1"},
		{Field: ".spec.replicas", Manager: "kubectl", Operation: byUpdate, Subresource: "scale", APIVersion: "apps/v1"},
	}}
	service := &childResult{kind: "Service", name: "web", conflicts: []ownership.Conflict{{Field: ".metadata.labels.app", Manager: "gitops", Operation: byApply}}}
	want := []v1alpha1.FieldConflict{
		{Kind: "Deployment", Name: "web", Field: ".spec.replicas", Manager: "hpa", Operation: byUpdate, Subresource: "scale", APIVersion: "apps/v1"},
		{Kind: "Deployment", Name: "web", Field: ".spec.replicas", Manager: "kubectl", Operation: byUpdate, Subresource: "scale", APIVersion: "apps/v1"},
		{Kind: "Service", Name: "web", Field: ".metadata.labels.app", Manager: "gitops", Operation: byApply},
	}
	if diff := cmp.Diff(want, fieldConflicts(deployment, service)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	status := deriveStatus(newApp(), deployment, service, start)
	if diff := cmp.Diff(want, status.Conflicts); diff != "" {
		t.Errorf("status.conflicts (-want +got):\n%s", diff)
	}
	if got := fieldConflicts(&childResult{}, &childResult{}); got != nil {
		t.Errorf("no conflicts give %#v: an empty list would be stored", got)
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 10, ""},
		{"just right", 10, "just right"},
		{"much too long", 10, "much to…"},
		{"äöüäöüäöü", 10, "äöü…"},                  // 7 bytes are left: three characters and a half
		{"日本語日本語", 10, "日本…"},                      // two thirds of a character would fit
		{"😀😀😀😀", 10, "😀…"},                         // three quarters
		{"日本語", 9, "日本語"},                          // it is bytes that are limited, and these fit
		{"ab", 3, "ab"},                            // the mark itself takes three
		{"abcd", 3, "…"},                           // nothing else fits
		{"a\xffbcdefghijk", 20, "a\xffbcdefghijk"}, // not touched unless it is cut
	} {
		if got := truncate(c.text, c.limit); got != c.want {
			t.Errorf("truncate(%q, %d) = %q, want %q", c.text, c.limit, got, c.want)
		}
	}
	for limit := 3; limit < 60; limit++ {
		text := strings.Repeat("aä日😀", 6)
		got := truncate(text, limit)
		if len(got) > limit || !utf8.ValidString(got) || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) || !strings.HasSuffix(got, "…") {
			t.Errorf("at %d: %q", limit, got)
		}
		if len(got) < limit-3 {
			t.Errorf("at %d: only %d bytes are used", limit, len(got))
		}
	}
}
