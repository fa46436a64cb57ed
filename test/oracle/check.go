package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// checkScene tells what is not as it must be at rest.
func (r *run) checkScene(s scene) []*failure {
	if s.app == nil {
		return checkLeft(s)
	}
	if s.app.GetDeletionTimestamp() != nil {
		return []*failure{{invariant: "I4", text: "the Application is being deleted and does not go"}}
	}
	var problems []*failure
	verdicts := map[string]verdict{}
	for _, kind := range []string{deployment, service} {
		verdict := judge(s.app, kind, s.children[kind])
		verdicts[kind] = verdict
		problems = append(problems, checkChild(kind, s.children[kind], verdict)...)
	}
	problems = append(problems, checkStatus(s.app, verdicts)...)
	return append(problems, checkTraces(s.app)...)
}

// checkLeft: without an Application no child has one.
func checkLeft(s scene) []*failure {
	var problems []*failure
	for kind, child := range s.children {
		if child == nil {
			continue
		}
		if owner := metav1.GetControllerOf(child); owner != nil && owner.Kind == appKind {
			problems = append(problems, &failure{"I4", fmt.Sprintf("%s belongs to an Application that is gone", kind), ""})
		}
	}
	return problems
}

func checkChild(kind string, live *unstructured.Unstructured, v verdict) []*failure {
	if v.exists != nil && *v.exists != (live != nil) {
		return []*failure{{"I5", fmt.Sprintf("%s exists: %t, expected: %t", kind, live != nil, *v.exists), ""}}
	}
	if v.unmigrated {
		return []*failure{{"I5", kind + " still has the entry of an older operator", ""}}
	}
	if v.held == nil || live == nil {
		return nil
	}
	var problems []*failure
	report := func(format string, args ...any) {
		problems = append(problems, &failure{"I5", kind + " " + fmt.Sprintf(format, args...), ""})
	}
	flat := flatten(live.Object)
	owners := readOwnership(live, flat)
	own := owners.own()
	for _, path := range v.held.paths() {
		if current, found := flat[path]; !found || !equal(path, v.held[path], current) {
			report("%s is %s, wanted %s", path, asJSON(current), asJSON(v.held[path]))
		}
		if !own[path] {
			report("%s is wanted and not contested, and the operator does not own it", path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(own)) {
		if _, wanted := v.held[path]; !wanted {
			report("%s is owned by the operator, which has no business there", path)
		}
	}
	for by, paths := range owners {
		if by.isHandover() {
			if _, wanted := v.held[".spec.replicas"]; wanted || len(paths) != 1 || !paths[".spec.replicas"] {
				report("has an entry of the hand-over manager: %v", slices.Sorted(maps.Keys(paths)))
			}
		}
	}
	return problems
}

// checkStatus: the status tells all of it, and of this very generation.
func checkStatus(app *unstructured.Unstructured, verdicts map[string]verdict) []*failure {
	var problems []*failure
	report := func(invariant, format string, args ...any) {
		problems = append(problems, &failure{invariant, fmt.Sprintf(format, args...), ""})
	}
	status, _, _ := unstructured.NestedMap(app.Object, "status")
	if status["observedGeneration"] != app.GetGeneration() {
		report("status", "observedGeneration is %v, the generation %d", status["observedGeneration"], app.GetGeneration())
	}
	var conflicts []string
	reason := reasonSynced
	for _, kind := range []string{deployment, service} {
		for _, c := range verdicts[kind].conflicts {
			conflicts = append(conflicts, c.String())
		}
		if worse := verdicts[kind].reason; slices.Index(fromGoodToBad, worse) > slices.Index(fromGoodToBad, reason) {
			reason = worse
		}
	}
	good := reason == reasonSynced || reason == reasonFieldsYielded
	if reason == reasonSynced && isPaused(specOf(app)) {
		reason = reasonPaused // all is as wanted now, and would not be kept so
	}
	for _, c := range tamperedFields(app, status) {
		conflicts = append(conflicts, c.String())
		if reason == reasonSynced {
			reason = reasonStatusContested
		}
	}
	if listed := listedConflicts(status); !slices.Equal(listed, conflicts) {
		report("I6", "status.conflicts is\n  %s\nexpected\n  %s", strings.Join(listed, "\n  "), strings.Join(conflicts, "\n  "))
	}

	synced := condition(status, "Synced")
	if want := string(metav1.ConditionTrue); good != (synced["status"] == want) || synced["reason"] != reason {
		report("status", "condition Synced is %v/%v, expected %t/%s", synced["status"], synced["reason"], good, reason)
	}
	message := fmt.Sprint(synced["message"])
	for _, kind := range []string{deployment, service} {
		if bad := verdicts[kind].reason != reasonSynced && !verdicts[kind].faulty; bad && !strings.Contains(message, kind+" "+appName) {
			report("status", "condition Synced does not speak of %s: %s", kind, message)
		}
	}
	for _, paths := range faults(app) {
		if !slices.ContainsFunc(paths, func(path string) bool { return strings.Contains(message, path) }) {
			report("status", "condition Synced names none of %v: %s", paths, message)
		}
	}
	if !good && condition(status, "Ready")["status"] == string(metav1.ConditionTrue) {
		report("status", "condition Ready is True though Synced is not")
	}
	stalled := slices.Contains([]string{reasonFieldConflict, reasonOwnershipLost, reasonResourceExists, reasonInvalid}, reason)
	// Stalled looks at all children, not only at the worst.
	for _, verdict := range verdicts {
		stalled = stalled || slices.Contains([]string{reasonFieldConflict, reasonOwnershipLost, reasonResourceExists, reasonInvalid}, verdict.reason)
	}
	if found := condition(status, "Stalled"); stalled != (found["status"] == string(metav1.ConditionTrue)) {
		report("status", "condition Stalled is %v, expected %t", found["status"], stalled)
	}
	return problems
}

// String writes a conflict for comparison: every part of it counts.
func (c conflict) String() string {
	return strings.Join([]string{c.kind, appName, c.field, c.owner.name, c.owner.operation, c.owner.subresource, c.owner.apiVersion}, " ")
}

func listedConflicts(status map[string]any) []string {
	var listed []string
	entries, _ := status["conflicts"].([]any)
	for _, entry := range entries {
		content, _ := entry.(map[string]any)
		var parts []string
		for _, field := range []string{"kind", "name", "field", "manager", "operation", "subresource", "apiVersion"} {
			text, _ := content[field].(string)
			parts = append(parts, text)
		}
		listed = append(listed, strings.Join(parts, " "))
	}
	return listed
}

// tamperedFields are the fields of the status that a person wrote.
func tamperedFields(app *unstructured.Unstructured, status map[string]any) []conflict {
	var contested []conflict
	owners := readOwnership(app, fields{})
	for name, value := range status {
		if value != tamperedText {
			continue
		}
		for by, paths := range owners {
			if path := ".status." + name; paths[path] && by.name != statusName {
				contested = append(contested, conflict{kind: appKind, field: path, owner: by})
			}
		}
	}
	sortConflicts(contested)
	return contested
}

func condition(status map[string]any, conditionType string) map[string]any {
	conditions, _ := status["conditions"].([]any)
	for _, one := range conditions {
		if content, ok := one.(map[string]any); ok && content["type"] == conditionType {
			return content
		}
	}
	return nil
}

// checkTraces: of an Application the operator owns status and, if it orphans, its finalizer; nothing else.
func checkTraces(app *unstructured.Unstructured) []*failure {
	var problems []*failure
	finalizer := false
	for by, paths := range readOwnership(app, fields{}) {
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			switch {
			case by.name == statusName && by.operation == "Apply" && by.subresource == "status" && strings.HasPrefix(path, ".status."):
			case by.name == finalizerName && by.operation == "Apply" && path == `.metadata.finalizers[="`+orphanFinalizer+`"]`:
				finalizer = true
			case strings.HasPrefix(by.name, operatorName):
				problems = append(problems, &failure{"I5", fmt.Sprintf("%s owns %s of the Application", by.name, path), ""})
			}
		}
	}
	if wanted := orphans(specOf(app)); wanted != finalizer || wanted != slices.Contains(app.GetFinalizers(), orphanFinalizer) {
		problems = append(problems, &failure{"I5", fmt.Sprintf("finalizers are %v, owned: %t, expected: %t", app.GetFinalizers(), finalizer, wanted), ""})
	}
	return problems
}

// checkTransitionTimes: a condition has a new transition time only with a new status.
func checkTransitionTimes(versions []version) []*failure {
	for i := 1; i < len(versions); i++ {
		before, after := versions[i-1].object, versions[i].object
		if before.GetUID() != after.GetUID() || versions[i].afterGap {
			continue
		}
		was, _, _ := unstructured.NestedMap(before.Object, "status")
		is, _, _ := unstructured.NestedMap(after.Object, "status")
		for _, conditionType := range []string{"Ready", "Synced", "Available", "Stalled"} {
			old, current := condition(was, conditionType), condition(is, conditionType)
			if old != nil && current != nil && old["status"] == current["status"] && old["lastTransitionTime"] != current["lastTransitionTime"] {
				return []*failure{{"status", fmt.Sprintf("condition %s stays %v and has a new transition time", conditionType, current["status"]), ""}}
			}
		}
	}
	return nil
}
