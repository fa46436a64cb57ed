package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// judgeWrites judges each write of the operator by the object before and after.
func (r *run) judgeWrites(requests []*request) []*failure {
	var problems []*failure
	// What the specs were while the watches were interrupted, nobody knows.
	seenAll := r.world.history.gap(appKind) <= r.rested
	for i, request := range requests {
		if request.event.Forced() {
			problems = append(problems, &failure{invariant: "I1", text: request.String()})
		}
		kind := map[string]string{"deployments": deployment, "services": service}[request.resource]
		if kind == "" || !request.writes() {
			continue
		}
		var found *failure
		if request.event.Verb == "delete" {
			found = r.judgeDeletion(kind)
		} else {
			found = r.judgeWrite(kind, request, requests[:i])
		}
		if found != nil && (seenAll || found.invariant == "I2") {
			found.text += "\n  by " + request.String()
			problems = append(problems, found)
		}
	}
	return problems
}

// recent returns the states of an object that the operator may have acted on since the last rest.
func (r *run) recent(kind string) []version {
	versions := r.world.history.of(r.namespace, kind)
	first := 0
	for i := range versions {
		if versions[i].number <= r.rested {
			first = i
		}
	}
	return versions[min(first, len(versions)):]
}

func (r *run) anyApp(holds func(app *unstructured.Unstructured) bool) bool {
	return slices.ContainsFunc(r.recent(appKind), func(v version) bool { return holds(v.object) })
}

// anySpec is anyApp for specs of which something is applied.
func (r *run) anySpec(holds func(app *unstructured.Unstructured) bool) bool {
	return r.anyApp(func(app *unstructured.Unstructured) bool { return !isFaulty(app) && holds(app) })
}

// judgeDeletion: only a Service is ever deleted, and only if the spec wants none.
func (r *run) judgeDeletion(kind string) *failure {
	unwanted := func(app *unstructured.Unstructured) bool {
		return wantedFields(app, kind) == nil && !isPaused(specOf(app))
	}
	if !r.anySpec(unwanted) {
		return &failure{invariant: "I5", text: fmt.Sprintf("%s was deleted, and every spec of late wants it", kind)}
	}
	return nil
}

func (r *run) judgeWrite(kind string, request *request, earlier []*request) *failure {
	before, after, complete := r.around(kind, request)
	switch {
	case !complete || after == nil:
		return nil // written while the API server went away, or nothing was changed
	case before == nil:
		return r.judgeCreation(kind, request, after, earlier)
	case r.isOrphaning(before, after):
		return judgeOrphaning(before, after)
	default:
		return r.judgeChange(kind, before, after)
	}
}

// around returns the object before and after a write. Before is nil if the write created it, after is nil if the write
// changed nothing.
func (r *run) around(kind string, request *request) (before, after *unstructured.Unstructured, complete bool) {
	versions := r.world.history.of(r.namespace, kind)
	n := slices.IndexFunc(versions, func(v version) bool { return v.number == request.number && !v.deleted })
	switch {
	case n < 0:
		return nil, nil, false
	case versions[n].afterGap && n > 0:
		return nil, nil, false
	case request.code == 201:
		return nil, versions[n].object, true
	case n == 0:
		return nil, nil, false
	}
	// A write that changes nothing is answered with the version that somebody else made.
	if r.wrote[request.number] {
		return nil, nil, true
	}
	for _, other := range r.writesBefore(request) {
		if other.number == request.number && other.resource == request.resource {
			return nil, nil, true
		}
	}
	return versions[n-1].object, versions[n].object, true
}

func (r *run) writesBefore(request *request) []*request {
	all, _ := r.world.requests.in(r.namespace)
	return all[:slices.Index(all, request)]
}

// judgeCreation: nothing is created for an Application that is gone, going, paused, or does not want it.
func (r *run) judgeCreation(kind string, request *request, child *unstructured.Unstructured, earlier []*request) *failure {
	controller := metav1.GetControllerOf(child)
	if controller == nil {
		return &failure{invariant: "I4", text: kind + " was created without an owner"}
	}
	var app *version
	for _, v := range r.world.history.of(r.namespace, appKind) {
		if v.object.GetUID() != controller.UID {
			continue
		}
		if v.number > request.number && app != nil {
			break
		}
		app = &v
	}
	if app == nil {
		return &failure{invariant: "I4", text: kind + " was created for an Application that never was"}
	}
	gone := app.number < request.number && (app.deleted || app.object.GetDeletionTimestamp() != nil)
	if gone && (askedSince(earlier, app) || request.received.Sub(app.seen) > 2*time.Second) {
		return &failure{invariant: "I4", text: kind + " was created after its Application was gone"}
	}
	wants := func(app *unstructured.Unstructured) bool {
		return app.GetUID() == controller.UID && wantedFields(app, kind) != nil && !isPaused(specOf(app))
	}
	if !r.anySpec(wants) {
		return &failure{invariant: "I5", text: kind + " was created, and no spec of late asks for it"}
	}
	return nil
}

