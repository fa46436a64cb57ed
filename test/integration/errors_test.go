package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("A spec that the CRD accepts and the API server refuses", func() {
	DescribeTable("is reported in the server's words, and not tried again before it changes:",
		func(ctx SpecContext, invalid, words string) {
			By("writing it")
			write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, "+invalid+"}")
			Eventually(ctx, application).Should(beInvalid("Deployment", words))

			By("counting the attempts: the first, and one for each of the operator's own writes that wakes it")
			waitForQuiet()
			Expect(appliesTo("deployments", begin)).To(BeNumerically("<=", 4))

			By("looking for the other child")
			Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))

			By("correcting the spec")
			given(ctx, exposedSpec)
			Expect(the(ctx, application).Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)))
			Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))
		},
		Entry("the name of an env entry", `env: [{name: "A=B", value: c}]`, "environment variable name"),
		Entry("a header of a probe", `livenessProbe: {httpGet: {port: 8080, httpHeaders: [{name: "not valid", value: a}]}}`, "httpHeaders"),
		Entry("the name of a ConfigMap", "envFrom: [{configMapRef: {name: Not_Valid}}]", "envFrom[0].configMapRef.name"),
		Entry("a resource", `resources: {limits: {"not a resource": 1}}`, "not a resource"),
	)

	It("leaves a child as it was", func(ctx SpecContext) {
		given(ctx, exposedSpec)
		before := the(ctx, deployment)

		write(ctx, `{image: registry.example/web:2, port: 8080, expose: ClusterIP, env: [{name: "A=B", value: c}]}`)
		Eventually(ctx, application).Should(beInvalid("Deployment", "environment variable name"))
		Expect(the(ctx, application).Status.Phase).To(Equal(v1alpha1.PhaseFailed))
		Expect(snapshot(the(ctx, deployment))).To(Equal(snapshot(before)))

		By("waiting for longer than any back-off: nothing is tried again")
		waitForQuiet()
		mark := now()
		Consistently(func() cluster.Events { return writesSince(mark) }).WithTimeout(maxBackoff + quiet).Should(BeEmpty())

		given(ctx, "{image: registry.example/web:2, port: 8080, expose: ClusterIP}")
		Expect(the(ctx, deployment).UID).To(Equal(before.UID))
	})

	It("is not tried again by a restart more than once", func(ctx SpecContext) {
		write(ctx, `{image: registry.example/web:1, env: [{name: "A=B", value: c}]}`)
		Eventually(ctx, application).Should(beInvalid("Deployment", "environment variable name"))
		waitForQuiet()
		mark, status := now(), snapshot(the(ctx, application))

		whileOperatorIsDown(ctx, func() {})
		Eventually(func() int { return appliesTo("deployments", mark) }).Should(Equal(1))
		Consistently(func() cluster.Events { return writesSince(mark) }).Should(HaveLen(1))
		Expect(snapshot(the(ctx, application))).To(Equal(status), "the status says all that already")
	})
})

var _ = Describe("An API server that goes away", func() {
	It("is waited for; then work goes on", func(ctx SpecContext) {
		given(ctx, exposedSpec)

		By("crashing the API server")
		Expect(env.StopAPIServer()).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if _, err := application(ctx); err != nil {
				Expect(env.StartAPIServer(ctx)).To(Succeed())
			}
		})
		Consistently(env.OperatorFailure).Should(Succeed())

		By("starting it, and writing before the operator's watches are back")
		mayBeDenied = true
		Expect(env.StartAPIServer(ctx)).To(Succeed())
		mark := now()
		write(ctx, "{image: registry.example/web:2, port: 9090, expose: ClusterIP}")
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))
		Expect(the(ctx, service).Spec.Ports).To(ConsistOf(HaveField("Port", BeEquivalentTo(9090))))
		Expect(appliesTo("deployments", mark)).To(Equal(1))
	})
})

var _ = Describe("A namespace that is being deleted", func() {
	It("FR-40: gets nothing made, and no Events; one attempt is enough", func(ctx SpecContext) {
		given(ctx, exposedSpec)
		Eventually(ctx, reasons).Should(HaveLen(1))

		By("deleting the namespace, which nobody finishes, and then a child")
		Expect(env.Client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
		mark := now()
		Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonTerminating))

		By("waiting for longer than any back-off")
		waitForQuiet()
		quiet := now()
		Consistently(func() cluster.Events { return writesSince(quiet) }).WithTimeout(maxBackoff + time.Second).Should(BeEmpty())
		Expect(appliesTo("deployments", mark)).To(BeNumerically("<=", 3))
		Expect(eventWritesSince(mark)).To(BeZero())
	})
})

// beInvalid matches an Application of which the API server refuses a child in these words.
func beInvalid(kind, words string) types.GomegaMatcher {
	message := And(ContainSubstring("The API server refuses "+kind+" web"), ContainSubstring(words))
	return And(
		haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonInvalid, message),
		haveCondition(v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalid),
		haveCondition(v1alpha1.ConditionStalled, "True", v1alpha1.ReasonInvalid),
	)
}
