package ownership_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	applyconfigurations "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	applicationv1alpha1 "mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

var (
	update   = flag.Bool("update", false, "write what the API server answers to testdata")
	programs = flag.Int("programs", 40, "number of random histories")
	seed     = flag.Uint64("seed", 1, "seed of the random histories")
)

// typesOf returns the schemas of a kind: those of client-go, or the generated ones of our own kind.
func typesOf(kind string) managedfields.TypeConverter {
	if kind == "Application" {
		return ownTypes
	}
	return builtInTypes
}

var (
	builtInTypes = applyconfigurations.NewTypeConverter(scheme.Scheme)
	ownTypes     = func() managedfields.TypeConverter {
		scheme := runtime.NewScheme()
		utilruntime.Must(applicationv1alpha1.AddToScheme(scheme))
		return applyconfigs.NewTypeConverter(scheme)
	}()
)

// TestAgainstServer is FR-51: it compares what is foretold with what a real API server answers and does, on chosen
// histories first, then on random ones.
func TestAgainstServer(t *testing.T) {
	server := startServer(t)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			w := server.newWorld(t, s.name, s.kind)
			for _, step := range s.history {
				step(w)
			}
			seen := checkApply(w, s.manager(), s.desired)
			var answered []string
			for _, c := range seen.Conflicts {
				answered = append(answered, c.String())
			}
			wantEqual(t, "conflicts", answered, s.conflicts)
			if s.difference != "" {
				wantEqual(t, "difference", seen.Difference, s.difference)
			}
			if *update {
				writeRecording(t, seen, s.name)
			}
		})
	}
	for n := range *programs {
		t.Run(fmt.Sprintf("program-%d", n), func(t *testing.T) {
			random := rand.New(rand.NewPCG(*seed, uint64(n)))
			w := server.newWorld(t, fmt.Sprintf("program-%d", n), "Deployment")
			for _, step := range randomHistory(random) {
				step(w)
			}
			checkApply(w, ownership.Applier(us), randomConfig(random))
			if t.Failed() {
				t.Logf("repeat with -seed=%d", *seed)
			}
		})
	}
}

// checkApply foretells what an unforced apply does to the object, tries it, and compares. Where it conflicts, the rest
// without the contested fields must go through.
func checkApply(w *world, manager ownership.Manager, desired string) recording {
	t := w.t
	t.Helper()
	intent, err := ownership.NewIntent(typesOf(w.kind), manager, w.object(desired))
	w.must(intent, err)
	live, untyped := w.live()
	foretold, diff := examine(t, intent, live)
	foretoldToo, diffToo := examine(t, intent, untyped)
	wantEqual(t, "conflicts foretold from the unstructured object", foretoldToo, foretold)
	wantEqual(t, "difference of the unstructured object", diffToo.String(), diff.String())

	answer := w.send(intent.Object(), manager)
	answered := checkAnswer(t, answer, live, manager)
	wantEqual(t, "conflicts foretold", foretold, answered)
	seen := recording{Manager: manager, Live: untyped, Desired: intent.Object(), Conflicts: answered, Difference: diff.String()}
	if answer != nil {
		intent, err = intent.Without(foretold)
		w.must(intent, err)
		w.must(nil, w.send(intent.Object(), manager))
	} else {
		after, _ := w.live()
		wantEqual(t, "the apply changed nothing", cmp.Equal(essence(after), essence(live)), diff.Empty())
		if !diff.Empty() && after.GetResourceVersion() == live.GetResourceVersion() {
			t.Error("the apply was none, despite a difference")
		}
	}
	checkRest(w, intent)
	return seen
}

// checkAnswer reads the answer both with and without the help of the live object.
func checkAnswer(t testing.TB, answer error, live ownership.Object, manager ownership.Manager) []ownership.Conflict {
	t.Helper()
	managed, err := ownership.Parse(live.GetManagedFields())
	if err != nil && len(managed) > 0 {
		t.Error(err)
	}
	conflicts, ok := ownership.FromErrorAndLive(answer, managed, manager)
	if ok != (answer != nil) {
		t.Fatalf("answer is %v", answer)
	}
	plain, _ := ownership.FromError(answer)
	told := make([]ownership.Conflict, len(conflicts))
	for i, c := range conflicts {
		if told[i] = c; c.Operation == metav1.ManagedFieldsOperationApply {
			told[i].APIVersion = ""
		}
	}
	wantEqual(t, "conflicts read without the live object", plain, ownership.SortConflicts(told))
	if !ok {
		return nil
	}
	return conflicts
}

// checkRest asserts that what was applied is up to date, and that applying it again is the no-op that this means.
func checkRest(w *world, intent *ownership.Intent) {
	t := w.t
	t.Helper()
	live, _ := w.live()
	conflicts, diff := examine(t, intent, live)
	wantEqual(t, "difference after the apply", diff.String(), "up to date")
	wantEqual(t, "conflicts after the apply", conflicts, nil)
	wantEqual(t, "owned fields", owned(live, intent.Manager()), intent.Fields(), cmp.Comparer((*fieldpath.Set).Equals))
	w.must(nil, w.send(intent.Object(), intent.Manager()))
	again, _ := w.live()
	wantEqual(t, "object after a second apply", essence(again), essence(live))
}

// essence returns the object without what a no-op may change. An apply with an empty value that is not stored looks like
// a change to the API server, which dates the entry anew; as entries are sorted by date, their order may change as well,
// and only then is a write made of it.
func essence(live ownership.Object) ownership.Object {
	object := live.DeepCopyObject().(ownership.Object)
	object.SetResourceVersion("")
	managed := object.GetManagedFields()
	for i := range managed {
		managed[i].Time = nil
	}
	slices.SortFunc(managed, func(a, b metav1.ManagedFieldsEntry) int { return strings.Compare(a.String(), b.String()) })
	object.SetManagedFields(managed)
	return object
}

func examine(t testing.TB, intent *ownership.Intent, live ownership.Object) ([]ownership.Conflict, ownership.Difference) {
	t.Helper()
	conflicts, err := intent.Conflicts(live)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := intent.Compare(live)
	if err != nil {
		t.Fatal(err)
	}
	return conflicts, diff
}

func owned(live ownership.Object, manager ownership.Manager) *fieldpath.Set {
	managed, _ := ownership.Parse(live.GetManagedFields())
	return managed.Fields(manager)
}

func wantEqual[T any](t testing.TB, what string, got, want T, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}
