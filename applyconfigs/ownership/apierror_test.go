package ownership

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func applyConflict(causes ...metav1.StatusCause) error {
	return apierrors.NewApplyConflict(causes, "Apply failed")
}

func cause(field, message string) metav1.StatusCause {
	return metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: field, Message: message}
}

func TestFromErrorReadsTheOwner(t *testing.T) {
	long := strings.Repeat("x", 128)
	for message, want := range map[string]Conflict{
		`conflict with "gitops"`:                                                                 {Manager: "gitops", Operation: applied},
		`conflict with "kubectl-edit" using apps/v1`:                                             {Manager: "kubectl-edit", Operation: updated, APIVersion: "apps/v1"},
		`conflict with "kubectl-edit" using apps/v1 at 2026-07-01T09:00:00Z`:                     {Manager: "kubectl-edit", Operation: updated, APIVersion: "apps/v1"},
		`conflict with "kubectl" with subresource "scale" using apps/v1 at 2026-07-01T09:00:00Z`: {Manager: "kubectl", Operation: updated, Subresource: "scale", APIVersion: "apps/v1"},
		`conflict with "auditor" with subresource "status"`:                                      {Manager: "auditor", Operation: applied, Subresource: "status"},
		`conflict with "ops \"night\" team" using v1`:                                            {Manager: `ops "night" team`, Operation: updated, APIVersion: "v1"},
		`conflict with "a, b: c"`:                                                                {Manager: "a, b: c", Operation: applied},
		`conflict with "x\" with subresource \"scale\" using v2" using v1`:                       {Manager: `x" with subresource "scale" using v2`, Operation: updated, APIVersion: "v1"},
		`conflict with "grün\tund \\ blau"`:                                                      {Manager: "grün\tund \\ blau", Operation: applied},
		fmt.Sprintf(`conflict with %q`, long):                                                    {Manager: long, Operation: applied},
		`conflict with "" using v1`:                                                              {Operation: updated, APIVersion: "v1"},
		// Wordings that are not known give the field alone.
		`conflict with kubectl using v1`:       {},
		`conflict with "open`:                  {},
		"conflict with `raw`":                  {},
		`conflict with 'x'`:                    {},
		`conflict with "a" and "b"`:            {},
		`conflict with "a" with subresource b`: {},
		`field is owned by "a"`:                {},
		``:                                     {},
	} {
		want.Field = ".spec.replicas"
		got, ok := FromError(applyConflict(cause(want.Field, message)))
		if !ok {
			t.Fatalf("%s: no conflict", message)
		}
		wantEqual(t, message, got, []Conflict{want})
	}
}

func TestFromErrorSortsAndKeepsAllOwners(t *testing.T) {
	byA := cause(".spec.replicas", `conflict with "a"`)
	byB := cause(".spec.replicas", `conflict with "b" using apps/v1 at 2026-07-01T09:00:00Z`)
	bLater := cause(".spec.replicas", `conflict with "b" using apps/v1 at 2026-08-01T09:00:00Z`)
	env := cause(`.spec.template.spec.containers[name="app"].env[name="A.B"].value`, `conflict with "a"`)
	want := []Conflict{
		{Field: ".spec.replicas", Manager: "a", Operation: applied},
		{Field: ".spec.replicas", Manager: "b", Operation: updated, APIVersion: "apps/v1"},
		{Field: env.Field, Manager: "a", Operation: applied},
	}
	for _, causes := range [][]metav1.StatusCause{
		{byA, byB, env},
		{env, bLater, byB, byA, env},
	} {
		got, ok := FromError(fmt.Errorf("apply: %w", applyConflict(causes...)))
		if !ok {
			t.Fatal("no conflict")
		}
		wantEqual(t, "conflicts", got, want)
	}
}

func TestOtherErrorsAreNoConflicts(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	otherCode := apierrors.NewInvalid(deploymentGVK.GroupKind(), "web", nil)
	otherCode.ErrStatus.Details.Causes = []metav1.StatusCause{cause(".spec", `conflict with "a"`)}
	uid := apierrors.NewConflict(deployments, "web", errors.New("Precondition failed: UID in precondition: a, UID in object meta: b"))
	uid.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: ".metadata.uid"}}
	noDetails := apierrors.NewConflict(deployments, "web", errors.New("modified"))
	noDetails.ErrStatus.Details = nil

	for name, err := range map[string]error{
		"none":            nil,
		"plain":           errors.New(`conflict with "a"`),
		"optimistic lock": apierrors.NewConflict(deployments, "web", errors.New("the object has been modified")),
		"uid":             uid,
		"no details":      noDetails,
		"already exists":  apierrors.NewAlreadyExists(deployments, "web"),
		"invalid":         otherCode,
	} {
		if got, ok := FromError(err); ok || len(got) != 0 {
			t.Errorf("%s: conflicts %v", name, got)
		}
		if got, ok := FromErrorAndLive(err, nil, us); ok || len(got) != 0 {
			t.Errorf("%s, with live: conflicts %v", name, got)
		}
	}
}

