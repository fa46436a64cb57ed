package controllers

import (
	"fmt"
	"strings"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// maxListedFields bounds how many contested fields a message names. status.conflicts names all.
const maxListedFields = 8

// conflictMessage says which fields are contested, what that holds up, and what to do.
func conflictMessage(result *childResult) string {
	return fmt.Sprintf("%s is left as it is, and no change of it is applied, because the spec wants other values in fields that other field managers own: %s. "+
		"For each field, set the spec to the live value (or remove it there), or let its manager give it up",
		result.describe(), listConflicts(result.conflicts))
}

// listConflicts renders contested fields, each with all its managers, in a stable order.
func listConflicts(conflicts []ownership.Conflict) string {
	fields := ownership.GroupByField(conflicts)
	parts := make([]string, 0, len(fields))
	for i, field := range fields {
		if i == maxListedFields {
			parts = append(parts, "and more, see status.conflicts")
			break
		}
		owners := make([]string, 0, len(field.Conflicts))
		for _, c := range field.Conflicts {
			owners = append(owners, describeOwner(c))
		}
		parts = append(parts, fmt.Sprintf("%s is owned by %s", field.Field, strings.Join(owners, " and ")))
	}
	return strings.Join(parts, "; ")
}

func describeOwner(c ownership.Conflict) string {
	if c.Manager == "" {
		return "a manager that the API server did not name"
	}
	how := string(c.Operation)
	if c.Subresource != "" {
		how += ", subresource " + c.Subresource
	}
	// A manager's name may hold anything: quoted, it cannot be taken for a part of the sentence.
	return fmt.Sprintf("%q (%s)", c.Manager, how)
}
