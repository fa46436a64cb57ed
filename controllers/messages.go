package controllers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// maxListedFields bounds how many contested fields a message names. status.conflicts names all.
const maxListedFields = 8

// conflictMessage says which fields are contested, what that holds up, and what to do.
func conflictMessage(app *v1alpha1.Application, result *childResult) string {
	return fmt.Sprintf("%s is left as it is, and no change of it is applied, because the spec wants other values in fields that other field managers own: %s. %s",
		result.describe(), listConflicts(result.conflicts), advice(app, result))
}

// variable matches words with a digit in them, such as request ids, times and ports.
var variable = regexp.MustCompile(`\S*\d\S*`)

// settledMessage returns the message that the Synced condition has already, if the new one differs from it in nothing but
// words with digits. The words are the API server's or a webhook's, and may be new at each try: to write them each time
// would be an event, and that would be another try at once.
func settledMessage(app *v1alpha1.Application, sync state) string {
	previous := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionSynced)
	if previous == nil || previous.Reason != sync.reason || previous.ObservedGeneration != app.Generation {
		return sync.message
	}
	if variable.ReplaceAllString(previous.Message, "#") == variable.ReplaceAllString(truncate(sync.message, maxMessage), "#") {
		return previous.Message
	}
	return sync.message
}

// mutatedMessage says which fields are not as the spec says because the API server, or its admission, has its way.
func mutatedMessage(result *childResult) string {
	fields := result.mutated
	if len(fields) > maxListedFields {
		fields = append(slices.Clone(fields[:maxListedFields]), "and more")
	}
	return fmt.Sprintf("%s is as the spec wants it but for fields that a webhook or policy of the API server changes at each write, or that it does not heed: %s",
		result.describe(), strings.Join(fields, "; "))
}

// yieldMessage says which fields are left to others.
func yieldMessage(result *childResult) string {
	return fmt.Sprintf("%s is as the spec wants it but for fields that other field managers own and that conflictPolicy Yield leaves to them: %s. "+
		"Each is taken back as soon as its manager lets go of it or has the wanted value",
		result.describe(), listConflicts(result.conflicts))
}

// ownershipLost reports whether a field is contested by nobody: the record of who owns what was wiped, and the API server
// then took all that was there for owned by "before-first-apply".
func ownershipLost(result *childResult) bool {
	return slices.ContainsFunc(result.conflicts, func(c ownership.Conflict) bool { return c.Manager == ownership.BeforeFirstApply })
}

// ownershipLostMessage says what was lost and how to get out of it without anybody seizing a field unseen.
func ownershipLostMessage(result *childResult) string {
	return fmt.Sprintf("A client wiped metadata.managedFields of %s, so nobody can tell any more who owns its fields, and these are not changed: %s. "+
		"For each field, write the wanted value to the live object yourself, for instance with kubectl edit: the operator then shares it and goes on",
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
		part := fmt.Sprintf("%s is owned by %s", field.Field, strings.Join(owners, " and "))
		if against := field.Conflicts[0].Against; against != "" {
			part += fmt.Sprintf(", and excludes what the spec wants of %s", against)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func describeOwner(c ownership.Conflict) string {
	if c.Owner() == ownership.ScaledToZero {
		return "nobody on record, as somebody leaves it who scales to zero"
	}
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
