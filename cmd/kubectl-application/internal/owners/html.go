package owners

import (
	"slices"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/page"
)

// writePage prints the objects as one page.
func (o *options) writePage(subjects []*subject) error {
	p := page.Page{Redacted: o.redact, Now: o.now()}
	for _, s := range subjects {
		p.Objects = append(p.Objects, page.Object{Heading: s.heading(), Notes: s.notes, Tree: s.tree})
		// What was not read from an API server need not have a uid.
		isKnown := func(app *v1alpha1.Application) bool {
			return app.UID == s.application.UID && app.Namespace == s.application.Namespace && app.Name == s.application.Name
		}
		if s.application != nil && !slices.ContainsFunc(p.Applications, isKnown) {
			p.Applications = append(p.Applications, s.application)
		}
	}
	return page.Write(o.factory.Out, p)
}
