package ownership_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// recording is a live object as a real API server returned it, and that server's answer to an unforced apply.
type recording struct {
	Manager    ownership.Manager
	Live       ownership.Object
	Desired    *unstructured.Unstructured
	Conflicts  []ownership.Conflict
	Difference string
}

type recordingFile struct {
	Manager    ownership.Manager
	Live       map[string]any
	Desired    map[string]any
	Conflicts  []ownership.Conflict
	Difference string
}

const recordings = "testdata/recordings"

func writeRecording(t testing.TB, r recording, name string) {
	t.Helper()
	live := r.Live.(*unstructured.Unstructured).DeepCopy()
	// What differs from run to run goes, so that a new recording shows real changes only.
	live.SetUID("11111111-2222-3333-4444-555555555555")
	live.SetResourceVersion("1")
	then := metav1.Date(2026, 1, 1, 0, 0, 0, 0, metav1.Now().UTC().Location())
	live.SetCreationTimestamp(then)
	if spec, ok := live.Object["spec"].(map[string]any); ok && spec["clusterIP"] != nil {
		spec["clusterIP"], spec["clusterIPs"] = "10.96.0.10", []any{"10.96.0.10"}
	}
	managed := live.GetManagedFields()
	for i := range managed {
		managed[i].Time = &then
	}
	live.SetManagedFields(managed)
	encoded, err := yaml.Marshal(recordingFile{r.Manager, live.Object, r.Desired.Object, r.Conflicts, r.Difference})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(recordings, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(recordings, name+".yaml"), encoded, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readRecordings(t testing.TB) map[string]recording {
	t.Helper()
	files, err := filepath.Glob(recordings + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	all := map[string]recording{}
	for _, path := range files {
		encoded, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file recordingFile
		if err := yaml.Unmarshal(encoded, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".yaml")] = recording{
			Manager:    file.Manager,
			Live:       &unstructured.Unstructured{Object: file.Live},
			Desired:    &unstructured.Unstructured{Object: file.Desired},
			Conflicts:  file.Conflicts,
			Difference: file.Difference,
		}
	}
	return all
}

// TestRecorded needs no API server: it holds the code to what one answered when TestAgainstServer last ran with -update.
func TestRecorded(t *testing.T) {
	for name, r := range readRecordings(t) {
		t.Run(name, func(t *testing.T) {
			intent, err := ownership.NewIntent(typesOf(r.Desired.GetKind()), r.Manager, r.Desired)
			if err != nil {
				t.Fatal(err)
			}
			conflicts, diff := examine(t, intent, r.Live)
			wantEqual(t, "conflicts", conflicts, r.Conflicts)
			wantEqual(t, "difference", diff.String(), r.Difference)
		})
	}
}

// Real managedFields survive being parsed and written, and all their paths being written and parsed.
func TestRecordedRoundTrip(t *testing.T) {
	for name, r := range readRecordings(t) {
		t.Run(name, func(t *testing.T) {
			for _, e := range r.Live.GetManagedFields() {
				managed, err := ownership.Parse([]metav1.ManagedFieldsEntry{e})
				if err != nil {
					t.Fatal(err)
				}
				want := ownership.Manager{Name: e.Manager, Operation: e.Operation, Subresource: e.Subresource}
				wantEqual(t, "manager", managed[0].Manager, want)
				encoded, err := managed[0].Fields.ToJSON()
				if err != nil {
					t.Fatal(err)
				}
				if !sameJSON(t, encoded, e.FieldsV1.GetRawBytes()) {
					t.Errorf("fields of %s became %s", want, encoded)
				}
				managed[0].Fields.Iterate(func(path fieldpath.Path) {
					read, err := ownership.ParsePath(typesOf(r.Desired.GetKind()), r.Desired.GroupVersionKind(), path.String())
					if err != nil || !read.Equals(path) {
						t.Errorf("%s was read as %s: %v", path, read, err)
					}
					wantEqual(t, "number of owners of "+path.String(), len(managed.Owners(path)), 1)
				})
			}
		})
	}
}

func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	first, err := value.FromJSON(a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := value.FromJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	return value.Equals(first, second)
}
