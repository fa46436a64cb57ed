package integration

import (
	"fmt"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("At rest", func() {
	// The zero values that ordinary structs marshal to.
	const zeros = `creationTimestamp|"status"|strategy|replicas|:\{\}|:\[\]|:null|:0[,}]|:""`
	const spec = `{
		image: registry.example/web:1, port: 80, expose: ClusterIP,
		env: [{name: A, value: a}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}],
		resources: {limits: {cpu: 1000m, memory: 1024Mi}},
		livenessProbe: {httpGet: {path: /live, port: app}},
		readinessProbe: {exec: {command: [check]}}}`

	It("FR-01: nothing is written, whatever wakes the operator", func(ctx SpecContext) {
		By("bringing an Application to rest")
		given(ctx, spec)
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
		waitForQuiet()
		mark := now()
		children := append(snapshot(the(ctx, deployment)), snapshot(the(ctx, service))...)

		By("waking the operator twenty times by a label of the Application")
		for i := range 20 {
			touch(ctx, strconv.Itoa(i))
		}
		touched := snapshot(the(ctx, application))
		expectNoWrites(mark)

		Expect(append(snapshot(the(ctx, deployment)), snapshot(the(ctx, service))...)).To(Equal(children))

		By("waking it by what others do to the children")
		kubectl(ctx, "label", "deployment/web", "service/web", "note=mine")
		expectNoWrites(mark)
		kubectl(ctx, "label", "deployment/web", "service/web", "note-")
		expectNoWrites(mark)

		By("restarting it")
		children = append(snapshot(the(ctx, deployment)), snapshot(the(ctx, service))...)
		whileOperatorIsDown(ctx, func() {})
		expectNoWrites(mark)
		Expect(append(snapshot(the(ctx, deployment)), snapshot(the(ctx, service))...)).To(Equal(children))
		Expect(snapshot(the(ctx, application))).To(Equal(touched))
		Expect(eventWritesSince(mark)).To(BeZero())

		By("checking that it is awake: an edit takes one apply, and one of the status")
		given(ctx, "{image: registry.example/web:2, port: 80, expose: ClusterIP}")
		Expect(appliesTo("deployments", mark)).To(Equal(1))
		Expect(appliesTo("services", mark)).To(BeZero())
	})

	It("not even a read is sent", func(ctx SpecContext) {
		given(ctx, spec)
		waitForQuiet()
		mark := now()
		Consistently(func() (cluster.Events, error) { return env.OperatorRequests(mark) }).Should(BeEmpty())
	})

	It("FR-01: no apply carries a zero value, and none is owned", func(ctx SpecContext) {
		given(ctx, spec)
		bodies := writesSince(begin, cluster.Any(cluster.OnResource("deployments"), cluster.OnResource("services")))
		Expect(bodies).To(HaveLen(2))
		for _, write := range bodies {
			Expect(write.RequestBody()).NotTo(MatchRegexp(zeros), write.String())
		}
		for _, paths := range [][]string{ownedByOperator(the(ctx, deployment)), ownedByOperator(the(ctx, service))} {
			Expect(paths).NotTo(ContainElement(MatchRegexp(`creationTimestamp|^\.status|strategy|replicas`)))
		}
	})

	It("what is empty in the spec is not even sent", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, command: [], args: [], env: [], envFrom: [], resources: {limits: {}, requests: {}}}")
		waitForQuiet()
		mark := now()
		touch(ctx, "it")
		expectNoWrites(mark)
		Expect(ownedByOperator(the(ctx, deployment))).NotTo(ContainElement(MatchRegexp("command|args|env|resources")))
	})

	It("the order of env is the spec's, whoever changes it", func(ctx SpecContext) {
		names := func() (names []string) {
			for _, variable := range the(ctx, deployment).Spec.Template.Spec.Containers[0].Env {
				names = append(names, variable.Name)
			}
			return names
		}
		given(ctx, "{image: registry.example/web:1, env: [{name: A}, {name: B}, {name: C}]}")

		By("changing it in the spec")
		given(ctx, "{image: registry.example/web:1, env: [{name: C}, {name: A}, {name: B}]}")
		Expect(names()).To(Equal([]string{"C", "A", "B"}))

		By("changing it by hand, and adding something in between")
		child := the(ctx, deployment)
		container := &child.Spec.Template.Spec.Containers[0]
		container.Env = []corev1.EnvVar{{Name: "B"}, {Name: "THEIRS", Value: "x"}, {Name: "A"}, {Name: "C"}}
		Expect(env.Client.Update(ctx, child, client.FieldOwner("kubectl-edit"))).To(Succeed())
		Eventually(func() []string {
			return slices.DeleteFunc(names(), func(name string) bool { return name == "THEIRS" })
		}).Should(Equal([]string{"C", "A", "B"}))
		waitForQuiet()
		mark := now()
		touch(ctx, "it")
		expectNoWrites(mark)
		Expect(names()).To(ContainElement("THEIRS"))
	})

	It("many Applications at once come to rest as well, each after a single apply", func(ctx SpecContext) {
		const many = 40
		for i := range many {
			manifest := fmt.Sprintf("{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: web-%d}, spec: %s}", i, spec)
			Expect(env.ApplyYAML(ctx, author, namespace, manifest)).To(Succeed())
		}
		Eventually(func() int { return len(writesSince(begin, cluster.WithCode(201))) }).Should(Equal(2 * many))
		waitForQuiet()
		Expect(appliesTo("deployments", begin)).To(Equal(many))
		Expect(appliesTo("services", begin)).To(Equal(many))
		expectNoWrites(now())
	})
})
