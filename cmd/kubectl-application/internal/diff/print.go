package diff

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/redact"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// comments says in lines that diff tools pass over what a diff cannot show.
func (o *Outcome) comments(hide bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s in namespace %s %s", o.Child.Reference(), o.Child.App.Namespace, o.Effect)
	if o.Reason != "" {
		fmt.Fprintf(&b, ", because %s", o.Reason)
	}
	b.WriteString("\n")
	for _, field := range ownership.GroupByField(o.Conflicts) {
		fmt.Fprintf(&b, "#   contested: %s%s, owned by %s%s\n", field.Field, o.values(field.Field, hide), words.Owners(field), o.left())
	}
	if len(o.Conflicts) > 0 {
		when := "what would end that"
		if o.fromFile {
			when = "what would end that, once the file is applied"
		}
		fmt.Fprintf(&b, "#   %s: kubectl application conflicts %s --namespace=%s\n", when, o.Child.App.Name, o.Child.App.Namespace)
	}
	for _, field := range o.GivenUp {
		fmt.Fprintf(&b, "#   given up: %s %s%s\n", field.Field, field.Then, o.value(field.path, hide))
	}
	return b.String()
}

// left says what becomes of a contested field while the rest is applied.
func (o *Outcome) left() string {
	if o.Effect != LeftAlone && o.Child.App.Spec.ConflictPolicy == v1alpha1.ConflictYield {
		return ", and is left to that, under conflictPolicy Yield"
	}
	return ""
}

// values tells what a contested field is and is wanted to be.
func (o *Outcome) values(field string, hide bool) string {
	path, err := o.Child.Intent.ParsePath(field)
	if err != nil {
		return ""
	}
	live, _, err := o.Child.Intent.LiveValue(o.Child.Live, path)
	if err != nil {
		return ""
	}
	wanted, _ := o.Child.Intent.Value(path)
	if hide && redact.Hides(path) {
		return ""
	}
	return fmt.Sprintf(" is %s, wanted %s", words.Value(live, "absent"), words.Value(wanted, "absent"))
}

// value tells what a field that is given up will be.
func (o *Outcome) value(path fieldpath.Path, hide bool) string {
	value, exists, err := o.Child.Intent.LiveValue(o.After, path)
	if err != nil || !exists || hide && redact.Hides(path) {
		return ""
	}
	return ": " + words.Value(value, "absent")
}

func list(conflicts []ownership.Conflict) string {
	var parts []string
	for _, field := range ownership.GroupByField(conflicts) {
		parts = append(parts, field.Field+" by "+words.Owners(field))
	}
	return strings.Join(parts, "; ")
}

// bookkeeping is what the API server notes of an object for itself.
var bookkeeping = []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// documents returns both sides as YAML, without what is not the Application's to change.
func (o *Outcome) documents(hide bool) (before, after []byte, err error) {
	b, a := o.Before, o.After
	if hide {
		b, a = redact.Pair(b, a)
	}
	if before, err = document(b); err != nil {
		return nil, nil, err
	}
	if o.Effect == Created {
		a = o.withoutAllocations(a)
	}
	after, err = document(a)
	return before, after, err
}

func document(object *unstructured.Unstructured) ([]byte, error) {
	if object == nil {
		return nil, nil
	}
	bare := object.DeepCopy()
	for _, field := range bookkeeping {
		unstructured.RemoveNestedField(bare.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(bare.Object, "status")
	encoded, err := yaml.Marshal(bare.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return encoded, nil
}

// withoutAllocations leaves out of a child that is yet to be created what another value is allocated for then: the uid of an
// Application that is to be created as well, and the addresses of a Service.
func (o *Outcome) withoutAllocations(created *unstructured.Unstructured) *unstructured.Unstructured {
	bare := created.DeepCopy()
	if o.isNew {
		withoutEach(bare, "uid", "metadata", "ownerReferences")
	}
	if o.Child.Object == cli.ServiceObject {
		unstructured.RemoveNestedField(bare.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(bare.Object, "spec", "clusterIPs")
		withoutEach(bare, "nodePort", "spec", "ports")
	}
	return bare
}

// withoutEach removes a field from each item of a list.
func withoutEach(object *unstructured.Unstructured, field string, list ...string) {
	items, found, err := unstructured.NestedSlice(object.Object, list...)
	if !found || err != nil {
		return
	}
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			delete(fields, field)
		}
	}
	_ = unstructured.SetNestedSlice(object.Object, items, list...) // the list is where it was
}
