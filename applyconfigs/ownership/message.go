package ownership

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// parseCauseMessage reads the owner from the message of a FieldManagerConflict cause. The API server (see conflict.go of
// apimachinery's managedfields) puts it nowhere else:
//
//	conflict with "NAME"[ with subresource "SUB"][ using VERSION[ at TIME]]
//
// Only Update managers have a "using" part. Names are quoted as Go does, since they may hold quotes, commas and even
// these very words. The time is dropped: it changes while the conflict stays the same.
// It returns false for any other wording.
func parseCauseMessage(message string) (Entry, bool) {
	name, rest, ok := cutQuoted(message, "conflict with ")
	if !ok {
		return Entry{}, false
	}
	owner := Entry{Manager: Applier(name)}
	if subresource, after, ok := cutQuoted(rest, " with subresource "); ok {
		owner.Subresource, rest = subresource, after
	}
	if using, ok := strings.CutPrefix(rest, " using "); ok {
		owner.Operation = metav1.ManagedFieldsOperationUpdate
		owner.APIVersion, _, _ = strings.Cut(using, " at ")
		rest = ""
	}
	if rest != "" {
		return Entry{}, false
	}
	return owner, true
}

// cutQuoted cuts the prefix and the quoted text after it from s.
func cutQuoted(s, prefix string) (text, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, prefix)
	if !ok || !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", false
	}
	text, err = strconv.Unquote(quoted)
	if err != nil {
		return "", "", false
	}
	return text, s[len(quoted):], true
}
