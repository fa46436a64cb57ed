package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

var _ = Describe("A paused Application", func() {
	const paused = "{image: registry.example/web:2, replicas: 2, paused: true}"

	It("has nothing made for it", func(ctx SpecContext) {
		write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, paused: true}")
		Eventually(ctx, application).Should(And(
			haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonPaused),
			haveCondition(v1alpha1.ConditionReady, "False", v1alpha1.ReasonPaused),
		))
		Consistently(func() int { return appliesTo("deployments", begin) + appliesTo("services", begin) }).Should(BeZero())

		By("un-pausing")
		given(ctx, exposedSpec)
		Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))
	})

	It("is not changed, but still reported on", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")
		mark := now()

		By("pausing with a change, and without a Service")
		write(ctx, paused)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonPaused, Equal(
			"Deployment web differs from the spec and is left as it is, since spec.paused is true: set it to false to apply the spec. "+
				"Service web is no longer wanted and is not deleted, since spec.paused is true: set it to false to have it deleted")))
		rollOut(ctx)
		Eventually(ctx, application).Should(HaveField("Status.DeploymentStatus.AvailableReplicas", BeEquivalentTo(2)))
		Expect(service(ctx)).To(beControlledBy(the(ctx, application)), "the Service is gone")

		By("making a conflict, which is reported, too")
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(HaveField("Status.Conflicts", Equal([]v1alpha1.FieldConflict{
			onDeployment(replicasField, "kubectl", byUpdate, "scale"),
		})))
		Expect(the(ctx, application)).To(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonPaused, ContainSubstring(replicasField)))
		Expect(appliesTo("deployments", mark)).To(BeZero())
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:1"))

		By("ending the conflict and the pause")
		scale(ctx, "kubectl", 2)
		Eventually(ctx, application).Should(haveNoConflicts())
		given(ctx, "{image: registry.example/web:2, replicas: 2}")
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))
		eventuallyGone(ctx, theService())
	})

	It("says that it is paused although nothing is held up", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		write(ctx, "{image: registry.example/web:1, paused: true}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonPaused, ContainSubstring("paused")))
	})

	It("does not get back what is deleted", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:2, replicas: 2}")
		write(ctx, paused)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonPaused))
		mark := now()
		Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonPaused))
		Expect(appliesTo("deployments", mark)).To(BeZero())
	})
})
