package desired_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/partial"
)

// everyShortField is an Application that sets every field which stands for one of a child.
func everyShortField() *v1alpha1.Application {
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	return application(v1alpha1.ApplicationSpec{
		Image: "web:1", ImagePullPolicy: corev1.PullAlways, Command: []string{"serve"}, Args: []string{"--all"},
		Env:           []corev1.EnvVar{{Name: "A", Value: "a"}},
		EnvFrom:       []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}},
		Resources:     &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}},
		LivenessProbe: probe, ReadinessProbe: probe, StartupProbe: probe,
		Replicas: new(int32(3)), Port: new(int32(8080)), Expose: v1alpha1.ExposeClusterIP,
	})
}

func withPartials(t *testing.T, app *v1alpha1.Application, deployment, service string) *v1alpha1.Application {
	t.Helper()
	for manifest, field := range map[string]**runtime.RawExtension{deployment: &app.Spec.Deployment, service: &app.Spec.Service} {
		if manifest == "" {
			continue
		}
		raw, err := yaml.YAMLToJSON([]byte(manifest))
		if err != nil {
			t.Fatal(err)
		}
		*field = &runtime.RawExtension{Raw: raw}
	}
	return app
}

// TestOneFieldOrTheOther: whatever a field of the spec sets, the partial object must not, and the message names both.
func TestOneFieldOrTheOther(t *testing.T) {
	const (
		container = `spec.deployment.spec.template.spec.containers[name="app"].`
		both      = " sets this field as well: keep one of the two"
	)
	app := func(field string) string {
		return "{spec: {template: {spec: {containers: [{name: app, " + field + "}]}}}}"
	}
	for _, c := range []struct{ deployment, service, problem string }{
		{"{spec: {replicas: 3}}", "", "spec.deployment.spec.replicas: spec.replicas" + both},
		{app("image: web:1"), "", container + "image: spec.image" + both},
		{app("imagePullPolicy: Never"), "", container + "imagePullPolicy: spec.imagePullPolicy" + both},
		{app("command: [a]"), "", container + "command: spec.command" + both},
		{app("args: []"), "", container + "args: spec.args" + both},
		{app("env: [{name: A, value: b}]"), "", container + `env[name="A"].value: spec.env` + both},
		{app("envFrom: [{configMapRef: {name: c}}]"), "", container + "envFrom: spec.envFrom" + both},
		{app("resources: {limits: {cpu: 2}}"), "", container + "resources.limits.cpu: spec.resources" + both},
		{app("livenessProbe: {tcpSocket: {port: 81}}"), "", container + "livenessProbe.tcpSocket.port: spec.livenessProbe" + both},
		{app("readinessProbe: {tcpSocket: {port: 81}}"), "", container + "readinessProbe.tcpSocket.port: spec.readinessProbe" + both},
		{app("startupProbe: {tcpSocket: {port: 81}}"), "", container + "startupProbe.tcpSocket.port: spec.startupProbe" + both},
		{app("ports: [{containerPort: 8080, name: http}]"), "", container + `ports[containerPort=8080,protocol="TCP"].name: spec.port` + both},
		{"", "{spec: {type: NodePort}}", "spec.service.spec.type: spec.expose" + both},
		{"", "{spec: {ports: [{port: 8080, targetPort: 1}]}}", `spec.service.spec.ports[port=8080,protocol="TCP"].targetPort: spec.port` + both},
		{"{metadata: {labels: {app.kubernetes.io/name: a}}}", "", "spec.deployment.metadata.labels.app.kubernetes.io/name: the operator sets this field: remove it"},
		{
			"{spec: {template: {metadata: {labels: {app.kubernetes.io/managed-by: a}}}}}", "",
			"spec.deployment.spec.template.metadata.labels.app.kubernetes.io/managed-by: the operator sets this field: remove it",
		},
	} {
		problems := desired.ValidatePartials(childTypes, withPartials(t, everyShortField(), c.deployment, c.service))
		if len(problems) != 1 || problems[0].Error() != c.problem {
			t.Errorf("%s%s: got %v, want %s", c.deployment, c.service, problems, c.problem)
		}
	}
}

