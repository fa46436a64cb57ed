package ownership

import (
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Difference says why a live object is not as an intent wants it. It names fields, never values.
type Difference struct {
	// Untracked is true if nothing tells who owns the object's fields: it does not exist, or has no managedFields.
	Untracked bool
	// Missing are desired fields that the manager does not own yet.
	Missing *fieldpath.Set
	// Extra are fields that the manager owns but no longer desires.
	Extra *fieldpath.Set
	// Changed are desired fields whose live value is another, or that are absent.
	Changed *fieldpath.Set
	// Reordered is true if all values are as desired but some list's items stand in another order.
	Reordered bool
	// OldVersion is the API version at which the manager applied last, if that is not the intent's.
	OldVersion string
}

// Empty reports whether there is no difference: the object is up to date, and an apply would change nothing.
func (d Difference) Empty() bool {
	return !d.Untracked && !d.Reordered && d.OldVersion == "" && d.Missing.Empty() && d.Extra.Empty() && d.Changed.Empty()
}

// String lists the reasons for logs, in a stable order.
func (d Difference) String() string {
	if d.Empty() {
		return "up to date"
	}
	var reasons []string
	if d.Untracked {
		reasons = append(reasons, "ownership is not recorded")
	}
	if d.OldVersion != "" {
		reasons = append(reasons, "applied at version "+d.OldVersion)
	}
	for _, part := range []struct {
		reason string
		fields *fieldpath.Set
	}{
		{"value differs", d.Changed},
		{"not owned yet", d.Missing},
		{"no longer desired", d.Extra},
	} {
		if !part.fields.Empty() {
			reasons = append(reasons, fmt.Sprintf("%s: %s", part.reason, pathList(part.fields)))
		}
	}
	if d.Reordered {
		reasons = append(reasons, "list order differs")
	}
	return strings.Join(reasons, "; ")
}

func pathList(fields *fieldpath.Set) string {
	var paths []string
	fields.Iterate(func(path fieldpath.Path) { paths = append(paths, path.String()) })
	return strings.Join(paths, " ")
}
