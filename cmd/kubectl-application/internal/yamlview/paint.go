package yamlview

import (
	"fmt"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

// palette are colours that can be told apart on dark and on light terminals: green, yellow, blue, magenta, cyan and red, then
// their bright kin.
var palette = []int{32, 33, 34, 35, 36, 31, 92, 93, 94, 95, 96, 91}

const faintCode = 2

// paint colours text by its owner, or not at all.
type paint bool

func newPaint(colour bool) paint { return paint(colour) }

func (p paint) with(code int, text string) string {
	if !p || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", code, text)
}

func (p paint) faint(text string) string { return p.with(faintCode, text) }

// owner colours a text of one owner, an index into the tree's entries.
func (p paint) owner(index int, text string) string { return p.with(palette[index%len(palette)], text) }

// text colours a line: what one manager owns in its colour; what several share keeps the terminal's own.
func (p paint) text(node *fieldtree.Node, text string) string {
	switch {
	case node.Context || node.State == fieldtree.Unowned || node.State == fieldtree.Untracked:
		return p.faint(text)
	case len(node.Owners) == 1:
		return p.owner(node.Owners[0], text)
	default:
		return text
	}
}
