package owners

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

// list is what --output=json and yaml print.
type list struct {
	Items []item `json:"items"`
}

type item struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Fields are all fields that can have owners, in the order of the YAML.
	Fields []field `json:"fields"`
	// Absent are fields that somebody owns and the object does not have.
	Absent []field `json:"absent,omitempty"`
	// Problems are what is wrong with managedFields.
	Problems []string `json:"problems,omitempty"`
}

type field struct {
	Path string `json:"path"`
	// Value is absent for maps, lists and items that have fields of their own.
	Value *any `json:"value,omitempty"`
	// Redacted says that the value, or a part of it, is hidden.
	Redacted bool `json:"redacted,omitempty"`
	// Owners is absent if nobody owns the field.
	Owners []owner `json:"owners,omitempty"`
}

type owner struct {
	Manager     string `json:"manager"`
	Operation   string `json:"operation"`
	Subresource string `json:"subresource,omitempty"`
	APIVersion  string `json:"apiVersion"`
	Time        string `json:"time,omitempty"`
}

func writeData(out io.Writer, subjects []*subject, format string) error {
	l := list{Items: make([]item, 0, len(subjects))}
	for _, s := range subjects {
		l.Items = append(l.Items, dataOf(s))
	}
	encoded, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the owners: %w", err)
	}
	encoded = append(encoded, '\n')
	if format == outputYAML {
		if encoded, err = yaml.JSONToYAML(encoded); err != nil {
			return fmt.Errorf("encoding the owners: %w", err)
		}
	}
	_, err = out.Write(encoded)
	return err
}

func dataOf(s *subject) item {
	data := item{
		APIVersion: s.object.GetAPIVersion(),
		Kind:       s.object.GetKind(),
		Namespace:  s.object.GetNamespace(),
		Name:       s.object.GetName(),
		Fields:     []field{},
	}
	s.tree.Root.Walk(func(n *fieldtree.Node) bool {
		if !n.Context && (n.State == fieldtree.Owned || n.State == fieldtree.Unowned) {
			data.Fields = append(data.Fields, fieldOf(s.tree, n))
		}
		return !n.Whole
	})
	for _, claim := range s.tree.Absent {
		data.Absent = append(data.Absent, field{Path: claim.Path.String(), Owners: []owner{ownerOf(s.tree.Entries[claim.Owner])}})
	}
	for _, problem := range s.tree.Problems {
		data.Problems = append(data.Problems, problem.Error())
	}
	return data
}

func fieldOf(tree *fieldtree.Tree, n *fieldtree.Node) field {
	f := field{Path: n.Path.String()}
	if n.Leaf() {
		content := n.Content()
		f.Value = &content
		n.Walk(func(inside *fieldtree.Node) bool { f.Redacted = f.Redacted || inside.Redacted; return true })
	}
	for _, index := range n.Owners {
		f.Owners = append(f.Owners, ownerOf(tree.Entries[index]))
	}
	return f
}

func ownerOf(entry ownership.Entry) owner {
	return owner{
		Manager:     entry.Name,
		Operation:   string(entry.Operation),
		Subresource: entry.Subresource,
		APIVersion:  entry.APIVersion,
		Time:        formatTime(entry.Time),
	}
}

func formatTime(t *metav1.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// quoteAll lists texts without repetition.
func quoteAll(texts []string) string {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	texts = slices.Compact(texts)
	for i := range texts {
		texts[i] = strconv.Quote(texts[i])
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