func TestForeignCausesAreDropped(t *testing.T) {
	got, ok := FromError(applyConflict(metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: ".x"}, cause(".y", `conflict with "a"`)))
	if !ok {
		t.Fatal("no conflict")
	}
	wantEqual(t, "conflicts", got, []Conflict{{Field: ".y", Manager: "a", Operation: applied}})
}

func TestFromErrorAndLive(t *testing.T) {
	replicas := `{"f:spec":{"f:replicas":{}}}`
	older := entry("old", updated, "", replicas)
	older.APIVersion = "apps/v1beta2"
	live := parseAll(t,
		entry(us.Name, applied, "", replicas),
		entry(us.Name, updated, "", replicas),
		entry("gitops", applied, "", replicas),
		entry("kubectl", updated, "scale", replicas),
		entry("kubectl", updated, "", `{"f:spec":{"f:paused":{}}}`),
		entry("old", updated, "", replicas), older,
	)
	known := Conflict{Field: ".spec.replicas", Operation: updated, APIVersion: "apps/v1"}
	with := func(edit func(*Conflict)) Conflict { c := known; edit(&c); return c }
	gitops := with(func(c *Conflict) { c.Manager, c.Operation = "gitops", applied })
	self := with(func(c *Conflict) { c.Manager = us.Name })
	scale := with(func(c *Conflict) { c.Manager, c.Subresource = "kubectl", "scale" })
	old := with(func(c *Conflict) { c.Manager = "old" })
	oldest := with(func(c *Conflict) { c.Manager, c.APIVersion = "old", "apps/v1beta2" })

	for message, want := range map[string][]Conflict{
		`conflict with "gitops"`:                                         {gitops},
		`conflict with "application-operator" using apps/v1`:             {self},
		`conflict with "kubectl" with subresource "scale" using apps/v1`: {scale},
		`conflict with "old" using apps/v1beta2 at 2026-07-01T09:00:00Z`: {oldest},
		`conflict with "newcomer" using apps/v1 at 2026-07-01T09:00:00Z`: {with(func(c *Conflict) { c.Manager = "newcomer" })},
		`conflict with "kubectl" using apps/v1`:                          {with(func(c *Conflict) { c.Manager = "kubectl" })},
		`a wording of the future`:                                        {self, gitops, scale, old, oldest},
	} {
		got, ok := FromErrorAndLive(applyConflict(cause(known.Field, message)), live, us)
		if !ok {
			t.Fatalf("%s: no conflict", message)
		}
		wantEqual(t, message, got, SortConflicts(want))
	}
}

func FuzzCauseMessage(f *testing.F) {
	for _, seed := range []string{
		`conflict with "kubectl" with subresource "scale" using apps/v1 at 2026-07-01T09:00:00Z`,
		`conflict with "ops \"night\" team"`, `conflict with "a, b: c" using v1`, `conflict with "\xff"`, `conflict with "`, ``,
	} {
		f.Add(".spec.replicas", seed)
	}
	live := parseAll(f, entry("kubectl", updated, "scale", `{"f:spec":{"f:replicas":{}}}`))
	f.Fuzz(func(t *testing.T, field, message string) {
		err := applyConflict(cause(field, message), cause(".a", `conflict with "a"`), cause(field, message))
		first, ok := FromError(err)
		if !ok {
			t.Fatal("no conflict")
		}
		wantEqual(t, "sorting again", SortConflicts(first), first)
		resolved, _ := FromErrorAndLive(err, live, us)
		wantEqual(t, "fields", len(GroupByField(resolved)), len(GroupByField(first)))

		// What was read, written as the API server writes it, reads the same.
		owner, ok := parseCauseMessage(message)
		if !ok {
			wantEqual(t, "unknown wording", owner, Entry{})
			return
		}
		again, ok := parseCauseMessage(writeCauseMessage(owner))
		if !ok || again.Manager != owner.Manager || again.APIVersion != owner.APIVersion {
			t.Errorf("%q reads as %v, and that as %v", message, owner, again)
		}
	})
}

func writeCauseMessage(owner Entry) string {
	message := fmt.Sprintf("conflict with %q", owner.Name)
	if owner.Subresource != "" {
		message += fmt.Sprintf(" with subresource %q", owner.Subresource)
	}
	if owner.Operation == updated {
		message += " using " + owner.APIVersion
	}
	return message
}
