package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A removed field must go from the child, and from what the operator owns of it: the child is then like one that never
// had the field.
var _ = DescribeTable("A field that is removed from the spec is removed from the child",
	func(ctx SpecContext, before, after, path string) {
		By("writing a spec with " + before)
		given(ctx, fmt.Sprintf("{image: registry.example/web:1, %s}", before))
		path = `.spec.template.spec.containers[name="app"].` + path
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElement(lieWithin(path)))

		By("writing it without")
		spec := fmt.Sprintf("{image: registry.example/web:1, %s}", after)
		given(ctx, spec)
		changed := the(ctx, deployment)
		Expect(ownedByOperator(changed)).NotTo(ContainElement(lieWithin(path)))

		By("comparing it with a twin that never had the field")
		twin := newTwin(ctx, spec)
		Expect(changed.Spec.Template.Spec).To(Equal(twin.Spec.Template.Spec))
		Expect(changed.Spec.Replicas).To(Equal(twin.Spec.Replicas))
	},
	Entry("an entry of env", "env: [{name: KEEP, value: a}, {name: DROP, value: b}]", "env: [{name: KEEP, value: a}]", `env[name="DROP"]`),
	Entry("all of env", "env: [{name: DROP, value: b}]", "", "env"),
	Entry("the value of an env entry", "env: [{name: NAME, value: a}]", "env: [{name: NAME}]", `env[name="NAME"].value`),
	Entry("an env value for a reference", "env: [{name: NAME, value: a}]",
		"env: [{name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", `env[name="NAME"].value`),
	Entry("envFrom", "envFrom: [{configMapRef: {name: settings}}]", "", "envFrom"),
	Entry("command", "command: [serve]", "", "command"),
	Entry("args", "args: [--verbose]", "", "args"),
	Entry("a limit", "resources: {limits: {cpu: 2, memory: 1Gi}}", "resources: {limits: {cpu: 2}}", "resources.limits.memory"),
	Entry("all resources", "resources: {limits: {cpu: 2}, requests: {memory: 1Gi}}", "", "resources"),
	Entry("livenessProbe", "livenessProbe: {httpGet: {path: /live, port: 80}, periodSeconds: 7}", "", "livenessProbe"),
	Entry("readinessProbe", "readinessProbe: {tcpSocket: {port: 80}}", "", "readinessProbe"),
	Entry("startupProbe", "startupProbe: {exec: {command: [check]}, failureThreshold: 9}", "", "startupProbe"),
	Entry("a probe's handler for another", "readinessProbe: {httpGet: {path: /ready, port: 80}}", "readinessProbe: {exec: {command: [check]}}", "readinessProbe.httpGet"),
	Entry("a setting of a probe", "readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 7}", "readinessProbe: {tcpSocket: {port: 80}}", "readinessProbe.periodSeconds"),
	Entry("port", "port: 8080", "", "ports"),
	Entry("imagePullPolicy", "imagePullPolicy: Never", "", "imagePullPolicy"),
)

// newTwin returns the Deployment of a second Application, created from that spec.
func newTwin(ctx context.Context, spec string) *appsv1.Deployment {
	GinkgoHelper()
	Expect(env.ApplyYAML(ctx, author, namespace,
		"{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: twin}, spec: "+spec+"}")).To(Succeed())
	child := &appsv1.Deployment{}
	Eventually(ctx, func(ctx context.Context) error {
		return env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "twin"}, child)
	}).Should(Succeed())
	// What depends on the name is not what the stories are about.
	child.Spec.Template.Labels = nil
	return child
}
