package tree

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// write prints the rows as a table, of which the first column is a tree.
func write(out io.Writer, root row) error {
	lines := [][]string{{"NAME", "READY", "STATUS", "CONFLICTS", "AGE"}}
	lines = flatten(lines, root, "", "")
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, cell := range line {
			b.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+3))
		}
		if _, err := fmt.Fprintln(out, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// flatten adds the row, whose name follows lead, and those beneath it, whose names follow indent and a branch.
func flatten(lines [][]string, r row, lead, indent string) [][]string {
	lines = append(lines, []string{lead + r.name, r.ready, r.status, r.conflicts, r.age})
	for i, child := range r.children {
		branch, deeper := "├─ ", "│  "
		if i == len(r.children)-1 {
			branch, deeper = "└─ ", "   "
		}
		lines = flatten(lines, child, indent+branch, indent+deeper)
	}
	return lines
}
