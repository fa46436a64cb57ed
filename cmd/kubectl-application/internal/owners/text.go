package owners

import (
	"fmt"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/yamlview"
)

// writeText prints the objects as YAML documents with comments.
func (o *options) writeText(subjects []*subject) error {
	terminal := o.factory.Terminal()
	now := o.now()
	for i, s := range subjects {
		if i > 0 {
			fmt.Fprintln(o.factory.Out, "---")
		}
		title := yamlview.Title{Heading: s.heading(), Notes: s.notes}
		if err := yamlview.Write(o.factory.Out, s.tree, title, terminal, now); err != nil {
			return err
		}
	}
	return nil
}
