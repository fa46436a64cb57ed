package v1alpha1_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// crd validates as the API server does, with its own code: by the schema of the CustomResourceDefinition, then by its rules.
type crd struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func readCRD(t *testing.T) *crd {
	t.Helper()
	encoded, err := os.ReadFile("../../../deploy/crd/application.mycompany.io_applications.yaml")
	if err != nil {
		t.Fatal(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(encoded, definition); err != nil {
		t.Fatal(err)
	}
	schema := &apiextensionsinternal.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, schema, nil); err != nil {
		t.Fatal(err)
	}
	c := &crd{}
	if c.structural, err = structuralschema.NewStructural(schema); err != nil {
		t.Fatal(err)
	}
	if c.schema, _, err = validation.NewSchemaValidator(schema); err != nil {
		t.Fatal(err)
	}
	c.rules = cel.NewValidator(c.structural, true, celconfig.PerCallLimit)
	return c
}

// validate returns what the API server says against the creation of an Application of this name and spec.
func (c *crd) validate(t *testing.T, name, spec string) []string {
	t.Helper()
	manifest := fmt.Sprintf("{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: %s}, spec: %s}", name, spec)
	encoded, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(encoded, &object); err != nil { // whole numbers stay whole
		t.Fatalf("%s: %v", manifest, err)
	}
	refused := validation.ValidateCustomResource(nil, object, c.schema)
	broken, _ := c.rules.Validate(t.Context(), nil, c.structural, object, nil, celconfig.RuntimeCELCostBudget)
	var messages []string
	for _, fault := range append(refused, broken...) {
		messages = append(messages, fault.Error())
	}
	return messages
}

// badSpec is a field of a spec and what the API server says to it.
type badSpec struct{ spec, message string }

func TestValidationRefuses(t *testing.T) {
	const (
		envSource = "valueFrom of an entry of spec.env needs exactly one source"
		envFrom   = "each entry of spec.envFrom needs exactly one of configMapRef and secretRef"
		tooMuch   = "spec.resources requests more cpu or memory than its limit: lower the request or raise the limit"
	)
	cases := []badSpec{
		{"expose: ClusterIP", "spec.expose needs spec.port: set the port that the Service shall expose, or remove spec.expose"},
		{"port: 80, service: {spec: {}}", "spec.service needs spec.expose: without it there is no Service; set spec.expose, or remove spec.service"},
		{"port: 80, expose: ExternalName", `spec.expose: Unsupported value: "ExternalName"`},
		{"port: 0", "spec.port in body should be greater than or equal to 1"},
		{"port: 65536", "spec.port in body should be less than or equal to 65535"},
		{"replicas: -1", "spec.replicas in body should be greater than or equal to 0"},
		{"imagePullPolicy: Sometimes", `spec.imagePullPolicy: Unsupported value: "Sometimes"`},
		{"conflictPolicy: Force", `spec.conflictPolicy: Unsupported value: "Force"`},
		{"deletionPolicy: Retain", `spec.deletionPolicy: Unsupported value: "Retain"`},
		{"env: [{name: ''}]", "each entry of spec.env needs a name that is not empty"},
		{"env: [{name: A, value: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", "an entry of spec.env has both value and valueFrom: keep one of the two"},
		{"env: [{name: A, valueFrom: {}}]", envSource},
		{"env: [" + entries("name", 1001) + "]", "spec.env: Too many: 1001: must have at most 1000 items"},
		{"envFrom: [{prefix: A_}]", envFrom},
		{"envFrom: [{configMapRef: {name: a}, secretRef: {name: a}}]", envFrom},
		{"envFrom: [" + entries("prefix", 1001) + "]", "spec.envFrom: Too many: 1001: must have at most 1000 items"},
		{"resources: {requests: {cpu: 1001m}, limits: {cpu: 1}}", tooMuch},
		{"resources: {requests: {memory: 1Gi}, limits: {memory: 1000Mi}}", tooMuch},
		{"resources: {claims: [{name: gpu}]}", "spec.resources.claims cannot be used: the pods of an Application have no resource claims"},
	}
	// Any two sources of a variable.
	for i, one := range envSources {
		for _, other := range envSources[i+1:] {
			cases = append(cases, badSpec{"env: [{name: A, valueFrom: {" + one + ", " + other + "}}]", envSource})
		}
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		cases = append(cases, badProbes(probe)...)
	}

	c := readCRD(t)
	for _, bad := range cases {
		got := c.validate(t, "web", "{image: registry.example/web:1, "+bad.spec+"}")
		// One fault has one message: a second one would be about something that is right, or about a rule that cannot be evaluated.
		if len(got) != 1 || !strings.Contains(got[0], bad.message) || strings.Contains(got[0], "evaluating rule") {
			t.Errorf("%.200s:\ngot  %q\nwant %q", bad.spec, got, bad.message)
		}
	}
}

var (
	envSources = []string{
		"fieldRef: {fieldPath: metadata.name}", "resourceFieldRef: {resource: limits.cpu}", "configMapKeyRef: {name: a, key: b}",
		"secretKeyRef: {name: a, key: b}", "fileKeyRef: {volumeName: a, path: b, key: c}",
	}
	handlers = []string{"exec: {command: [a]}", "httpGet: {port: 80}", "tcpSocket: {port: 80}", "grpc: {port: 80}"}
	// Ports that are given by number or name, and those that are given by number only.
	badPorts = map[string][]string{
		"httpGet":   {"0", "-1", "65536", "abcdefghijklmnop", "App", "app-", "-app", "a--b", "a_b", "'8080'", "''"},
		"tcpSocket": {"0", "-1", "65536", "abcdefghijklmnop", "App", "app-", "-app", "a--b", "a_b", "'8080'", "''"},
		"grpc":      {"0", "-1", "65536"},
	}
)

// badProbes returns what no probe of that name can be. Each of the three has its own copy of the rules.
func badProbes(probe string) []badSpec {
	of := func(content string) string { return probe + ": {" + content + "}" }
	one := "spec." + probe + " needs exactly one of exec, httpGet, tcpSocket and grpc"
	cases := []badSpec{
		{of(""), one},
		{of("exec: {}"), "spec." + probe + ".exec needs a command"},
		{of("exec: {command: []}"), "spec." + probe + ".exec needs a command"},
		{of("httpGet: {port: 80, scheme: FTP}"), "spec." + probe + ".httpGet.scheme must be HTTP or HTTPS"},
	}
	for i, handler := range handlers {
		for _, other := range handlers[i+1:] {
			cases = append(cases, badSpec{of(handler + ", " + other), one})
		}
	}
	for _, number := range []string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
		cases = append(cases, badSpec{of(handlers[0] + ", " + number + ": -1"), "spec." + probe + " has a negative number: delays, periods and thresholds are 0 or more"})
	}
	for handler, ports := range badPorts {
		for _, port := range ports {
			cases = append(cases, badSpec{of(handler + ": {port: " + port + "}"), "spec." + probe +
				" has a port that cannot be: write a number from 1 to 65535 or the name of a port of the container, which is 'app' for spec.port"})
		}
	}
	if probe == "readinessProbe" {
		return append(cases, badSpec{of(handlers[0] + ", terminationGracePeriodSeconds: 5"),
			"spec.readinessProbe.terminationGracePeriodSeconds cannot be: a readiness probe terminates nothing; remove it"})
	}
	return append(cases, badSpec{of(handlers[0] + ", successThreshold: 2"), "spec." + probe + ".successThreshold must be 1: remove it"})
}

