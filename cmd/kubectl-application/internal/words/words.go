// Package words puts managers and values into sentences.
package words

import (
	"encoding/json"
	"fmt"
	"strings"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// Scaler names ownership.ScaledToZero.
const Scaler = "nobody on record (scaled to zero)"

// Managers names managers: "kubectl" (Update, subresource scale) and "helm" (Apply). A manager's name may hold anything:
// quoted, it cannot be taken for a part of the sentence.
func Managers(managers []ownership.Manager) string {
	names := make([]string, 0, len(managers))
	for _, m := range managers {
		if m == ownership.ScaledToZero {
			names = append(names, Scaler)
			continue
		}
		how := string(m.Operation)
		if m.Subresource != "" {
			how += ", subresource " + m.Subresource
		}
		names = append(names, fmt.Sprintf("%q (%s)", m.Name, how))
	}
	return strings.Join(names, " and ")
}

// Owners names the owners of a contested field, as Managers does.
func Owners(field ownership.FieldConflict) string {
	managers := make([]ownership.Manager, 0, len(field.Conflicts))
	for _, c := range field.Conflicts {
		managers = append(managers, c.Owner())
	}
	return Managers(managers)
}

// Value renders a value as JSON, and none as nothing.
func Value(value any, nothing string) string {
	if value == nil {
		return nothing
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(value)) // no value of an object is so
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Policy returns the conflict policy of an Application, its default included.
func Policy(app *v1alpha1.Application) v1alpha1.ConflictPolicy {
	if app.Spec.ConflictPolicy == "" {
		return v1alpha1.ConflictAbort
	}
	return app.Spec.ConflictPolicy
}
