package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("A hand-over of spec.replicas that is cut short", func() {
	const scaledFurther = "{image: registry.example/web:1, replicas: 6}"

	DescribeTable("is finished by the next start, and the count shows nothing of it:",
		func(ctx SpecContext, before []string, after, stopAt, owner string, course ...int32) {
			for _, spec := range before {
				given(ctx, spec)
			}
			counted, gate := countReplicas(ctx), addGate(ctx)
			crashAt(ctx, gate, 1, applyOf("deployments", stopAt), func() { write(ctx, after) })
			eventuallySynced(ctx)
			eventuallyOwned(ctx, owner)
			Expect(counted.course(ctx)).To(Equal(course))

			By("looking for leftovers, and for work that is done twice")
			waitForQuiet()
			eventuallyOwned(ctx, owner)
			mark := now()
			touch(ctx, "again")
			expectNoWrites(mark)
		},
		Entry("letting go, before the first step", []string{scaledSpec}, unscaledSpec,
			v1alpha1.FieldManagerHandover, v1alpha1.FieldManagerHandover, int32(3)),
		Entry("letting go, between the steps", []string{scaledSpec}, unscaledSpec,
			v1alpha1.FieldManager, v1alpha1.FieldManagerHandover, int32(3)),
		Entry("taking back, before the first step", []string{scaledSpec, unscaledSpec}, scaledFurther,
			v1alpha1.FieldManagerHandover, v1alpha1.FieldManager, int32(3), int32(6)),
		Entry("taking back, between the steps", []string{scaledSpec, unscaledSpec}, scaledFurther,
			v1alpha1.FieldManager, v1alpha1.FieldManager, int32(3), int32(6)),
		Entry("taking back what it is, before the last step", []string{scaledSpec, unscaledSpec}, scaledSpec,
			v1alpha1.FieldManagerHandover, v1alpha1.FieldManager, int32(3)),
	)

	It("is finished although the spec changed back meanwhile", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		counted, gate := countReplicas(ctx), addGate(ctx)
		By("crashing when the hand-over manager shares the field already")
		crashAt(ctx, gate, 1, applyOf("deployments", v1alpha1.FieldManager), func() { write(ctx, unscaledSpec) }, func() {
			eventuallyOwned(ctx, v1alpha1.FieldManager, v1alpha1.FieldManagerHandover)
			write(ctx, scaledSpec)
		})
		eventuallySynced(ctx)
		eventuallyOwned(ctx, v1alpha1.FieldManager)
		Expect(counted.course(ctx)).To(Equal([]int32{3}))
	})

	It("gives way to somebody who scales between its steps", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		counted := countReplicas(ctx)
		met := addGate(ctx).once(applyOf("deployments", v1alpha1.FieldManager), func() bool {
			scale(ctx, "kube-controller-manager", 7)
			return true
		})
		write(ctx, unscaledSpec)
		eventuallySynced(ctx)
		Expect(met.Load()).To(BeTrue())
		eventuallyOwned(ctx, "kube-controller-manager")
		Expect(counted.course(ctx)).To(Equal([]int32{3, 7}))
	})

	It("gives way to somebody who scales to zero before its first step, although that leaves no owner", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		counted := countReplicas(ctx)
		met := addGate(ctx).once(applyOf("deployments", v1alpha1.FieldManagerHandover), func() bool {
			scale(ctx, "kube-controller-manager", 0)
			return true
		})
		write(ctx, unscaledSpec)
		eventuallySynced(ctx)
		Expect(met.Load()).To(BeTrue())
		eventuallyOwned(ctx)
		Expect(counted.course(ctx)).To(Equal([]int32{3, 0}))
		Expect(loggedErrors()).To(Or(BeEmpty(), HaveEach(Or(ContainSubstring("the object has been modified"), ContainSubstring("Apply failed with 1 conflict")))))
	})

	It("gives way to somebody who scales before its first step", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		counted := countReplicas(ctx)
		met := addGate(ctx).once(applyOf("deployments", v1alpha1.FieldManagerHandover), func() bool {
			scale(ctx, "kube-controller-manager", 7)
			return true
		})
		mark := now()
		write(ctx, unscaledSpec)
		eventuallySynced(ctx)
		Expect(met.Load()).To(BeTrue())
		eventuallyOwned(ctx, "kube-controller-manager")
		Expect(counted.course(ctx)).To(Equal([]int32{3, 7}))
		Expect(codes(writesSince(mark, cluster.OnResource("deployments")))).NotTo(ContainElement(500))
		Expect(loggedErrors()).To(Or(BeEmpty(), HaveEach(Or(ContainSubstring("the object has been modified"), ContainSubstring("Apply failed with 1 conflict")))))
	})
})