func TestValidationRefusesImagesAndNames(t *testing.T) {
	const (
		badName = "metadata.name becomes the name of a Service and the value of a label: use at most 63 lower case letters, digits or '-', beginning with a letter and ending with a letter or digit"
		padded  = "spec.image must not begin or end with white space"
	)
	c := readCRD(t)
	for _, bad := range []badSpec{
		{"{replicas: 1}", "spec.image: Required value"},
		{"{image: ''}", "spec.image in body should be at least 1 chars long"},
		{"{image: ' registry.example/web:1'}", padded},
		{"{image: 'registry.example/web:1 '}", padded},
	} {
		if got := c.validate(t, "web", bad.spec); len(got) != 1 || !strings.Contains(got[0], bad.message) {
			t.Errorf("%s:\ngot  %q\nwant %q", bad.spec, got, bad.message)
		}
	}
	for _, name := range []string{"web.example", "1web", "web-", "-web", "Web", "we_b", strings.Repeat("w", 64)} {
		if got := c.validate(t, name, "{image: registry.example/web:1}"); len(got) != 1 || !strings.Contains(got[0], badName) {
			t.Errorf("name %s: got %q", name, got)
		}
	}
	for _, name := range []string{"w", "web", "web-1", "w--b", strings.Repeat("w", 63)} {
		if got := c.validate(t, name, "{image: registry.example/web:1}"); len(got) > 0 {
			t.Errorf("name %s: got %q", name, got)
		}
	}
}

