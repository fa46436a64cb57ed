package transfer

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/redact"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/spec"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// announce shows what the change does, before it is done.
func (t *transfer) announce(change *Change) {
	var b strings.Builder
	for i := range change.Fields {
		t.announceField(&b, change, &change.Fields[i])
	}
	if t.verb == takeVerb {
		b.WriteString(prospect(change))
	}
	if len(change.Patch) == 0 {
		b.WriteString("Nothing needs to be changed.\n")
	}
	fmt.Fprint(t.factory.Out, b.String())
}

func (t *transfer) announceField(b *strings.Builder, change *Change, field *FieldChange) {
	fmt.Fprintf(b, "%s of %s in namespace %s\n", field.Path, change.Child.Reference(), change.Child.App.Namespace)
	before, after := owners(change.Child.Live.GetManagedFields(), field.Path), owners(change.After.Live.GetManagedFields(), field.Path)
	if t.verb == takeVerb && after == nobody {
		after = words.Managers([]ownership.Manager{operator}) + ", by its next apply"
	}
	fmt.Fprintf(b, "  owner: %s\n", becomes(before, after))
	live, then := t.value(field.Path, field.Live), ""
	if t.verb == takeVerb && !reflect.DeepEqual(field.Live, field.Wanted) {
		then = t.value(field.Path, field.Wanted) + ", by its next apply"
		if t.hides(field.Path) {
			then = "another, by its next apply"
		}
	}
	fmt.Fprintf(b, "  value: %s\n", becomes(live, then))
}

func becomes(before, after string) string {
	if after == "" || before == after {
		return before + " (stays)"
	}
	return before + " -> " + after
}

const nobody = "nobody"

func owners(entries []metav1.ManagedFieldsEntry, path fieldpath.Path) string {
	managed, err := ownership.Parse(entries)
	if err != nil {
		return "<unreadable>"
	}
	var all []ownership.Manager
	for _, owner := range managed.Owners(path) {
		all = append(all, owner.Manager)
	}
	if len(all) == 0 {
		return nobody
	}
	return words.Managers(all)
}

// value renders a value as JSON, or hides it.
func (t *transfer) value(path fieldpath.Path, value any) string {
	if value != nil && t.hides(path) {
		return redact.Hidden
	}
	return words.Value(value, "<none>")
}

func (t *transfer) hides(path fieldpath.Path) bool { return t.redact && redact.Hides(path) }

// next says what happens after the change, and what the user has to do for it.
func (t *transfer) next(change *Change) {
	if t.verb != releaseVerb {
		return
	}
	for i := range change.Fields {
		t.nextOfRelease(change, &change.Fields[i])
	}
}

// prospect says what the operator can apply once the fields are taken, or nothing if there is nothing to say.
func prospect(change *Change) string {
	app := change.Child.App
	if app.Spec.Paused {
		return "The Application is paused: the operator applies its values once spec.paused is false.\n"
	}
	plan, err := change.After.Plan()
	if err != nil || len(plan.Conflicts) == 0 {
		return ""
	}
	var contested []string
	for _, field := range ownership.GroupByField(plan.Conflicts) {
		contested = append(contested, field.Field)
	}
	effect := "the operator applies nothing of it before these are settled"
	if app.Spec.ConflictPolicy == v1alpha1.ConflictYield {
		effect = "the operator leaves these to their owners and applies the rest"
	}
	return fmt.Sprintf("Still contested of %s then: %s. Under conflictPolicy %s %s; see \"kubectl application conflicts %s\".\n",
		change.Child.Reference(), strings.Join(contested, ", "), words.Policy(app), effect, app.Name)
}

func (t *transfer) nextOfRelease(change *Change, field *FieldChange) {
	out, child := t.factory.Out, change.Child
	if !child.Intent.Fields().Has(field.Path) {
		fmt.Fprintf(out, "The operator has no claim on %s any more, and its value stays.\n", field.Path)
		return
	}
	if command := t.dropCommand(change, field); command != "" {
		fmt.Fprintf(out, "%s is shared. Remove it from the Application, and the operator lets go of it; the value stays:\n  %s\n", field.Path, command)
		return
	}
	fmt.Fprintf(out, "%s is shared, as long as all want the same value: it cannot be removed from the Application's spec. ", field.Path)
	if child.App.Spec.ConflictPolicy == v1alpha1.ConflictYield {
		fmt.Fprintln(out, "Under conflictPolicy Yield the operator leaves it to whoever writes another value.")
		return
	}
	fmt.Fprintln(out, "Under conflictPolicy Abort another value is a conflict; with conflictPolicy Yield the operator leaves the field to whoever writes another value.")
}

// dropCommand returns the command that makes the Application want the field no longer, but still the child, or nothing if
// there is none.
func (t *transfer) dropCommand(change *Change, field *FieldChange) string {
	source, exists := change.Child.Source(field.Path)
	if !exists || !source.Held || !source.Copied {
		return ""
	}
	edit, err := spec.Drop(t.target(change), t.application, source)
	if err != nil {
		return ""
	}
	after, err := change.Child.After(edit.Edited)
	if err != nil || after.Intent == nil || after.Intent.Fields().Has(field.Path) {
		return ""
	}
	return edit.Command
}

func (t *transfer) target(change *Change) shell.Target {
	return t.factory.Target(change.Child.App.Namespace)
}
