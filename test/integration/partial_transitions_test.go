package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// partialDeployment is a spec with a partial Deployment, and partialPod one with a partial pod.
func partialDeployment(rest string) string {
	return "{image: registry.example/web:1, deployment: {spec: " + rest + "}}"
}

func partialPod(pod string) string { return partialDeployment("{template: {spec: " + pod + "}}") }

func partialService(expose, rest string) string {
	return fmt.Sprintf("{image: registry.example/web:1, port: 8080, expose: %s, service: {spec: %s}}", expose, rest)
}

// podSpec reads what the Deployment of the story runs.
func podSpec(ctx context.Context) corev1.PodSpec { return the(ctx, deployment).Spec.Template.Spec }

// expectRest claims that a restarted operator finds all as it wants it.
func expectRest(ctx context.Context) {
	GinkgoHelper()
	waitForQuiet()
	mark := now()
	whileOperatorIsDown(ctx, func() {})
	expectNoWrites(mark)
}

var _ = Describe("FR-20: one of several fields of which there can be one", func() {
	It("gives way to another: the strategy, though its numbers were the API server's defaults", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		before := the(ctx, deployment)
		for _, step := range []struct {
			strategy string
			want     types.GomegaMatcher
		}{
			{"{type: Recreate}", Equal(appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType})},
			{"{type: RollingUpdate, rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}", And(
				HaveField("Type", appsv1.RollingUpdateDeploymentStrategyType),
				HaveField("RollingUpdate.MaxSurge", HaveValue(Equal(intstr.FromInt32(2)))),
				HaveField("RollingUpdate.MaxUnavailable", HaveValue(Equal(intstr.FromInt32(0)))))},
			{"{type: Recreate}", Equal(appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType})},
			{"{rollingUpdate: {maxSurge: 1}}", And(
				HaveField("Type", appsv1.RollingUpdateDeploymentStrategyType),
				HaveField("RollingUpdate.MaxSurge", HaveValue(Equal(intstr.FromInt32(1)))))},
			{"{type: Recreate}", Equal(appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType})},
			{"null", HaveField("Type", appsv1.RollingUpdateDeploymentStrategyType)},
		} {
			given(ctx, partialDeployment("{strategy: "+step.strategy+"}"))
			Expect(the(ctx, deployment).Spec.Strategy).To(step.want, step.strategy)
		}
		Expect(the(ctx, deployment).UID).To(Equal(before.UID))
		expectNoFailures()
	})

	It("gives way to another: handlers of probes and hooks", func(ctx SpecContext) {
		handlers := []string{"httpGet: {port: 80, path: /live}", "tcpSocket: {port: 80}", "grpc: {port: 9000}", "exec: {command: ['true']}", "httpGet: {port: 81}"}
		for i, handler := range handlers {
			hook := handlers[(i+1)%2]
			given(ctx, partialPod(fmt.Sprintf("{containers: [{name: app, livenessProbe: {periodSeconds: 7, %s}, lifecycle: {preStop: {%s}}}, {name: proxy, image: proxy, readinessProbe: {%s}}]}", handler, hook, handler)))
			Expect(podSpec(ctx).Containers).To(HaveLen(2))
		}
		given(ctx, partialPod("{containers: [{name: proxy, image: proxy}]}"))
		Expect(podSpec(ctx).Containers).To(ConsistOf(
			And(HaveField("Name", "app"), HaveField("LivenessProbe", BeNil()), HaveField("Lifecycle", BeNil())),
			And(HaveField("Name", "proxy"), HaveField("ReadinessProbe", BeNil())),
		))
		expectNoFailures()
	})

	It("gives way to another: the value of a variable and where it comes from", func(ctx SpecContext) {
		for _, source := range []string{
			"value: a", "valueFrom: {fieldRef: {fieldPath: metadata.name}}", "valueFrom: {secretKeyRef: {name: s, key: k}}", "value: b",
			"valueFrom: {resourceFieldRef: {resource: limits.cpu}}", "valueFrom: {configMapKeyRef: {name: c, key: k}}", "value: ''",
		} {
			given(ctx, partialPod("{containers: [{name: app, env: [{name: OURS, "+source+"}]}, {name: proxy, image: proxy, env: [{name: THEIRS, "+source+"}]}]}"))
			Expect(podSpec(ctx).Containers).To(HaveEach(HaveField("Env", HaveLen(1))))
		}
		expectRest(ctx)
		expectNoFailures()
	})

	It("gives way to another: the source of a volume, though it was the API server's default", func(ctx SpecContext) {
		for _, source := range []string{
			"", ", configMap: {name: c}", "", ", secret: {secretName: s}", ", emptyDir: {}", ", persistentVolumeClaim: {claimName: data}",
			", hostPath: {path: /data}", ", projected: {sources: [{serviceAccountToken: {path: token}}]}",
			", downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}", ", emptyDir: {medium: Memory}", ", nfs: {server: a, path: /}",
		} {
			given(ctx, partialPod("{volumes: [{name: data"+source+"}]}"))
			Expect(podSpec(ctx).Volumes).To(HaveLen(1))
		}
		expectNoFailures()
	})

	It("gives way to another: the name of a service account, of which the API server keeps a copy", func(ctx SpecContext) {
		for _, account := range []struct{ pod, name string }{
			{"{serviceAccountName: one}", "one"}, {"{serviceAccountName: two}", "two"}, {"{serviceAccount: three}", "three"}, {"{serviceAccount: another}", "another"}, {"{}", ""},
			{"{serviceAccountName: four}", "four"}, {"{}", ""},
		} {
			given(ctx, partialPod(account.pod))
			Expect(podSpec(ctx).ServiceAccountName).To(Equal(account.name))
		}
		Expect(podSpec(ctx).ServiceAccountName).To(BeEmpty())
		Expect(podSpec(ctx).DeprecatedServiceAccount).To(BeEmpty())
		expectNoFailures()
	})

	It("gives way to another: the affinity of a Service's sessions, though its timeout was the API server's default", func(ctx SpecContext) {
		for _, affinity := range []string{"{sessionAffinity: ClientIP}", "{sessionAffinity: None}", "{sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 60}}}", "{sessionAffinity: ClientIP}", "{}"} {
			given(ctx, partialService("ClusterIP", affinity))
		}
		Expect(the(ctx, service).Spec.SessionAffinityConfig).To(BeNil())
		expectNoFailures()
	})
})
