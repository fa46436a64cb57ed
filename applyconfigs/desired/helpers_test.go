package desired_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
)

// readApplication reads an Application as the API server would serve it. Fields that the type does not have are errors.
func readApplication(t *testing.T, file string) *v1alpha1.Application {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.Application{}
	if err := yaml.UnmarshalStrict(content, app); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return app
}

// application returns an Application of the given spec.
func application(spec v1alpha1.ApplicationSpec) *v1alpha1.Application {
	return &v1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "6f0e9d7c-7a0b-4c56-9a43-0d6b8b7d1c11"},
		Spec:       spec,
	}
}

// deploymentOf returns the Deployment as it goes over the wire.
func deploymentOf(t *testing.T, app *v1alpha1.Application) map[string]any {
	t.Helper()
	deployment, err := desired.Deployment(app)
	if err != nil {
		t.Fatalf("Deployment: %v", err)
	}
	return wire(t, deployment)
}

// containerOf returns the main container, which must be the only one.
func containerOf(t *testing.T, app *v1alpha1.Application) map[string]any {
	t.Helper()
	pod := descend(t, deploymentOf(t, app), "spec", "template", "spec")
	containers := pod["containers"].([]any)
	if len(containers) != 1 {
		t.Fatalf("the pod has %d containers, want 1", len(containers))
	}
	return containers[0].(map[string]any)
}

// serviceOf returns the Service as it goes over the wire, or nil.
func serviceOf(t *testing.T, app *v1alpha1.Application) map[string]any {
	t.Helper()
	service := desired.Service(app)
	if service == nil {
		return nil
	}
	return wire(t, service)
}

// wire turns anything into what its JSON says.
func wire(t *testing.T, v any) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	decoded := map[string]any{}
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func descend(t *testing.T, content map[string]any, names ...string) map[string]any {
	t.Helper()
	for _, name := range names {
		next, ok := content[name].(map[string]any)
		if !ok {
			t.Fatalf("no %s in %v", name, content)
		}
		content = next
	}
	return content
}
