package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/yamlview"
)

// view is what the template shows.
type view struct {
	Title     string
	Policy    string
	Style     template.CSS
	Taken     string
	Redacted  bool
	Contested []contested
	// Peaceful says that something is known about conflicts, and that there are none.
	Peaceful bool
	Filters  []filter
	Objects  []object
}

// contested is one field of which an Application wants another value.
type contested struct {
	Object, Field, Owner, How string
}

// filter is one choice of what to show. The first one is everything.
type filter struct {
	ID     int
	Colour string
	Label  string
	Detail string
	Count  int
}

type object struct {
	Heading string
	Notes   []string
	Lines   []line
	Absent  []claim
}

// claim is a field that an entry owns, and that the object does not have.
type claim struct {
	Path  string
	Owner owner
}

type line struct {
	Text   string
	Class  string
	Indent int
	Owners []owner
	// Nobody marks a field without owners.
	Nobody bool
	Path   string
}

// Labelled reports whether something is to be said about the line's owners.
func (l line) Labelled() bool { return l.Nobody || len(l.Owners) > 0 }

type owner struct {
	Colour      string
	Name        string
	Short       string
	Operation   string
	Subresource string
	APIVersion  string
	Time        string
}

// everything and nobody are the filters that are no manager's. Managers come after them.
const (
	everything = iota
	nobody
	firstManager
)

func newView(page Page) view {
	b := viewBuilder{page: page, ids: map[ownership.Manager]int{}}
	for _, o := range page.Objects {
		for _, entry := range o.Tree.Entries {
			b.note(entry.Manager)
		}
	}
	slices.SortFunc(b.managers, compare)
	for i, manager := range b.managers {
		b.ids[manager] = firstManager + i
	}
	v := view{
		Taken:    page.Now.UTC().Format("2006-01-02 15:04 MST"),
		Redacted: page.Redacted,
	}
	headings := make([]string, 0, len(page.Objects))
	for _, o := range page.Objects {
		headings = append(headings, o.Heading)
		v.Objects = append(v.Objects, b.object(o))
	}
	v.Title = "Who owns what: " + strings.Join(headings, ", ")
	v.Filters = b.filters()
	v.Contested = contestedOf(page.Applications)
	v.Peaceful = len(page.Applications) > 0 && len(v.Contested) == 0
	v.Style = styleFor(firstManager+len(b.managers), b.indent)
	v.Policy = policy(v.Style)
	return v
}

func compare(a, b ownership.Manager) int {
	return strings.Compare(a.Name+"\x00"+string(a.Operation)+"\x00"+a.Subresource, b.Name+"\x00"+string(b.Operation)+"\x00"+b.Subresource)
}

type viewBuilder struct {
	page     Page
	managers []ownership.Manager
	ids      map[ownership.Manager]int
	// counts are the numbers of lines that the filters show for their own sake, by filter.
	counts map[int]int
	indent int
}

func (b *viewBuilder) note(manager ownership.Manager) {
	if _, ok := b.ids[manager]; !ok {
		b.ids[manager] = 0
		b.managers = append(b.managers, manager)
	}
}

func (b *viewBuilder) filters() []filter {
	filters := []filter{{ID: everything, Label: "everything"}}
	for _, manager := range b.managers {
		id := b.ids[manager]
		filters = append(filters, filter{
			ID:     id,
			Colour: colour(id),
			Label:  yamlview.Name(manager.Name),
			Detail: strings.TrimSpace(string(manager.Operation) + " " + manager.Subresource),
			Count:  b.counts[id],
		})
	}
	return append(filters, filter{ID: nobody, Label: yamlview.Nobody, Count: b.counts[nobody]})
}

