package yamlview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/redact"
)

// Line is one line of YAML.
type Line struct {
	// Text is the line with its indentation.
	Text string
	// Node is the field whose owners belong beside the line. It is nil for the further lines of a text.
	Node *fieldtree.Node
	// Item is the item of a list whose first field is on the line, beside its dash.
	Item *fieldtree.Node
	// Opens is true for the line that a text of several lines follows. The next line cannot be a comment.
	Opens bool
}

// Lines returns the object's content as YAML.
func Lines(tree *fieldtree.Tree) []Line {
	var w writer
	w.children(tree.Root, "")
	return w.lines
}

type writer struct{ lines []Line }

func (w *writer) add(text string, node *fieldtree.Node) {
	w.lines = append(w.lines, Line{Text: text, Node: node})
}

func (w *writer) children(node *fieldtree.Node, indent string) {
	for _, child := range node.Children {
		if child.Item {
			w.item(child, indent)
		} else {
			w.field(child, indent, indent)
		}
	}
}

// field writes a field of a map. The first line begins with lead, which may hold the dash of the item that the field is in.
func (w *writer) field(node *fieldtree.Node, lead, indent string) {
	lead += key(node.Name) + ":"
	if len(node.Children) == 0 {
		w.value(node, lead+" ", indent+"  ")
		return
	}
	w.add(lead, node)
	if node.Shape == fieldtree.List {
		w.children(node, indent) // as kubectl prints it, without a deeper indentation
		return
	}
	w.children(node, indent+"  ")
}

// item writes an item of a list. Its first field is on the line of its dash if both have the same owners, else a dash stands
// alone, since who owns the item is one thing and who owns what is in it another.
func (w *writer) item(node *fieldtree.Node, indent string) {
	inner := indent + "  "
	switch {
	case len(node.Children) == 0:
		w.value(node, indent+"- ", inner)
	case node.Shape == fieldtree.Map && mayShareLine(node):
		first := len(w.lines)
		w.field(node.Children[0], indent+"- ", inner)
		w.lines[first].Item = node
		for _, child := range node.Children[1:] {
			w.field(child, inner, inner)
		}
	default:
		w.add(indent+"-", node)
		w.children(node, inner)
	}
}

func mayShareLine(item *fieldtree.Node) bool {
	if item.Context || item.State == fieldtree.Structure {
		return true
	}
	first := item.Children[0]
	return slices.Equal(item.Owners, first.Owners) && first.State == item.State
}

// value writes what ownership goes no deeper into: a scalar, or an empty map or list.
func (w *writer) value(node *fieldtree.Node, lead, indent string) {
	switch {
	case node.Shape == fieldtree.Map:
		w.add(lead+"{}", node)
		return
	case node.Shape == fieldtree.List:
		w.add(lead+"[]", node)
		return
	case node.Redacted:
		w.add(lead+scalar(redact.Hidden), node)
		return
	}
	text := scalar(node.Scalar)
	first, rest, isBlock := strings.Cut(text, "\n")
	w.lines = append(w.lines, Line{Text: lead + first, Node: node, Opens: isBlock})
	if !isBlock {
		return
	}
	for line := range strings.SplitSeq(rest, "\n") {
		if line != "" {
			line = indent + strings.TrimPrefix(line, blockIndent)
		}
		w.add(line, nil)
	}
}

// blockIndent is how the encoder indents the lines of a text.
const blockIndent = "  "

// scalar returns a scalar as YAML: on one line, or as a block of which all lines but the first are indented.
func scalar(v any) string {
	s, isText := v.(string)
	if isText && strings.ContainsAny(s, otherBreaks) {
		return quoted(v)
	}
	encoded, err := yaml.Marshal(v)
	if err != nil {
		return quoted(v)
	}
	text := strings.TrimSuffix(string(encoded), "\n")
	if !strings.Contains(text, "\n") {
		return text
	}
	header, _, _ := strings.Cut(text, "\n")
	if header != "|" && header != "|-" && header != "|+" {
		return quoted(v) // a long line that was folded, or a block that has to say how deep it is indented
	}
	return text
}

// key returns the name of a field as YAML, which is one line whatever it is.
func key(name string) string {
	text := scalar(name)
	if strings.Contains(text, "\n") {
		return quoted(name)
	}
	return text
}

// otherBreaks are characters that end a line in YAML, and hardly anywhere else: NEL, LS and PS.
const otherBreaks = "\u0085\u2028\u2029"

// quoted returns a scalar in quotes, or as JSON writes it, on one line.
func quoted(v any) string {
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "null" // infinite numbers, which no JSON holds
	}
	var b strings.Builder
	for _, r := range strings.TrimSuffix(encoded.String(), "\n") {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
