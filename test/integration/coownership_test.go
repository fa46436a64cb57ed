package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A field that another manager owns with the same value", func() {
	It("is shared, and nobody loses it when the other goes", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")

		By("applying the same values, unforced")
		applyDeployment(ctx, "gitops", `
spec:
  replicas: 2
  selector: {matchLabels: {app: web, owner: application-operator}}
  template: {spec: {containers: [{name: app, image: "registry.example/web:1"}]}}`)
		mark := now()
		expectNoWrites(mark)
		Expect(the(ctx, application)).To(beSynced())
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElements(imageField, replicasField))

		By("letting the other go")
		applyDeployment(ctx, "gitops", "")
		expectNoWrites(mark)
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
	})

	It("is shared when the other came first", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		edit(ctx, "kubectl-edit", theDeployment(), "{spec: {replicas: 3}}")

		given(ctx, "{image: registry.example/web:1, replicas: 3}")
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElement(replicasField))
		Expect(owned(the(ctx, deployment), "kubectl-edit", byUpdate, "")).To(ContainElement(replicasField))
	})

	It("is contested when both owned it and one of them changes its mind", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		edit(ctx, "kubectl-edit", theDeployment(), "{spec: {replicas: 3}}")
		given(ctx, "{image: registry.example/web:1, replicas: 3}")

		write(ctx, "{image: registry.example/web:1, replicas: 4}")
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl-edit", byUpdate)))
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(3)))
	})

	It("FR-03: is shared although its quantities are written otherwise", func(ctx SpecContext) {
		By("writing quantities that the API server would write otherwise")
		given(ctx, `{image: registry.example/web:1, resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: "0.1"}}}`)
		mark := now()

		By("applying the same ones in their canonical form, unforced")
		applyDeployment(ctx, "gitops", `
spec:
  selector: {matchLabels: {app: web, owner: application-operator}}
  template: {spec: {containers: [{name: app, image: "registry.example/web:1", resources: {limits: {cpu: "1", memory: 1Gi}}}]}}`)
		before := the(ctx, deployment)

		By("waking the operator")
		for _, value := range []string{"1", "2", "3"} {
			touch(ctx, value)
		}
		expectNoWrites(mark)
		Expect(the(ctx, application)).To(beSynced())

		By("writing 1 for 1000m in the Application")
		given(ctx, `{image: registry.example/web:1, resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 100m}}}`)
		Expect(appliesTo("deployments", mark)).To(BeZero())
		Expect(snapshot(the(ctx, deployment))).To(Equal(snapshot(before)))
	})

	It("is shared although the API server completes it", func(ctx SpecContext) {
		const env = "[{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]"
		given(ctx, "{image: registry.example/web:1, env: "+env+"}")

		By("applying the same, unforced")
		applyDeployment(ctx, "gitops", `
spec:
  selector: {matchLabels: {app: web, owner: application-operator}}
  template: {spec: {containers: [{name: app, image: "registry.example/web:1", env: `+env+`}]}}`, client.ForceOwnership)

		By("changing something else")
		given(ctx, "{image: registry.example/web:1, replicas: 2, env: "+env+"}")
		mark := now()
		touch(ctx, "again")
		expectNoWrites(mark)
	})
})