// TestValidationAccepts: no rule refuses what the API server would take of a Deployment or Service.
func TestValidationAccepts(t *testing.T) {
	specs := []string{
		"port: 1", "port: 65535", "replicas: 0", "imagePullPolicy: Never", "imagePullPolicy: IfNotPresent", "imagePullPolicy: Always",
		"port: 80, expose: ClusterIP", "port: 80, expose: NodePort", "port: 80, expose: LoadBalancer, service: {spec: {}}", "deployment: {spec: {}}",
		"conflictPolicy: Abort", "conflictPolicy: Yield", "deletionPolicy: Delete", "deletionPolicy: Orphan",
		"env: [{name: A}, {name: B, value: b}, {name: C, value: '', valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
		"env: [" + entries("name", 1000) + "]",
		"envFrom: [{configMapRef: {name: a}}, {secretRef: {name: a}, prefix: A_}]",
		"resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1000m, memory: 1024Mi}}",
		"resources: {requests: {cpu: 900m}, limits: {cpu: 1}}", // smaller, though it is longer
		"resources: {requests: {cpu: 2, memory: 1Gi}}", "resources: {limits: {cpu: 2}}", "resources: {requests: {cpu: 2}, limits: {memory: 1}}",
		"resources: {requests: {example.com/gpu: 2}, limits: {example.com/gpu: 1}}", // the Deployment's own validation tells
		"resources: {claims: []}", "resources: {}",
	}
	for _, source := range envSources {
		specs = append(specs, "env: [{name: A, valueFrom: {"+source+"}}]")
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		contents := append([]string{
			handlers[0] + ", initialDelaySeconds: 0, timeoutSeconds: 0, periodSeconds: 0, successThreshold: 0, failureThreshold: 0",
			handlers[0] + ", initialDelaySeconds: 1, timeoutSeconds: 1, periodSeconds: 1, successThreshold: 1, failureThreshold: 1",
			"httpGet: {port: 80, scheme: HTTP}", "httpGet: {port: 80, scheme: HTTPS}", "httpGet: {port: 80, scheme: ''}", "grpc: {port: 1}", "grpc: {port: 65535}",
		}, handlers...)
		for _, port := range []string{"1", "65535", "app", "abc-1-8080-defg", "80-a", "a"} {
			contents = append(contents, "httpGet: {port: "+port+"}", "tcpSocket: {port: "+port+"}")
		}
		if probe == "readinessProbe" {
			contents = append(contents, handlers[0]+", successThreshold: 2")
		} else {
			contents = append(contents, handlers[0]+", terminationGracePeriodSeconds: 5")
		}
		for _, content := range contents {
			specs = append(specs, probe+": {"+content+"}")
		}
	}
	c := readCRD(t)
	for _, spec := range specs {
		if got := c.validate(t, "web", "{image: registry.example/web:1, "+spec+"}"); len(got) > 0 {
			t.Errorf("%.200s: refused: %q", spec, got)
		}
	}
}

// entries lists n entries with one field each.
func entries(field string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("{%s: V%d}", field, i)
		if field != "name" {
			list[i] = fmt.Sprintf("{%s: V%d, configMapRef: {name: a}}", field, i)
		}
	}
	return strings.Join(list, ", ")
}
