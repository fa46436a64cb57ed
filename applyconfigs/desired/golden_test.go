package desired_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference before you commit it")

const (
	inputSuffix      = ".input.yaml"
	deploymentSuffix = ".deployment.yaml"
	serviceSuffix    = ".service.yaml"
)

// TestGolden compares the children of each testdata/NAME.input.yaml with NAME.deployment.yaml and NAME.service.yaml. An
// Application that wants no Service has no file for it.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join("testdata", "*"+inputSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if len(inputs) == 0 {
		t.Fatal("no test data")
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), inputSuffix)
		t.Run(name, func(t *testing.T) {
			app := readApplication(t, filepath.Base(input))
			children, err := desired.ForApplication(childTypes, app)
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, name+deploymentSuffix, wire(t, children.Deployment))
			var service map[string]any
			if children.Service != nil {
				service = wire(t, children.Service)
			}
			checkGolden(t, name+serviceSuffix, service)
		})
	}
}

// TestGoldenCoversSpec finds fields of the spec that no input has but the one that has everything.
func TestGoldenCoversSpec(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join("testdata", "*"+inputSuffix))
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, input := range inputs {
		if filepath.Base(input) == "everything"+inputSuffix {
			continue
		}
		spec := reflect.ValueOf(readApplication(t, filepath.Base(input)).Spec)
		for field, value := range spec.Fields() {
			covered[field.Name] = covered[field.Name] || !value.IsZero()
		}
	}
	for field := range reflect.TypeFor[v1alpha1.ApplicationSpec]().Fields() {
		if !covered[field.Name] {
			t.Errorf("no testdata/*%s is about %s", inputSuffix, field.Name)
		}
	}
}

// TestGoldenFilesHaveInputs finds files that a renamed input left behind and that nothing is compared with.
func TestGoldenFilesHaveInputs(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name, _, _ := strings.Cut(file.Name(), ".")
		if _, err := os.Stat(filepath.Join("testdata", name+inputSuffix)); err != nil {
			t.Errorf("testdata/%s belongs to no input: %v", file.Name(), err)
		}
	}
}

// checkGolden compares content with a file, or nil content with the absence of the file.
func checkGolden(t *testing.T, file string, content map[string]any) {
	t.Helper()
	path := filepath.Join("testdata", file)
	var got []byte
	if content != nil {
		var err error
		if got, err = yaml.Marshal(content); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		writeGolden(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), go test -update accepts it:\n%s", path, diff)
	}
}

func writeGolden(t *testing.T, path string, content []byte) {
	t.Helper()
	err := os.Remove(path)
	if content != nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
