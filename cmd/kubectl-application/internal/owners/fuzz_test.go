package owners

import (
	"os"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// FuzzFile gives the command any file: it prints something or returns an error, and never panics.
func FuzzFile(f *testing.F) {
	seed, err := os.ReadFile("testdata/list.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	for _, odd := range []string{
		"",
		"---",
		"null",
		"[]",
		"{apiVersion: v1, kind: List, items: [1]}",
		"{apiVersion: v1, kind: List, items: {}}",
		"{apiVersion: v1, kind: A, metadata: 1}",
		"{apiVersion: v1, kind: A, metadata: {name: 1, managedFields: x}}",
		"{apiVersion: v1, kind: A, metadata: {managedFields: [1, null, {}, {manager: 1}, {operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: [], time: x}]}}",
		`{"apiVersion":"apps/v1","kind":"Deployment","spec":[],"status":{"conditions":{"a":1}}}`,
		"{apiVersion: application.mycompany.io/v1alpha1, kind: Application, spec: {replicas: x}, status: {conflicts: 1}}",
		"{apiVersion: v1, kind: Secret, data: [a], stringData: x}",
	} {
		f.Add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, output := range []string{"", outputJSON, outputHTML} {
			streams, in, _, _ := genericiooptions.NewTestIOStreams()
			in.Write(file)
			command := NewCommand(cli.NewFactory(streams))
			command.SilenceUsage, command.SilenceErrors = true, true
			command.SetArgs([]string{"--filename=-", "--output=" + output})
			_ = command.ExecuteContext(t.Context()) // an error is an answer, too
		}
	})
}
