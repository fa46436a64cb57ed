package conflicts

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// Format is how conflicts are printed.
type Format string

// The formats. Wide is the table with, for each conflict, the commands that end it.
const (
	Wide  Format = "wide"
	Table Format = "table"
	JSON  Format = "json"
	YAML  Format = "yaml"
)

// list is the document that JSON and YAML show. Items is never null.
type list struct {
	Items []Conflict `json:"items"`
}

// printer writes conflicts.
type printer struct {
	out    io.Writer
	format Format
	// namespaces adds a column for them.
	namespaces bool
	now        time.Time
}

func (p *printer) print(conflicts []Conflict) error {
	switch p.format {
	case JSON:
		encoder := json.NewEncoder(p.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(list{Items: append([]Conflict{}, conflicts...)})
	case YAML:
		document, err := yaml.Marshal(list{Items: append([]Conflict{}, conflicts...)})
		if err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		_, err = p.out.Write(document)
		return err
	}
	if len(conflicts) == 0 {
		return nil
	}
	if err := p.table(conflicts); err != nil || p.format == Table {
		return err
	}
	for i := range conflicts {
		if err := p.resolutions(&conflicts[i]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(p.out, "\nWhere the Application is kept in a file or in Git, change its spec there as well.\n")
	return err
}

func (p *printer) table(conflicts []Conflict) error {
	w := printers.GetNewTabWriter(p.out)
	header := []string{"APPLICATION", "OBJECT", "FIELD", "WANTED", "LIVE", "OWNER", "SINCE"}
	if p.namespaces {
		header = append([]string{"NAMESPACE"}, header...)
	}
	fmt.Fprintln(w, strings.Join(header, "\t"))
	for i := range conflicts {
		c := &conflicts[i]
		for _, owner := range c.Owners {
			row := []string{c.Application, c.object(), c.Field, c.wanted(), short(c.Live), owner.String(), p.age(owner)}
			if p.namespaces {
				row = append([]string{c.Namespace}, row...)
			}
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
	}
	return w.Flush()
}

// resolutions writes shell comments and commands, so that a block can be pasted as it is.
func (p *printer) resolutions(c *Conflict) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s of %s: %s\n", c.Field, c.object(), c.effect())
	for _, group := range []struct {
		outcome Outcome
		title   string
	}{
		{KeepLive, c.keepTitle()},
		{GetWanted, c.getTitle()},
	} {
		title := "\n  " + group.title + ":\n"
		for _, resolution := range c.Resolutions {
			if resolution.Outcome != group.outcome {
				continue
			}
			b.WriteString(title)
			title = ""
			fmt.Fprintf(&b, "    # %s\n", resolution.Description)
			for _, command := range resolution.Commands {
				fmt.Fprintf(&b, "    %s\n", command)
			}
		}
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (c *Conflict) keepTitle() string {
	if c.Excludes != "" {
		return "To keep " + excluding(c.path, c.against).String()
	}
	return "To keep " + short(c.Live)
}

func (c *Conflict) getTitle() string {
	if c.Excludes != "" {
		return "To get what is wanted of " + c.Excludes
	}
	return "To get " + c.wanted()
}

func (c *Conflict) object() string { return strings.ToLower(c.Kind) + "/" + c.Name }

// wanted renders the wanted value. Of its status only the operator knows what it would say.
func (c *Conflict) wanted() string {
	if c.Kind == v1alpha1.Kind {
		return "<the operator's>"
	}
	return short(c.Wanted)
}

// effect says what the conflict holds up.
func (c *Conflict) effect() string {
	if c.Kind == v1alpha1.Kind {
		return "the status does not say what the operator reports, but what the owner wrote"
	}
	excludes := ""
	if c.Excludes != "" {
		excludes = "excludes what is wanted of " + c.Excludes + "; "
	}
	if c.Policy == v1alpha1.ConflictYield {
		return excludes + "left as it is, and all else is applied (conflictPolicy Yield)"
	}
	return excludes + fmt.Sprintf("while it is contested, nothing of the %s is applied (conflictPolicy Abort)", strings.ToLower(c.Kind))
}

// String names an owner and how it writes: kubectl (Update, scale).
func (o Owner) String() string {
	if (ownership.Manager{Name: o.Manager, Operation: o.Operation, Subresource: o.Subresource}) == ownership.ScaledToZero {
		return "<nobody> (scaled to zero)"
	}
	how := string(o.Operation)
	if o.Subresource != "" {
		how += ", " + o.Subresource
	}
	if how == "" {
		return "<unknown>"
	}
	return printable(o.Manager) + " (" + how + ")"
}

func (p *printer) age(o Owner) string {
	if o.Since == nil {
		return "<unknown>"
	}
	return duration.HumanDuration(p.now.Sub(o.Since.Time))
}

// maxValue is how much of a value a table shows.
const maxValue = 40

// short renders a value for people: text as it is, all else as JSON.
func short(value any) string {
	if value == nil {
		return "<none>"
	}
	text, isText := value.(string)
	if isText {
		text = printable(text)
	} else {
		text = words.Value(value, "<none>")
	}
	if runes := []rune(text); len(runes) > maxValue {
		return string(runes[:maxValue-1]) + "…"
	}
	return text
}

// printable quotes text that is empty or holds what a line or a terminal cannot.
func printable(text string) string {
	if text == "" || strings.TrimSpace(text) != text || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%q", text)
	}
	return text
}