// TestReservedFields: neither child can be made another by a partial object.
func TestReservedFields(t *testing.T) {
	for _, manifest := range []string{
		"{apiVersion: apps/v1}", "{kind: Deployment}", "{metadata: {name: a}}", "{metadata: {generateName: a}}", "{metadata: {namespace: a}}", "{metadata: {uid: a}}",
		"{metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: a}]}}", "{metadata: {resourceVersion: '1'}}",
		"{metadata: {managedFields: []}}", "{metadata: {creationTimestamp: '2026-01-01T00:00:00Z'}}", "{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}",
		"{metadata: {deletionGracePeriodSeconds: 1}}", "{metadata: {generation: 1}}", "{metadata: {selfLink: a}}", "{metadata: {finalizers: [example.com/a]}}",
		"{metadata: {annotations: {application.mycompany.io/adopt: web}}}", "{metadata: {labels: {app: web}}}", "{metadata: {labels: {owner: a}}}",
		"{spec: {selector: {}}}", "{status: {}}", "{status: {conditions: [{type: Available}]}}",
	} {
		for _, app := range []*v1alpha1.Application{
			withPartials(t, everyShortField(), manifest, ""), withPartials(t, everyShortField(), "", manifest),
		} {
			problems := desired.ValidatePartials(childTypes, app)
			// The first says why; the second would be said of any field that both set.
			if len(problems) != 1 || !strings.HasSuffix(problems[0].Error(), ": remove it") || strings.Contains(problems[0].Error(), "the operator sets this field") {
				t.Errorf("%s: got %v", manifest, problems)
			}
		}
	}
	for _, label := range []string{"app", "owner"} {
		app := withPartials(t, everyShortField(), "{spec: {template: {metadata: {labels: {"+label+": a}}}}}", "")
		want := "spec.deployment.spec.template.metadata.labels." + label + ": the selector needs this label as it is: remove it"
		if problems := desired.ValidatePartials(childTypes, app); len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("got %v, want %s", problems, want)
		}
	}
}

// TestIgnoredFields: what the API server would drop, or set itself, is refused. It would be sent at each reconcile, in vain.
func TestIgnoredFields(t *testing.T) {
	const (
		template = "spec.deployment.spec.template."
		account  = template + "spec.serviceAccount: it is an old name of serviceAccountName, which decides, and has another value: remove it"
		affinity = "spec.service.spec.sessionAffinityConfig: it has an effect only beside sessionAffinity ClientIP: set that as well, or remove it"
	)
	for _, c := range []struct{ deployment, service, problem string }{
		{inPod("serviceAccount: a"), "", ""},
		{inPod("serviceAccount: a, serviceAccountName: a"), "", ""},
		{inPod("serviceAccount: a, serviceAccountName: b"), "", account},
		{inPod("serviceAccount: null, serviceAccountName: b"), "", ""},
		{inPod("imagePullSecrets: [{name: ''}]"), "", template + "spec.imagePullSecrets[0]: name is empty, by which this list tells its entries apart"},
		{"", "{spec: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}}}", affinity},
		{"", "{spec: {sessionAffinity: None, sessionAffinityConfig: {}}}", affinity},
		{"", "{spec: {sessionAffinity: None, sessionAffinityConfig: null}}", ""},
		{"", "{spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}}}", ""},
	} {
		var problem string
		for _, err := range desired.ValidatePartials(childTypes, withPartials(t, everyShortField(), c.deployment, c.service)) {
			problem += err.Error()
		}
		if problem != c.problem {
			t.Errorf("%s%s: got %q, want %q", c.deployment, c.service, problem, c.problem)
		}
	}
	for _, field := range []string{
		"creationTimestamp: '2026-01-01T00:00:00.5Z'", "deletionGracePeriodSeconds: 1", "deletionTimestamp: '2026-01-01T00:00:00Z'", "generation: 1",
		"managedFields: [{manager: a}]", "ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: a}]", "resourceVersion: '1'", "selfLink: a", "uid: a",
	} {
		name, _, _ := strings.Cut(field, ":")
		want := template + "metadata." + name + ": the API server writes it for each pod, and heeds no template there: remove it"
		problems := desired.ValidatePartials(childTypes, withPartials(t, everyShortField(), "{spec: {template: {metadata: {"+field+"}}}}", ""))
		if len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("got %v, want %s", problems, want)
		}
	}
	dumped := withPartials(t, everyShortField(), "{metadata: {creationTimestamp: null}, spec: {template: {metadata: {creationTimestamp: null}}}}", "")
	if problems := desired.ValidatePartials(childTypes, dumped); len(problems) > 0 {
		t.Errorf("nulls, as kubectl writes them, are a problem: %v", problems)
	}
}

