package integration

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// badName is the rule for metadata.name.
const badName = "metadata.name becomes the name of a Service and the value of a label: use at most 63 lower case letters, digits or '-', beginning with a letter and ending with a letter or digit"

// badImage is the rule for spec.image.
const badImage = "spec.image must not begin or end with white space"

func badPort(probe string) string {
	return "spec." + probe + " has a port that cannot be: write a number from 1 to 65535 or the name of a port of the container, which is 'app' for spec.port"
}

// refusal is a spec that the CustomResourceDefinition refuses, and with which words.
type refusal struct{ because, spec, message string }

var refusals = []refusal{
	{"it exposes no port", "expose: ClusterIP",
		"spec.expose needs spec.port: set the port that the Service shall expose, or remove spec.expose"},
	{"it has a partial Service, and no Service", "service: {metadata: {annotations: {a: b}}}",
		"spec.service needs spec.expose: without it there is no Service; set spec.expose, or remove spec.service"},
	{"it exposes in no known way", "port: 80, expose: Public",
		`spec.expose: Unsupported value: "Public": supported values: "ClusterIP", "NodePort", "LoadBalancer"`},
	{"its port is 0", "port: 0", "spec.port in body should be greater than or equal to 1"},
	{"its port is too large", "port: 65536", "spec.port in body should be less than or equal to 65535"},
	{"its replicas are negative", "replicas: -1", "spec.replicas in body should be greater than or equal to 0"},
	{"its pull policy is none", "imagePullPolicy: Sometimes",
		`spec.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "IfNotPresent"`},
	{"an env entry has an empty name", `env: [{name: ""}]`, "each entry of spec.env needs a name that is not empty"},
	{"an env entry has both a value and a reference", "env: [{name: A, value: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
		"an entry of spec.env has both value and valueFrom: keep one of the two"},
	{"it requests more cpu than its limit", "resources: {requests: {cpu: 1001m}, limits: {cpu: 1}}",
		"spec.resources requests more cpu or memory than its limit: lower the request or raise the limit"},
	{"it requests more memory than its limit", "resources: {requests: {memory: 1Gi}, limits: {memory: 1000Mi}}",
		"spec.resources requests more cpu or memory than its limit: lower the request or raise the limit"},
	{"a liveness probe does nothing", "livenessProbe: {periodSeconds: 3}",
		"spec.livenessProbe needs exactly one of exec, httpGet, tcpSocket and grpc"},
	{"a liveness probe does two things", "livenessProbe: {tcpSocket: {port: 1}, exec: {command: [a]}}",
		"spec.livenessProbe needs exactly one of exec, httpGet, tcpSocket and grpc"},
	{"a liveness probe has a threshold of success", "livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}",
		"spec.livenessProbe.successThreshold must be 1: remove it"},
	{"a readiness probe does nothing", "readinessProbe: {}",
		"spec.readinessProbe needs exactly one of exec, httpGet, tcpSocket and grpc"},
	{"a startup probe does nothing", "startupProbe: {periodSeconds: 3}",
		"spec.startupProbe needs exactly one of exec, httpGet, tcpSocket and grpc"},
	{"a startup probe has a threshold of success", "startupProbe: {tcpSocket: {port: 1}, successThreshold: 2}",
		"spec.startupProbe.successThreshold must be 1: remove it"},
	{"an env entry refers to nothing", "env: [{name: A, valueFrom: {}}]", "valueFrom of an entry of spec.env needs exactly one source"},
	{"an env entry refers to two things", "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, configMapKeyRef: {name: a, key: b}}}]",
		"valueFrom of an entry of spec.env needs exactly one source"},
	{"an envFrom entry refers to nothing", "envFrom: [{prefix: A_}]", "each entry of spec.envFrom needs exactly one of configMapRef and secretRef"},
	{"an envFrom entry refers to two things", "envFrom: [{configMapRef: {name: a}, secretRef: {name: a}}]",
		"each entry of spec.envFrom needs exactly one of configMapRef and secretRef"},
	{"it claims a resource of the pod", "resources: {claims: [{name: gpu}]}",
		"spec.resources.claims cannot be used: the pods of an Application have no resource claims"},
	{"a liveness probe has a negative number", "livenessProbe: {tcpSocket: {port: 1}, failureThreshold: -1}",
		"spec.livenessProbe has a negative number: delays, periods and thresholds are 0 or more"},
	{"a readiness probe has a negative number", "readinessProbe: {tcpSocket: {port: 1}, initialDelaySeconds: -1}",
		"spec.readinessProbe has a negative number: delays, periods and thresholds are 0 or more"},
	{"a startup probe has a negative number", "startupProbe: {tcpSocket: {port: 1}, timeoutSeconds: -1}",
		"spec.startupProbe has a negative number: delays, periods and thresholds are 0 or more"},
	{"a readiness probe has a grace period", "readinessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 5}",
		"spec.readinessProbe.terminationGracePeriodSeconds cannot be: a readiness probe terminates nothing; remove it"},
	{"a liveness probe asks a port number that cannot be", "livenessProbe: {httpGet: {port: 0}}", badPort("livenessProbe")},
	{"a readiness probe asks a port number that cannot be", "readinessProbe: {tcpSocket: {port: 65536}}", badPort("readinessProbe")},
	{"a startup probe asks a port number that cannot be", "startupProbe: {grpc: {port: 0}}", badPort("startupProbe")},
	{"a probe asks a port by a name that is too long", "readinessProbe: {httpGet: {port: abcdefghijklmnop}}", badPort("readinessProbe")},
	{"a probe asks a port by a name in capitals", "readinessProbe: {httpGet: {port: App}}", badPort("readinessProbe")},
	{"a probe asks a port by a number in quotes", "readinessProbe: {tcpSocket: {port: '8080'}}", badPort("readinessProbe")},
	{"a probe asks a port by a name that ends badly", "readinessProbe: {tcpSocket: {port: app-}}", badPort("readinessProbe")},
	{"a liveness probe has no command to run", "livenessProbe: {exec: {}}", "spec.livenessProbe.exec needs a command"},
	{"a startup probe has an empty command to run", "startupProbe: {exec: {command: []}}", "spec.startupProbe.exec needs a command"},
	{"a readiness probe has no command to run", "readinessProbe: {exec: {command: []}}", "spec.readinessProbe.exec needs a command"},
	{"a liveness probe has a scheme that is none", "livenessProbe: {httpGet: {port: 80, scheme: http}}", "spec.livenessProbe.httpGet.scheme must be HTTP or HTTPS"},
	{"a startup probe has a scheme that is none", "startupProbe: {httpGet: {port: 80, scheme: TCP}}", "spec.startupProbe.httpGet.scheme must be HTTP or HTTPS"},
	{"a readiness probe has a scheme that is none", "readinessProbe: {httpGet: {port: 80, scheme: FTP}}", "spec.readinessProbe.httpGet.scheme must be HTTP or HTTPS"},
	{"it has more than 1000 env entries", "env: [" + manyVariables(1001) + "]", "spec.env: Too many: 1001: must have at most 1000 items"},
}

