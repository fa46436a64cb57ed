package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// run is one program on its way.
type run struct {
	world     *world
	namespace string
	program   program

	// spec is what the author has in mind.
	spec settings
	// wrote are the versions of children that the program's actors made.
	wrote map[uint64]bool
	// notes tell what came of each step.
	notes []string
	// rested is the newest version of anything at the last rest; judged counts the operator's requests that were judged.
	rested uint64
	judged int
}

// failure says which invariant a run violates, and how.
type failure struct {
	invariant string
	text      string
	// journal is what happened, for people.
	journal string
}

func (f *failure) Error() string { return f.invariant + ": " + f.text }

// newRun gives a program a namespace of its own.
func (w *world) newRun(ctx context.Context, p program) (*run, error) {
	before := w.history.gap(appKind) // all that will be in the namespace comes later
	namespace, err := w.createNamespace(ctx)
	if err != nil {
		return nil, err
	}
	return &run{world: w, namespace: namespace, program: p, wrote: map[uint64]bool{}, rested: before}, nil
}

// play does the steps. It returns a *failure if an invariant does not hold, and any other error if the program could not
// be played.
func (r *run) play(ctx context.Context) error {
	for n, s := range r.program {
		if err := r.step(ctx, n, s); err != nil {
			return r.withJournal(err)
		}
	}
	return nil
}

func (r *run) withJournal(err error) error {
	if found, ok := errors.AsType[*failure](err); ok && found.journal == "" {
		found.journal = r.journal()
	}
	return err
}

func (r *run) step(ctx context.Context, n int, s step) error {
	if s.verb == verbRest {
		// What a restart is judged by, and the end, has to be rest indeed.
		strictly := n == len(r.program)-1 || r.program[n+1].verb == verbRestart
		return r.rest(ctx, strictly)
	}
	if s.verb == verbRestart && n > 0 && r.program[n-1].verb == verbRest {
		return r.restartAtRest(ctx, s)
	}
	return r.act(ctx, s)
}

func (w *world) createNamespace(ctx context.Context) (string, error) {
	w.order.RLock()
	defer w.order.RUnlock()
	if err := w.ok(); err != nil {
		return "", err
	}
	return w.CreateNamespace(ctx)
}

// end removes what a run leaves behind.
func (r *run) end(ctx context.Context) {
	w := r.world
	for _, s := range []step{{verb: verbEdit, settings: settings{{key: "deletion", absent: true}}}, {verb: verbDelete}, {verb: verbDrop, kind: deployment}, {verb: verbDrop, kind: service}} {
		if s.verb == verbEdit && w.history.latest(r.namespace, appKind) == nil {
			continue
		}
		_ = r.act(ctx, s) // the next run has a namespace of its own
	}
	w.history.forget(r.namespace)
	w.requests.forget(r.namespace)
}

// note remembers what came of a step.
func (r *run) note(s step, err error) {
	text := s.String()
	if err != nil {
		text += "   # " + firstLine(err.Error())
	}
	r.notes = append(r.notes, text)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	const longest = 300
	if len(line) > longest {
		line = line[:longest] + "…"
	}
	return line
}

// journal tells people what happened: the steps with their answers, the operator's requests since the last rest, and what
// is there.
func (r *run) journal() string {
	var text strings.Builder
	fmt.Fprintf(&text, "steps:\n  %s\n", strings.Join(r.notes, "\n  "))
	all, _ := r.world.requests.in(r.namespace)
	text.WriteString("the operator's requests since the last rest:\n")
	for _, request := range all[min(r.judged, len(all)):] {
		fmt.Fprintf(&text, "  %s\n", firstLine(request.String()))
	}
	text.WriteString(describe(r.world.history.scene(r.namespace)))
	return text.String()
}

// describe lists what is there: the Application's status, and each field of the children with its owners.
func describe(s scene) string {
	var text strings.Builder
	if s.app == nil {
		text.WriteString("no Application\n")
	} else {
		status, _, _ := unstructured.NestedMap(s.app.Object, "status")
		fmt.Fprintf(&text, "Application, generation %d: %s\n", s.app.GetGeneration(), asJSON(specOf(s.app)))
		for _, conditionType := range []string{"Synced", "Ready", "Stalled"} {
			c := condition(status, conditionType)
			fmt.Fprintf(&text, "  %s=%v %v: %v\n", conditionType, c["status"], c["reason"], c["message"])
		}
		for _, c := range listedConflicts(status) {
			fmt.Fprintf(&text, "  conflict %s\n", c)
		}
	}
	for _, kind := range []string{deployment, service} {
		child := s.children[kind]
		if child == nil {
			fmt.Fprintf(&text, "no %s\n", kind)
			continue
		}
		fmt.Fprintf(&text, "%s of %v\n", kind, child.GetOwnerReferences())
		flat := flatten(child.Object)
		owners := readOwnership(child, flat)
		for _, path := range flat.paths() {
			if strings.HasPrefix(path, ".metadata.managedFields") {
				continue
			}
			var by []string
			for one, paths := range owners {
				if paths[path] {
					by = append(by, fmt.Sprintf("%s/%s%s", one.name, one.operation, one.subresource))
				}
			}
			if len(by) > 0 {
				slices.Sort(by)
				fmt.Fprintf(&text, "  %s = %s %v\n", path, asJSON(flat[path]), by)
			}
		}
	}
	return text.String()
}
