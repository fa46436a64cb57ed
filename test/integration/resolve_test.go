package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

var _ = Describe("A conflict ends, without touching the operator,", func() {
	const image = `{spec: {template: {spec: {containers: [{name: app, image: "registry.example/web:theirs"}]}}}}`

	AfterEach(func(ctx SpecContext) {
		By("reading the end of the story: nothing of the conflict is left in the status")
		app := the(ctx, application)
		Expect(app).To(beSynced())
		Expect(app.Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)))
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElement(imageField), "what the spec wants is owned again")
	})

	It("when its owner by Apply leaves the field out", func(ctx SpecContext) {
		const field = `.spec.template.spec.containers[name="app"].env[name="MODE"].value`
		given(ctx, "{image: registry.example/web:1, env: [{name: MODE, value: ours}]}")
		applyDeployment(ctx, "gitops", `
spec:
  replicas: 4
  template: {spec: {containers: [{name: app, env: [{name: MODE, value: theirs}]}]}}`, client.ForceOwnership)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(field, "gitops", byApply)))

		applyDeployment(ctx, "gitops", "spec: {replicas: 4}")
		eventuallySynced(ctx)
		child := the(ctx, deployment)
		Expect(child.Spec.Template.Spec.Containers[0].Env).To(ConsistOf(HaveField("Value", "ours")))
		Expect(child.Spec.Replicas).To(HaveValue(BeEquivalentTo(4)), "what gitops still claims stays")
	})

	It("when its owner by Update sets the wanted value", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		edit(ctx, "kubectl-edit", theDeployment(), image)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "kubectl-edit", byUpdate)))

		edit(ctx, "kubectl-edit", theDeployment(), `{spec: {template: {spec: {containers: [{name: app, image: "registry.example/web:1"}]}}}}`)
		eventuallySynced(ctx)
	})

	It("FR-36: when its owner by Update gives up its claim in managedFields, and nothing else", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		edit(ctx, "kubectl-edit", theDeployment(), image)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "kubectl-edit", byUpdate)))

		child := the(ctx, deployment)
		entries := child.ManagedFields[:0:0]
		for _, entry := range child.ManagedFields {
			if entry.Manager != "kubectl-edit" {
				entries = append(entries, entry)
			}
		}
		child.ManagedFields = entries
		Expect(env.Client.Update(ctx, child, client.FieldOwner("janitor"))).To(Succeed())
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:1"))
	})

	It("when the spec takes the live value", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		edit(ctx, "kubectl-edit", theDeployment(), image)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "kubectl-edit", byUpdate)))

		given(ctx, "{image: registry.example/web:theirs}")
		Expect(owned(the(ctx, deployment), "kubectl-edit", byUpdate, "")).To(ContainElement(imageField), "now both own it")
	})

	It("when the spec gives up the field", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		scale(ctx, "autoscaler", 6)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "autoscaler", byUpdate, "scale")))

		given(ctx, "{image: registry.example/web:1}")
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(6)))
	})

	It("when the contested child is deleted", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		edit(ctx, "kubectl-edit", theDeployment(), image)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "kubectl-edit", byUpdate)))

		Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:1"))
	})

	It("although its owner acts while the operator is down", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		scale(ctx, "kubectl", 3)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))

		whileOperatorIsDown(ctx, func() { scale(ctx, "kubectl", 2) })
		eventuallySynced(ctx)
	})
})