func TestProblemsOfBoth(t *testing.T) {
	app := withPartials(t, application(v1alpha1.ApplicationSpec{Image: "web:1"}), "{spec: {pausd: true}, status: 1}", "{metadata: {annotations: {a: b}}}")
	want := []string{
		"spec.deployment.spec.pausd: there is no such field; did you mean paused?",
		"spec.deployment.status: it must be an object, not a number",
		"spec.service: without spec.expose there is no Service: set it, or remove spec.service",
	}
	var got []string
	for _, problem := range desired.ValidatePartials(childTypes, app) {
		got = append(got, problem.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	children, err := desired.ForApplication(childTypes, app)
	if !errors.As(err, new(*partial.InvalidError)) || children != nil {
		t.Errorf("got %v, %v", children, err)
	}
}

// TestWithoutPartials: the children are then just what the rest of the spec asks for.
func TestWithoutPartials(t *testing.T) {
	for name, app := range map[string]*v1alpha1.Application{
		"absent":              everyShortField(),
		"empty":               withPartials(t, everyShortField(), "{}", "{ }"),
		"with nothing inside": withPartials(t, everyShortField(), "{spec: null}", "{metadata: {labels: null}}"),
		"nothing at all": func() *v1alpha1.Application {
			app := everyShortField()
			app.Spec.Service = &runtime.RawExtension{}
			return app
		}(),
	} {
		children, err := desired.ForApplication(childTypes, app)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(deploymentOf(t, app), wire(t, children.Deployment)); diff != "" {
			t.Errorf("%s: Deployment (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(serviceOf(t, app), wire(t, children.Service)); diff != "" {
			t.Errorf("%s: Service (-want +got):\n%s", name, diff)
		}
		if problems := desired.ValidatePartials(childTypes, app); len(problems) > 0 {
			t.Errorf("%s: problems %v", name, problems)
		}
	}
	app := everyShortField()
	app.Spec.Expose = ""
	children, err := desired.ForApplication(childTypes, app)
	// A typed nil would be taken for a wish.
	if err != nil || children.Service != nil {
		t.Errorf("no Service is wanted: got %v, %v", children, err)
	}
}

func TestWithPartials(t *testing.T) {
	app := withPartials(t, everyShortField(),
		"{spec: {template: {spec: {containers: [{name: app, livenessProbe: {periodSeconds: 5}, resources: {limits: {memory: 1Gi}}}]}}}}", "{spec: {ports: [{name: more, port: 9090}]}}")
	children, err := desired.ForApplication(childTypes, app)
	if err != nil {
		t.Fatal(err)
	}
	container := descend(t, wire(t, children.Deployment), "spec", "template", "spec")["containers"].([]any)[0].(map[string]any)
	if probe := descend(t, container, "livenessProbe"); len(probe) != 2 {
		t.Errorf("probe %v", probe)
	}
	if limits := descend(t, container, "resources", "limits"); len(limits) != 2 {
		t.Errorf("limits %v", limits)
	}
	if ports := descend(t, wire(t, children.Service), "spec")["ports"].([]any); len(ports) != 2 {
		t.Errorf("ports %v", ports)
	}
}
