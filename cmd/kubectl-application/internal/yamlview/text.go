package yamlview

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

const (
	// gap separates a line from its owners.
	gap = "  # "
	// underneath is the gap of owners that are on the line after theirs.
	underneath = "  # ↑ "
	// roomForOwners is how many columns owners get on a terminal; lines that leave less have them underneath.
	roomForOwners = 28
	// maxColumn is where owners begin at the latest if lines may have any length.
	maxColumn = 72
	// maxAbsent bounds how many claims on absent fields are listed for each manager.
	maxAbsent = 10
)

// Title says which object is shown, and where it is from.
type Title struct {
	// Heading is the first line, a comment.
	Heading string
	// Notes follow it.
	Notes []string
}

// Write prints one object. The colours are those of the terminal, the ages are reckoned from now.
func Write(out io.Writer, tree *fieldtree.Tree, title Title, terminal cli.Terminal, now time.Time) error {
	p := &printer{
		out:    bufio.NewWriter(out),
		tree:   tree,
		labels: LabelsFor(tree, now),
		paint:  newPaint(terminal.Colour),
		width:  terminal.Width,
	}
	lines := Lines(tree)
	p.column = p.chooseColumn(lines)
	p.title(title, lines)
	for _, line := range lines {
		p.line(line)
	}
	p.absent()
	return p.out.Flush()
}

type printer struct {
	out    *bufio.Writer
	tree   *fieldtree.Tree
	labels Labels
	paint  paint
	// width of the terminal, 0 if lines may have any length.
	width int
	// column is where owners begin.
	column int
}

// comment prints a line. Whatever a file holds cannot break out of it.
func (p *printer) comment(format string, args ...any) {
	fmt.Fprintln(p.out, p.paint.faint("# "+printable(fmt.Sprintf(format, args...))))
}

func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

func (p *printer) title(title Title, lines []Line) {
	p.comment("%s", title.Heading)
	for _, note := range title.Notes {
		p.comment("%s", note)
	}
	for _, problem := range p.tree.Problems {
		p.comment("Not readable, and left out: %s", problem)
	}
	switch {
	case !p.tree.Tracked:
		p.comment("It has no managedFields, so nothing is on record about its owners.")
	case slices.ContainsFunc(lines, func(l Line) bool { return p.hasLabel(l.Node) && l.Node.State == fieldtree.Unowned }):
		p.comment("%s: no manager owns the field; as a rule it is a default of the API server.", Nobody)
	}
}

// chooseColumn finds the column that suits most lines. Longer ones push their owners to the right, or to the next line.
func (p *printer) chooseColumn(lines []Line) int {
	limit := maxColumn
	if p.width > 0 {
		limit = max(p.width/2, p.width-2*roomForOwners)
	}
	column := 0
	for _, line := range lines {
		if n := utf8.RuneCountInString(line.Text); n <= limit && p.hasLabel(line.Node) {
			column = max(column, n)
		}
	}
	return column
}

func (p *printer) hasLabel(node *fieldtree.Node) bool {
	return node != nil && !node.Context && (node.State == fieldtree.Owned || node.State == fieldtree.Unowned && p.tree.Tracked)
}

func (p *printer) line(line Line) {
	text := line.Text
	if line.Node != nil {
		text = p.paint.text(line.Node, text)
	}
	if !p.hasLabel(line.Node) {
		fmt.Fprintln(p.out, text)
		return
	}
	n := utf8.RuneCountInString(line.Text)
	begin, mark := max(n, p.column), gap
	if p.width > 0 && !line.Opens && begin > p.column && p.width-begin-len(gap) < roomForOwners {
		fmt.Fprintln(p.out, text)
		text, n, begin, mark = "", 0, p.column, underneath
	}
	room := 0
	if p.width > 0 {
		room = max(1, p.width-begin-utf8.RuneCountInString(mark))
	}
	fmt.Fprintln(p.out, text+strings.Repeat(" ", begin-n)+p.paint.faint(mark)+p.owners(line.Node, room))
}

// owners renders the owners in no more than room columns, if room is not 0: at first without their ages, then by their names
// alone, then as many as there is room for.
func (p *printer) owners(node *fieldtree.Node, room int) string {
	if node.State == fieldtree.Unowned {
		return p.paint.faint(truncate(Nobody, room))
	}
	ways := []func(ownership.Entry) string{
		p.labels.Owner,
		func(e ownership.Entry) string { e.Time = nil; return p.labels.Owner(e) },
		func(e ownership.Entry) string { return Name(e.Name) },
	}
	for _, way := range ways {
		if plain, painted := p.join(node.Owners, way); room == 0 || utf8.RuneCountInString(plain) <= room {
			return painted
		}
	}
	shortest := ways[len(ways)-1]
	for shown := len(node.Owners) - 1; shown > 0; shown-- {
		rest := fmt.Sprintf(", +%d", len(node.Owners)-shown)
		if plain, painted := p.join(node.Owners[:shown], shortest); utf8.RuneCountInString(plain+rest) <= room {
			return painted + p.paint.faint(rest)
		}
	}
	first := node.Owners[0]
	rest := ""
	if more := len(node.Owners) - 1; more > 0 {
		rest = fmt.Sprintf(", +%d", more)
	}
	name := truncate(shortest(p.tree.Entries[first]), max(1, room-len(rest)))
	return p.paint.owner(first, name) + p.paint.faint(rest)
}

func (p *printer) join(owners []int, way func(ownership.Entry) string) (plain, painted string) {
	plains, painteds := make([]string, 0, len(owners)), make([]string, 0, len(owners))
	for _, owner := range owners {
		text := way(p.tree.Entries[owner])
		plains, painteds = append(plains, text), append(painteds, p.paint.owner(owner, text))
	}
	return strings.Join(plains, ", "), strings.Join(painteds, p.paint.faint(", "))
}

// absent lists what is owned but not there.
func (p *printer) absent() {
	for i, entry := range p.tree.Entries {
		var paths []string
		for _, claim := range p.tree.Absent {
			if claim.Owner == i {
				paths = append(paths, claim.Path.String())
			}
		}
		if len(paths) == 0 {
			continue
		}
		p.comment("Owned by %s, but not in the object:", p.labels.Owner(entry))
		for _, path := range paths[:min(len(paths), maxAbsent)] {
			p.comment("  %s", path)
		}
		if more := len(paths) - maxAbsent; more > 0 {
			p.comment("  and %d more, see --output=yaml", more)
		}
	}
}

func truncate(s string, room int) string {
	if room == 0 || utf8.RuneCountInString(s) <= room {
		return s
	}
	runes := []rune(s)
	return string(runes[:room-1]) + "…"
}
