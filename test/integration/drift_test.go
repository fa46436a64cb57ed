package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("What people change in the children by hand", func() {
	BeforeEach(func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, env: [{name: A, value: a}, {name: B, value: b}]}")
	})

	DescribeTable("FR-36: comes back if nobody claims it:",
		func(ctx SpecContext, object client.Object, patch string) {
			stub(object)
			read := func() ([]string, error) {
				err := env.Client.Get(ctx, key(), object)
				return append(ownedByOperator(object), string(object.GetUID())), err
			}
			before, err := read()
			Expect(err).NotTo(HaveOccurred())

			By("removing it while the operator is down, so that nothing but managedFields and the live object tell")
			whileOperatorIsDown(ctx, func() {
				edit(ctx, "kubectl-edit", object, patch)
				Expect(ownedByOperator(object)).NotTo(Equal(before[:len(before)-1]), "nothing was removed")
			})
			Eventually(read).Should(Equal(before))

			By("removing it while the operator runs")
			mark := now()
			edit(ctx, "kubectl-edit", object, patch)
			Eventually(func() int { return len(writesSince(mark)) }).ShouldNot(BeZero())
			Eventually(read).Should(Equal(before))
			eventuallySynced(ctx)
		},
		Entry("a label of the Deployment", theKind("Deployment"), "{metadata: {labels: {app: null}}}"),
		Entry("a label of the Service", theKind("Service"), "{metadata: {labels: {app.kubernetes.io/name: null}}}"),
		Entry("the label by which the operator's cache selects Deployments", theKind("Deployment"), "{metadata: {labels: {owner: null}}}"),
		Entry("the label by which the operator's cache selects Services", theKind("Service"), "{metadata: {labels: {owner: null}}}"),
		Entry("an env entry", theKind("Deployment"), `{spec: {template: {spec: {containers: [{name: app, env: [{name: A, $patch: delete}]}]}}}}`),
		Entry("an env value", theKind("Deployment"), `{spec: {template: {spec: {containers: [{name: app, env: [{name: A, value: null}]}]}}}}`),
		Entry("the container's port", theKind("Deployment"), `{spec: {template: {spec: {containers: [{name: app, ports: null}]}}}}`),
	)

	It("comes back if it is a whole child", func(ctx SpecContext) {
		deploymentBefore, serviceBefore := the(ctx, deployment), the(ctx, service)
		Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		Eventually(ctx, deployment).Should(HaveField("UID", Not(Equal(deploymentBefore.UID))))
		Expect(env.Client.Delete(ctx, theService())).To(Succeed())
		Eventually(ctx, service).Should(HaveField("UID", Not(Equal(serviceBefore.UID))))
		eventuallySynced(ctx)

		By("deleting both while the operator is down")
		whileOperatorIsDown(ctx, func() {
			Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
			Expect(env.Client.Delete(ctx, theService())).To(Succeed())
		})
		Eventually(ctx, deployment).Should(beControlledBy(the(ctx, application)))
		Eventually(ctx, service).Should(beControlledBy(the(ctx, application)))
		eventuallySynced(ctx)
	})

	It("does not come back for an Application that is being deleted", func(ctx SpecContext) {
		By("deleting the Application, while a finalizer of somebody else holds up its end")
		Expect(env.MergeYAML(ctx, "backup", theApplication(), "{metadata: {finalizers: [example.com/backup]}}")).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(env.MergeYAML(ctx, "backup", theApplication(), "{metadata: {finalizers: null}}")).To(Succeed())
		})
		Expect(env.Client.Delete(ctx, theApplication())).To(Succeed())
		waitForQuiet() // the operator hears of Applications and of children in no fixed order
		mark := now()
		Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		edit(ctx, "kubectl-edit", theService(), "{metadata: {labels: {app: null}}}")
		expectNoWrites(mark)
	})

	It("is reported if somebody now claims it", func(ctx SpecContext) {
		const targetPort = `.spec.ports[port=8080,protocol="TCP"].targetPort`
		edit(ctx, "kubectl-patch", theService(), "{spec: {ports: [{port: 8080, targetPort: 9999}]}}")
		Eventually(ctx, application).Should(haveConflicts(onService(targetPort, "kubectl-patch", byUpdate)))
		Expect(the(ctx, service).Spec.Ports[0].TargetPort).To(Equal(intstr.FromInt32(9999)))
	})

	It("is reported if it is the owner reference: the child is nobody's then", func(ctx SpecContext) {
		references := the(ctx, deployment).OwnerReferences
		mark := now()
		Expect(env.MergeYAML(ctx, "kubectl-edit", theDeployment(), "{metadata: {ownerReferences: null}}")).To(Succeed())
		Eventually(ctx, application).Should(beRefused("Deployment"))
		Expect(appliesTo("deployments", mark)).To(BeZero())

		By("putting it back by hand")
		child := the(ctx, deployment)
		child.OwnerReferences = references
		Expect(env.Client.Update(ctx, child, client.FieldOwner("kubectl-edit"))).To(Succeed())
		eventuallySynced(ctx)
		Expect(metav1.IsControlledBy(the(ctx, deployment), the(ctx, application))).To(BeTrue())
	})
})

// theKind returns an object to be read by an entry of a table, which is made before there is a namespace.
func theKind(kind string) client.Object {
	if kind == "Service" {
		return theService()
	}
	return theDeployment()
}
