package render

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/test/golden"
)

const (
	simple = `
apiVersion: application.mycompany.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  image: nginx:1.29
`
	full = `
apiVersion: application.mycompany.io/v1alpha1
kind: Application
metadata: {name: catalog, namespace: shop}
spec:
  image: nginx:1.29
  replicas: 0
  port: 8080
  expose: LoadBalancer
  env: [{name: TOKEN, value: secret}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
  resources: {limits: {cpu: 1000m}}
  livenessProbe: {grpc: {port: 9, service: ""}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
`
)

func TestRendered(t *testing.T) {
	withUID := strings.Replace(full, "namespace: shop", "namespace: shop, uid: 11111111-2222-3333-4444-555555555555", 1)
	for name, tc := range map[string]struct {
		input string
		args  []string
	}{
		"simple.yaml":    {input: simple},
		"namespace.yaml": {input: simple, args: []string{"--namespace=given"}},
		"full.yaml":      {input: full},
		"both.yaml":      {input: simple + "---" + full},
		"uid.yaml":       {input: withUID},
		"redacted.yaml":  {input: full, args: []string{"--redact"}},
		"full.json":      {input: withUID, args: []string{"--output=json"}},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, err := run(t, tc.input, append(tc.args, "--filename=-")...)
			if err != nil {
				t.Fatal(err)
			}
			if skips := strings.Contains(tc.input, "ConfigMap"); skips != strings.Contains(stderr, `Skipped: ConfigMap "other" of v1 is no Application of application.mycompany.io.`) {
				t.Errorf("stderr: %s", stderr)
			}
			if strings.Contains(name, "redacted") && strings.Contains(stdout, "secret") {
				t.Error("a value is shown")
			}
			golden.Check(t, name, stdout)
		})
	}
}

func TestRefused(t *testing.T) {
	for message, args := range map[string][]string{
		"no file: name one with --filename":       {},
		"--output=xml: must be one of yaml, json": {"--filename=-", "--output=xml"},
		`"web": render takes no name, but a file`: {"web", "--filename=-"},
		`unknown field "spec.imagee"`:             {"--filename=-"},
	} {
		_, _, err := run(t, strings.Replace(simple, "image:", "imagee:", 1), args...)
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want %s", err, message)
		}
	}
}

// run runs the command without any cluster.
func run(t *testing.T, input string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	t.Setenv("KUBECONFIG", "/dev/null")
	var out, errOut bytes.Buffer
	f := cli.NewFactory(genericiooptions.IOStreams{In: strings.NewReader(input), Out: &out, ErrOut: &errOut})
	cmd := NewCommand(f)
	f.AddFlags(cmd.PersistentFlags())
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), errOut.String(), err
}
