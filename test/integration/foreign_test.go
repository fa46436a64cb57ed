package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

const (
	exposedSpec = "{image: registry.example/web:1, port: 8080, expose: ClusterIP}"

	foreignDeployment = `
spec:
  selector: {matchLabels: {made: by-hand}}
  template:
    metadata: {labels: {made: by-hand}}
    spec: {containers: [{name: main, image: registry.example/other:1}]}`
	foreignService = "spec: {ports: [{port: 80}]}"
)

var _ = Describe("An object that has the child's name but belongs to somebody else", func() {
	It("FR-27: is refused if it is a Deployment; the Service is made all the same", func(ctx SpecContext) {
		By("making a Deployment by hand")
		applyDeployment(ctx, "somebody", foreignDeployment)
		before := snapshot(the(ctx, deployment))

		By("writing an Application of its name")
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beRefused("Deployment", And(
			ContainSubstring("cannot be adopted"), ContainSubstring(`its selector is "made=by-hand"`), Not(ContainSubstring(v1alpha1.AnnotationAdopt)))))
		Eventually(ctx, service).Should(beControlledBy(the(ctx, application)))

		By("looking whether it is untouched")
		Consistently(ctx, deployment).Should(HaveField("ResourceVersion", before[1]))
		Expect(appliesTo("deployments", begin)).To(BeZero())
		Expect(the(ctx, application)).To(And(haveNoConflicts(), HaveField("Status.DeploymentStatus", BeNil())))

		By("deleting it, and nothing else")
		Eventually(func() int { return openWatches("deployments") }).Should(Equal(1), "how else would the operator hear of its end?")
		mark := now()
		Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		eventuallySynced(ctx)
		Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))
		Expect(appliesTo("services", mark)).To(BeZero())

		By("looking for the watch of its name: it has ended")
		Eventually(func() int { return openWatches("deployments") }).Should(BeZero())
	})

	It("FR-27: is refused if it is a Service; the Deployment is made all the same", func(ctx SpecContext) {
		By("making a Service by hand")
		applyService(ctx, "somebody", foreignService)
		before := snapshot(the(ctx, service))

		By("writing an Application of its name")
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beRefused("Service", ContainSubstring("%s=web", v1alpha1.AnnotationAdopt)))
		Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))

		By("looking whether it is untouched")
		Consistently(ctx, service).Should(HaveField("ResourceVersion", before[1]))
		Expect(appliesTo("services", begin)).To(BeZero())

		By("deleting it, and nothing else")
		Expect(env.Client.Delete(ctx, theService())).To(Succeed())
		eventuallySynced(ctx)
		Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))
	})

	It("no longer stands in the way after a restart if it went away while the operator was down", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", foreignDeployment)
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beRefused("Deployment"))

		whileOperatorIsDown(ctx, func() { Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed()) })
		eventuallySynced(ctx)
		Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))
	})

	It("is refused although it carries the operator's label", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", "  labels: {owner: application-operator}"+foreignDeployment)
		before := snapshot(the(ctx, deployment))
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beRefused("Deployment"))
		Consistently(ctx, deployment).Should(HaveField("ResourceVersion", before[1]))
	})

	It("is refused with its owner's name if something else controls it", func(ctx SpecContext) {
		applyService(ctx, "somebody", "  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gateway, uid: 11111111-2222-3333-4444-555555555555, controller: true}]\n"+foreignService)
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beRefused("Service", ContainSubstring("controlled by ConfigMap gateway")))
	})

	It("is left to the garbage collector if it is left from an earlier Application of the same name", func(ctx SpecContext) {
		given(ctx, exposedSpec)

		By("deleting the Application, while nothing collects its children")
		earlier := the(ctx, application)
		Expect(env.Client.Delete(ctx, earlier)).To(Succeed())
		left := snapshot(the(ctx, deployment))

		By("writing it again")
		write(ctx, "{image: registry.example/web:2}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, metav1.ConditionFalse, v1alpha1.ReasonTerminating, ContainSubstring("earlier Application")))
		Expect(the(ctx, application).Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)), "no person has to act")
		Consistently(ctx, deployment).Should(HaveField("ResourceVersion", left[1]))

		By("collecting")
		Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		eventuallySynced(ctx)
		Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))
	})

	It("stands in the way until it is gone for good", func(ctx SpecContext) {
		By("making a Deployment whose finalizer holds up its end")
		applyDeployment(ctx, "somebody", "  finalizers: [example.com/hold]"+foreignDeployment)
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beRefused("Deployment"))
		Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, metav1.ConditionFalse, v1alpha1.ReasonTerminating))
		expectNoWrites(now())

		By("letting it go")
		edit(ctx, "somebody", theDeployment(), `{metadata: {$deleteFromPrimitiveList/finalizers: [example.com/hold]}}`)
		eventuallySynced(ctx)
	})
})

// beRefused matches an Application that waits for a person because an object of its child's name is not its own.
func beRefused(kind string, message ...types.GomegaMatcher) types.GomegaMatcher {
	message = append(message, ContainSubstring(kind+" web"))
	return And(
		haveCondition(v1alpha1.ConditionSynced, metav1.ConditionFalse, v1alpha1.ReasonResourceExists, message...),
		haveCondition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonResourceExists),
		haveCondition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonResourceExists),
	)
}

// beControlledBy matches a child of just that Application.
func beControlledBy(app *v1alpha1.Application) types.GomegaMatcher {
	return WithTransform(func(child metav1.Object) bool { return metav1.IsControlledBy(child, app) }, BeTrue())
}
