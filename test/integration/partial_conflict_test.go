package integration

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

var _ = Describe("A field of spec.deployment or spec.service that another manager owns with another value", func() {
	const (
		proxyImage = `.spec.template.spec.containers[name="proxy"].image`
		affinity   = ".spec.sessionAffinity"
		spec       = `{image: "registry.example/web:1", port: 8080, expose: ClusterIP, conflictPolicy: %,
			deployment: {spec: {minReadySeconds: 3, template: {spec: {containers: [{name: proxy, image: "registry.example/proxy:ours"}]}}}},
			service: {spec: {sessionAffinity: ClientIP}}}`
	)
	under := func(policy string) string { return strings.Replace(spec, "%", policy, 1) }
	contest := func(ctx SpecContext) {
		edit(ctx, "kubectl-edit", theDeployment(), `{spec: {template: {spec: {containers: [{name: proxy, image: "registry.example/proxy:theirs"}]}}}}`)
		edit(ctx, "kubectl-patch", theService(), "{spec: {sessionAffinity: None}}")
	}

	It("stays as it is under Abort, and the message says where the spec wants it", func(ctx SpecContext) {
		given(ctx, under("Abort"))
		contest(ctx)
		Eventually(ctx, application).Should(And(
			haveConflicts(onDeployment(proxyImage, "kubectl-edit", byUpdate), onService(affinity, "kubectl-patch", byUpdate)),
			haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonFieldConflict,
				ContainSubstring(proxyImage+` is owned by "kubectl-edit" (Update). For each field, set it in spec.deployment to the live value, which is then shared, `+
					`or remove it from spec.deployment, or let its manager give it up`),
				ContainSubstring(affinity+` is owned by "kubectl-patch" (Update). For each field, set it in spec.service to the live value, which is then shared, `+
					`or remove it from spec.service, or let its manager give it up`))))
		before := the(ctx, deployment)
		write(ctx, strings.Replace(under("Abort"), "minReadySeconds: 3", "minReadySeconds: 4", 1))
		Eventually(ctx, application).Should(haveConflicts(onDeployment(proxyImage, "kubectl-edit", byUpdate), onService(affinity, "kubectl-patch", byUpdate)))
		Expect(the(ctx, deployment).Spec).To(Equal(before.Spec))

		By("doing what the message says: setting one, and removing the other")
		given(ctx, strings.NewReplacer("proxy:ours", "proxy:theirs", "sessionAffinity: ClientIP", "").Replace(under("Abort")))
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElement(proxyImage))
		Expect(ownedByOperator(the(ctx, service))).NotTo(ContainElement(affinity))
		Expect(the(ctx, service).Spec.SessionAffinity).To(BeEquivalentTo("None"))
	})

	It("is left to it under Yield, with all else applied, and taken back", func(ctx SpecContext) {
		given(ctx, under("Yield"))
		deploymentFields, serviceFields := ownedByOperator(the(ctx, deployment)), ownedByOperator(the(ctx, service))
		contest(ctx)
		yielded := haveYielded(onDeployment(proxyImage, "kubectl-edit", byUpdate), onService(affinity, "kubectl-patch", byUpdate))
		Eventually(ctx, application).Should(yielded)
		write(ctx, strings.Replace(under("Yield"), "minReadySeconds: 3", "minReadySeconds: 4", 1))
		Eventually(ctx, application).Should(yielded)
		Expect(the(ctx, deployment).Spec.MinReadySeconds).To(BeEquivalentTo(4))
		Expect(ownedByOperator(the(ctx, deployment))).To(Equal(without(deploymentFields, proxyImage)))
		Expect(ownedByOperator(the(ctx, service))).To(Equal(without(serviceFields, affinity)))
		expectRest(ctx)

		edit(ctx, "kubectl-edit", theDeployment(), `{spec: {template: {spec: {containers: [{name: proxy, image: "registry.example/proxy:ours"}]}}}}`)
		edit(ctx, "kubectl-patch", theService(), "{spec: {sessionAffinity: ClientIP}}")
		eventuallySynced(ctx)
		Expect(ownedByOperator(the(ctx, deployment))).To(Equal(deploymentFields))
		Expect(ownedByOperator(the(ctx, service))).To(Equal(serviceFields))
		expectNoFailures()
	})
})