// judgeChange: a change touches nothing that is somebody else's, sets what a spec wants, and takes away what the operator
// alone had and no longer wants.
func (r *run) judgeChange(kind string, before, after *unstructured.Unstructured) *failure {
	// Who lets a child go while it is being written to may see that write: the operator knew it as its own.
	children := r.recent(kind)
	permitted := func(app *unstructured.Unstructured) bool {
		return !isPaused(specOf(app)) && wantedFields(app, kind) != nil && slices.ContainsFunc(children, func(child version) bool {
			return child.object.GetUID() == before.GetUID() && (controls(app, child.object) || adoptable(app, child.object))
		})
	}
	if !r.anySpec(permitted) {
		return &failure{invariant: "I5", text: kind + " was written for no Application that wants it and may"}
	}
	was, is := flatten(before.Object), flatten(after.Object)
	ownedBefore, ownedAfter := readOwnership(before, was), readOwnership(after, is)
	if ownedBefore.own() == nil && ownedAfter.own() != nil && ownedBefore.older() && ownedAfter.older() {
		return &failure{invariant: "I5", text: kind + " was applied to without taking over what an older operator had left"}
	}
	for _, path := range changedPaths(was, is) {
		if found := r.judgeField(kind, path, was, is, ownedBefore, ownedAfter); found != nil {
			return found
		}
	}
	return judgeOthers(ownedBefore, ownedAfter, is)
}

func (r *run) judgeField(kind, path string, was, is fields, ownedBefore, ownedAfter ownership) *failure {
	old, existed := was[path]
	current, exists := is[path]
	change := fmt.Sprintf("%s %s: %s -> %s", kind, path, valueText(old, existed), valueText(current, exists))
	if others := ownedBefore.others(path); existed && len(others) > 0 && !goesWithItem(path, is, ownedBefore) {
		return &failure{invariant: "I2", text: fmt.Sprintf("%s, owned by %v", change, others)}
	}
	wanted := func(app *unstructured.Unstructured) bool {
		value, wanted := wantedFields(app, kind)[path]
		return wanted && exists && equal(path, value, current)
	}
	unwanted := func(app *unstructured.Unstructured) bool {
		_, wanted := wantedFields(app, kind)[path]
		return !wanted
	}
	switch {
	case exists && r.anySpec(wanted):
		return nil
	case path == ".spec.replicas":
		return &failure{invariant: "I5", text: change + ": nobody asked for this number"}
	case exists && ownedAfter.anybody(path):
		return &failure{invariant: "I5", text: change + ": no spec of late wants this"}
	case !existed, !ownedBefore.anybody(path):
		return nil // the API server's own: defaults, and what hangs on a type
	case r.anySpec(unwanted):
		return nil
	default:
		return &failure{invariant: "I5", text: change + ": every spec of late wants it"}
	}
}

// goesWithItem reports whether a field went because the list item around it did, which the operator alone owned. An item
// is there for as long as somebody owns it: who only wrote a field into somebody else's item has not made it his.
func goesWithItem(path string, is fields, before ownership) bool {
	item := itemAround(path)
	_, exists := is[item]
	return item != "" && !exists && len(before.others(item)) == 0
}

// itemAround returns the innermost list item that a field is in, or nothing.
func itemAround(path string) string {
	end := strings.LastIndex(path, "]")
	if end < 0 || end == len(path)-1 {
		return ""
	}
	return path[:end+1]
}

// judgeOthers: what others own is theirs after a write of the operator as before, as far as it is there.
func judgeOthers(before, after ownership, is fields) *failure {
	for by, paths := range before {
		if by.isOperator() || by.isHandover() || by.name == unknownName || before.folds(by, after) {
			continue
		}
		for path := range paths {
			if !after[by][path] && !goesWithItem(path, is, before) {
				return &failure{invariant: "I2", text: fmt.Sprintf("%v lost %s", by, path)}
			}
		}
	}
	for by, paths := range after {
		if by.isOperator() || by.isHandover() || by.name == unknownName {
			continue
		}
		for path := range paths {
			if !before[by][path] {
				return &failure{invariant: "I2", text: fmt.Sprintf("%v came to own %s", by, path)}
			}
		}
	}
	return nil
}

// isOrphaning reports whether a child was let go. If the garbage collector, or a person, took the owner reference before,
// the operator still has its claims to give up when the Application goes.
func (r *run) isOrphaning(before, after *unstructured.Unstructured) bool {
	going := func(app *unstructured.Unstructured) bool { return app.GetDeletionTimestamp() != nil }
	return metav1.GetControllerOf(after) == nil && (metav1.GetControllerOf(before) != nil || r.anyApp(going))
}

// judgeOrphaning: a child that is let go keeps every value, and its other managers what they own.
func judgeOrphaning(before, after *unstructured.Unstructured) *failure {
	was, is := flatten(before.Object), flatten(after.Object)
	for _, path := range changedPaths(was, is) {
		if !strings.HasPrefix(path, ".metadata.ownerReferences") {
			return &failure{invariant: "I5", text: fmt.Sprintf("%s was changed when the child was let go", path)}
		}
	}
	return judgeOthers(readOwnership(before, was), readOwnership(after, is), is)
}

func changedPaths(was, is fields) []string {
	all := maps.Clone(was)
	maps.Copy(all, is)
	return slices.DeleteFunc(all.paths(), func(path string) bool {
		old, existed := was[path]
		current, exists := is[path]
		return existed == exists && equal(path, old, current) || filled(path, was, is) || filled(path, is, was)
	})
}

// filled reports whether a map that was empty has got fields. It has no value of its own that would be lost.
func filled(path string, was, is fields) bool {
	content, isMap := was[path].(map[string]any)
	return isMap && len(content) == 0 && slices.ContainsFunc(is.paths(), func(below string) bool { return strings.HasPrefix(below, path+".") })
}

func valueText(value any, exists bool) string {
	if !exists {
		return "absent"
	}
	return asJSON(value)
}

// askedSince reports whether the operator asked for an Application after it was gone.
func askedSince(requests []*request, gone *version) bool {
	return slices.ContainsFunc(requests, func(r *request) bool {
		return r.event.Verb == "get" && r.resource == watched[appKind].Resource && r.received.After(gone.seen)
	})
}
