package yamlview

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/duration"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/fieldtree"
)

// Nobody is shown as the owner of fields that have none.
const Nobody = "nobody"

// Labels name the owners of one object's fields.
type Labels struct {
	// Now is what ages are reckoned from.
	Now time.Time
	// APIVersion is the object's own. Entries that were written at another one say so.
	APIVersion string
}

// LabelsFor returns the labels for a tree.
func LabelsFor(tree *fieldtree.Tree, now time.Time) Labels {
	return Labels{Now: now, APIVersion: tree.APIVersion}
}

// Owner renders one owner as "NAME (OPERATION[ SUBRESOURCE][ VERSION][, AGE])".
func (l Labels) Owner(entry ownership.Entry) string {
	return Name(entry.Name) + " " + l.Details(entry)
}

// Details is the part of Owner in parentheses.
func (l Labels) Details(entry ownership.Entry) string {
	words := []string{string(entry.Operation)}
	if entry.Subresource != "" {
		words = append(words, Name(entry.Subresource))
	}
	if entry.APIVersion != l.APIVersion {
		words = append(words, Name(entry.APIVersion))
	}
	details := strings.Join(words, " ")
	if age := l.Age(entry); age != "" {
		details += ", " + age
	}
	return "(" + details + ")"
}

// Age returns how long ago the entry changed, and nothing if that is not on record.
func (l Labels) Age(entry ownership.Entry) string {
	if entry.Time == nil || entry.Time.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(0, l.Now.Sub(entry.Time.Time)))
}

// Name returns the name of a manager, quoted if it could be taken for anything else: the API server accepts any text.
func Name(name string) string {
	isOdd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@+", r)
	}
	if name == "" || name == Nobody || strings.IndexFunc(name, isOdd) >= 0 {
		return strconv.Quote(name)
	}
	return name
}