func (b *viewBuilder) object(o Object) object {
	labels := yamlview.LabelsFor(o.Tree, b.page.Now)
	v := object{Heading: o.Heading, Notes: o.Notes}
	if !o.Tree.Tracked {
		v.Notes = append(slices.Clone(v.Notes), "It has no managedFields, so nothing is on record about its owners.")
	}
	for _, problem := range o.Tree.Problems {
		v.Notes = append(slices.Clone(v.Notes), fmt.Sprintf("Not readable, and left out: %s", problem))
	}
	for _, l := range yamlview.Lines(o.Tree) {
		if l.Node == nil && len(v.Lines) > 0 {
			v.Lines[len(v.Lines)-1].Text += "\n" + l.Text
			continue
		}
		v.Lines = append(v.Lines, b.line(o.Tree, labels, l))
	}
	for _, c := range o.Tree.Absent {
		v.Absent = append(v.Absent, claim{Path: c.Path.String(), Owner: b.owner(labels, o.Tree.Entries[c.Owner])})
	}
	return v
}

func (b *viewBuilder) line(tree *fieldtree.Tree, labels yamlview.Labels, l yamlview.Line) line {
	v := line{Text: l.Text, Path: l.Node.Path.String()}
	v.Indent = len(l.Text) - len(strings.TrimLeft(l.Text, " "))
	b.indent = max(b.indent, v.Indent)
	classes := []string{"line"}
	switch {
	case l.Node.Context:
	case l.Node.State == fieldtree.Unowned:
		v.Nobody = tree.Tracked
	case l.Node.State == fieldtree.Owned:
		for _, index := range l.Node.Owners {
			v.Owners = append(v.Owners, b.owner(labels, tree.Entries[index]))
		}
	}
	for _, id := range b.idsOf(tree, l.Node) {
		classes = append(classes, fmt.Sprintf("o%d", id))
		b.count(id)
	}
	within := l.Node
	if l.Item != nil {
		within = l.Item
	}
	for _, id := range b.idsWithin(tree, within) {
		classes = append(classes, fmt.Sprintf("a%d", id))
	}
	switch len(v.Owners) {
	case 0:
		if v.Nobody {
			classes = append(classes, "unowned")
		}
	case 1:
		classes = append(classes, v.Owners[0].Colour)
	default:
		classes = append(classes, "shared")
	}
	v.Class = strings.Join(classes, " ")
	return v
}

func (b *viewBuilder) count(id int) {
	if b.counts == nil {
		b.counts = map[int]int{}
	}
	b.counts[id]++
}

// idsOf returns the filters that the field itself belongs to.
func (b *viewBuilder) idsOf(tree *fieldtree.Tree, n *fieldtree.Node) []int {
	switch {
	case n.Context:
		return nil
	case n.State == fieldtree.Unowned && tree.Tracked:
		return []int{nobody}
	}
	var ids []int
	for _, index := range n.Owners {
		ids = append(ids, b.ids[tree.Entries[index].Manager])
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// idsWithin returns the filters that something in the field belongs to.
func (b *viewBuilder) idsWithin(tree *fieldtree.Tree, n *fieldtree.Node) []int {
	var ids []int
	for _, child := range n.Children {
		child.Walk(func(inside *fieldtree.Node) bool {
			ids = append(ids, b.idsOf(tree, inside)...)
			return true
		})
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (b *viewBuilder) owner(labels yamlview.Labels, entry ownership.Entry) owner {
	o := owner{
		Colour:      colour(b.ids[entry.Manager]),
		Name:        yamlview.Name(entry.Name),
		Short:       strings.Trim(labels.Details(entry), "()"),
		Operation:   string(entry.Operation),
		Subresource: entry.Subresource,
		APIVersion:  entry.APIVersion,
	}
	if entry.Time != nil && !entry.Time.IsZero() {
		o.Time = entry.Time.UTC().Format(time.RFC3339) + " (" + labels.Age(entry) + " before)"
	}
	return o
}

func colour(id int) string { return fmt.Sprintf("c%d", (id-firstManager)%len(hues)) }

// contestedOf lists what is contested in the Applications, each once.
func contestedOf(applications []*v1alpha1.Application) []contested {
	var all []contested
	for _, app := range applications {
		for _, c := range app.Status.Conflicts {
			how := string(c.Operation)
			if c.Subresource != "" {
				how += " " + c.Subresource
			}
			all = append(all, contested{Object: c.Kind + " " + c.Name, Field: c.Field, Owner: yamlview.Name(c.Manager), How: how})
		}
	}
	return all
}
