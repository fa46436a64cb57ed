// Package page shows trees of fields as one HTML page that stands on its own: it loads nothing, runs no script, and works
// offline. Managers are filtered, and details shown, by CSS alone.
package page

import (
	"crypto/sha256"
	_ "embed" // the template and the style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

// Object is one object to show.
type Object struct {
	// Heading names it.
	Heading string
	// Notes tell what is odd about it.
	Notes []string
	Tree  *fieldtree.Tree
}

// Page is what to show.
type Page struct {
	Objects []Object
	// Applications are those that the objects belong to. What is contested in them is shown on top.
	Applications []*v1alpha1.Application
	// Redacted says that values were hidden.
	Redacted bool
	// Now is when the objects were read.
	Now time.Time
}

//go:embed page.html.tmpl
var source string

//go:embed page.css
var style string

var parsed = template.Must(template.New("page").Parse(source))

// Write renders the page. Everything in it that stems from objects is escaped.
func Write(out io.Writer, page Page) error {
	return parsed.Execute(out, newView(page))
}

// Hues of managers, those that are told apart best first.
var hues = []int{212, 28, 150, 285, 352, 182, 55, 325, 250, 95}

// styleFor returns the style with the rules for as many filters and for indentations up to that of indent spaces. The rules
// are made of numbers alone.
func styleFor(filters, indent int) template.CSS {
	var b strings.Builder
	b.WriteString(style)
	for i, hue := range hues {
		fmt.Fprintf(&b, ".c%d{--hue:%d}\n", i, hue)
	}
	for i := range filters {
		if i != everything {
			fmt.Fprintf(&b, "#f%[1]d:checked~main .line:not(.o%[1]d):not(.a%[1]d){display:none}\n", i)
			fmt.Fprintf(&b, "#f%[1]d:checked~main .line:not(.o%[1]d){opacity:.55}\n", i)
		}
		fmt.Fprintf(&b, "#f%[1]d:checked~nav label[for=f%[1]d]{outline:2px solid currentColor}\n", i)
		fmt.Fprintf(&b, "#f%[1]d:focus-visible~nav label[for=f%[1]d]{outline:3px solid var(--focus)}\n", i)
	}
	for i := 0; i <= indent; i += 2 {
		fmt.Fprintf(&b, ".i%d{padding-left:%[2]dch;text-indent:-%[2]dch}\n", i, i+4)
	}
	return template.CSS(b.String()) //nolint:gosec // nothing of an object is in it
}

// policy allows the page its own style, and nothing else.
func policy(style template.CSS) string {
	sum := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
}
