package applyconfigs_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	applicationv1alpha1ac "mycompany.io/application-operator/applyconfigs/application/v1alpha1"
)

// TestExtract: the schema behind the generated Extract functions is that of the CustomResourceDefinition. A schema that
// lacks a type makes them fail, one that lacks the keys of a list makes them return entries of other managers.
func TestExtract(t *testing.T) {
	const identity = "apiVersion: application.mycompany.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: shop}\n"
	for _, c := range []struct {
		name    string
		extract func(*v1alpha1.Application, string) (*applicationv1alpha1ac.ApplicationApplyConfiguration, error)
		manager string
		want    string
	}{
		{"what an author applied", applicationv1alpha1ac.ExtractApplication, "gitops", identity + `
spec:
  image: registry.example/web:1
  env: [{name: MODE, value: live}]
  readinessProbe: {httpGet: {path: /, port: app}}
  deployment: {spec: {template: {spec: {containers: [{name: proxy, image: proxy}]}}}}
`},
		{"what another author applied", applicationv1alpha1ac.ExtractApplication, "team", `
apiVersion: application.mycompany.io/v1alpha1
kind: Application
metadata: {name: web, namespace: shop, labels: {team: blue}}
spec:
  env: [{name: TEAM, valueFrom: {secretKeyRef: {name: team, key: name}}}]
  resources: {limits: {cpu: "1"}}
`},
		{"the status", applicationv1alpha1ac.ExtractApplicationStatus, v1alpha1.FieldManagerStatus, identity + `
status:
  phase: Running
  conditions: [{type: Ready, status: "True", reason: RolledOut, message: "", lastTransitionTime: "2026-01-02T03:04:05Z"}]
  deploymentStatus: {replicas: 2}
  conflicts: [{kind: Deployment, name: web, field: .spec.replicas, manager: kubectl, operation: Update, subresource: scale}]
`},
		{"nothing of the status by way of the object", applicationv1alpha1ac.ExtractApplication, v1alpha1.FieldManagerStatus, identity},
		{"nothing of the object by way of the status", applicationv1alpha1ac.ExtractApplicationStatus, "gitops", identity},
		{"nothing of somebody who updates", applicationv1alpha1ac.ExtractApplication, "kubectl-edit", identity},
	} {
		t.Run(c.name, func(t *testing.T) {
			extracted, err := c.extract(readShared(t), c.manager)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{}
			if err := yaml.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			encoded, err := json.Marshal(extracted)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{}
			if err := json.Unmarshal(encoded, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("extracted (-want +got):\n%s", diff)
			}
		})
	}
}

// readShared returns an Application of several managers as an API server served it.
func readShared(t *testing.T) *v1alpha1.Application {
	t.Helper()
	content, err := os.ReadFile("testdata/shared.yaml")
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.Application{}
	if err := yaml.UnmarshalStrict(content, app); err != nil {
		t.Fatal(err)
	}
	return app
}