var _ = DescribeTable("An Application is refused as it is written, however it is written, if",
	func(ctx SpecContext, r refusal) {
		expectRefused(ctx, web, "{image: registry.example/web:1, "+r.spec+"}", r.message)
	},
	func() (entries []TableEntry) {
		for _, r := range refusals {
			entries = append(entries, Entry(r.because, r))
		}
		return entries
	}(),
)

var _ = Describe("An Application", func() {
	It("is refused without an image worth the name", func(ctx SpecContext) {
		expectRefused(ctx, web, "{replicas: 1}", "spec.image: Required value")
		expectRefused(ctx, web, `{image: ""}`, "spec.image in body should be at least 1 chars long")
		expectRefused(ctx, web, `{image: " registry.example/web:1"}`, badImage)
		expectRefused(ctx, web, `{image: "registry.example/web:1 "}`, badImage)
	})

	It("FR-23: is refused if an env name is there twice, also when it exists already", func(ctx SpecContext) {
		const spec = "{image: registry.example/web:1, env: [{name: A, value: a}, {name: B}, {name: A, value: b}]}"
		By("writing it anew")
		expectRefused(ctx, web, spec, "Duplicate value", `duplicate entries for key [name="A"]`)

		By("writing it over another")
		file := writeFile(manifest("{image: registry.example/web:1, env: [{name: A, value: a}]}"))
		kubectl(ctx, "apply", "-f", file)
		expectRefused(ctx, web, spec, "Duplicate value", `duplicate entries for key [name="A"]`, "already exists")
		eventuallySynced(ctx)
	})

	DescribeTable("FR-27: is refused if its name does not suit its children:",
		func(ctx SpecContext, name string) {
			expectRefused(ctx, name, "{image: registry.example/web:1}", badName)
		},
		Entry("with a dot", "web.example"),
		Entry("that begins with a digit", "1web"),
		Entry("of 64 characters", strings.Repeat("w", 64)),
	)

	It("is refused whichever probe has a bad port or number, and wherever", func(ctx SpecContext) {
		for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			refused := func(content, message string) {
				GinkgoHelper()
				err := env.CreateYAML(ctx, author, namespace, manifest("{image: registry.example/web:1, "+probe+": {"+content+"}}"))
				Expect(err).To(MatchError(ContainSubstring(message)), "%s: %s", probe, content)
			}
			for _, handler := range []string{"httpGet", "tcpSocket", "grpc"} {
				for _, port := range []string{"-1", "0", "65536"} {
					refused(handler+": {port: "+port+"}", badPort(probe))
				}
			}
			for _, handler := range []string{"httpGet", "tcpSocket"} {
				refused(handler+": {port: App}", badPort(probe))
			}
			for _, number := range []string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
				refused("tcpSocket: {port: 1}, "+number+": -1", "spec."+probe+" has a negative number")
			}
			refused("tcpSocket: {port: 1}, httpGet: {port: 1}", "spec."+probe+" needs exactly one of")
			refused("tcpSocket: {port: 1}, grpc: {port: 1}", "spec."+probe+" needs exactly one of")
		}
	})

	It("takes every port that a probe can have", func(ctx SpecContext) {
		given(ctx, `{image: registry.example/web:1, port: 8080, livenessProbe: {httpGet: {port: 1, scheme: HTTPS}},
			readinessProbe: {tcpSocket: {port: app}}, startupProbe: {grpc: {port: 65535}}}`)
		given(ctx, "{image: registry.example/web:1, readinessProbe: {httpGet: {port: abc-1-8080-defg}}, livenessProbe: {exec: {command: [a]}}, startupProbe: {tcpSocket: {port: 80-a}}}")
	})

	It("works throughout with a name of 63 characters", func(ctx SpecContext) {
		name := strings.Repeat("w", 63)
		manifest := fmt.Sprintf("{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: %s}, spec: %s}", name, exposedSpec)
		Expect(env.ApplyYAML(ctx, author, namespace, manifest)).To(Succeed())
		Eventually(ctx, func(ctx context.Context) (*v1alpha1.Application, error) {
			app := &v1alpha1.Application{}
			return app, env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, app)
		}).Should(beSynced())
	})
})

// expectRefused writes an Application in three ways: by POST, by kubectl apply, and by Server-Side Apply. All must fail
// with one of the messages.
func expectRefused(ctx context.Context, name, spec string, messages ...string) {
	GinkgoHelper()
	expected := ContainSubstring(messages[0])
	for _, message := range messages[1:] {
		expected = Or(expected, ContainSubstring(message))
	}
	object := fmt.Sprintf("{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: %s, namespace: %s}, spec: %s}", name, namespace, spec)

	err := env.CreateYAML(ctx, author, namespace, object)
	Expect(err).To(MatchError(expected), "by POST")
	_, err = env.Kubectl(ctx, "apply", "-f", writeFile(object))
	Expect(err).To(MatchError(expected), "by kubectl apply")
	err = env.ApplyYAML(ctx, author, namespace, object)
	Expect(err).To(MatchError(expected), "by Server-Side Apply")
}

// manyVariables lists n entries for env.
func manyVariables(n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf("{name: V%d}", i)
	}
	return strings.Join(entries, ", ")
}
