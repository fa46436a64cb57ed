package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/test/cluster"
)

// wipe does what clients do that see no use in managedFields.
func wipe(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(env.MergeYAML(ctx, "wiper", object, "{metadata: {managedFields: [{}]}}")).To(Succeed())
}

// haveLost matches an Application that waits for a person because nobody can tell any more who owns a field of a child.
func haveLost(object string, conflicts ...v1alpha1.FieldConflict) types.GomegaMatcher {
	return And(
		haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonOwnershipLost, And(
			ContainSubstring("wiped metadata.managedFields of %s", object), ContainSubstring("kubectl edit"), ContainSubstring("%s", conflicts[0].Field))),
		haveCondition(v1alpha1.ConditionReady, "False", v1alpha1.ReasonOwnershipLost),
		haveCondition(v1alpha1.ConditionStalled, "True", v1alpha1.ReasonOwnershipLost),
		HaveField("Status.Conflicts", Equal(conflicts)),
	)
}

var _ = Describe("A child whose managedFields were wiped", func() {
	const spec = "{image: 'registry.example/web:%d', replicas: 2, port: 8080, expose: ClusterIP, env: [{name: A, value: a%[1]d}], conflictPolicy: %s}"
	lost := func(field string) v1alpha1.FieldConflict {
		return onDeployment(field, ownership.BeforeFirstApply, byUpdate)
	}

	DescribeTable("is owned again, unforced and by one apply, if it is as the spec wants it,",
		func(ctx SpecContext, during func(ctx context.Context, wipe func())) {
			given(ctx, fmt.Sprintf(spec, 1, "Abort"))
			rollOut(ctx)
			Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
			deploymentFields, serviceFields := ownedByOperator(the(ctx, deployment)), ownedByOperator(the(ctx, service))
			before := the(ctx, deployment)
			waitForQuiet()
			mark := now()

			during(ctx, func() {
				wipe(ctx, theDeployment())
				wipe(ctx, theService())
			})
			Eventually(func() []string { return ownedByOperator(the(ctx, deployment)) }).Should(ConsistOf(deploymentFields))
			Eventually(func() []string { return ownedByOperator(the(ctx, service)) }).Should(ConsistOf(serviceFields))
			waitForQuiet()
			Expect(appliesTo("deployments", mark)).To(Equal(1))
			Expect(appliesTo("services", mark)).To(Equal(1))
			Expect(the(ctx, deployment).Spec).To(Equal(before.Spec))
			Expect(the(ctx, application)).To(beSynced())
			expectNoFailures()
		},
		Entry("while the operator runs", func(_ context.Context, wipe func()) { wipe() }),
		Entry("while it is down", func(ctx context.Context, wipe func()) { whileOperatorIsDown(ctx, wipe) }),
	)

	It("FR-14: is reported as OwnershipLost when a change would seize a field, and the way out that this names works", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, 1, "Abort"))
		wipe(ctx, theDeployment())
		Eventually(func() []string { return ownedByOperator(the(ctx, deployment)) }).Should(ContainElement(imageField))

		By("changing the spec")
		write(ctx, fmt.Sprintf(spec, 2, "Abort"))
		Eventually(ctx, application).Should(haveLost("Deployment web", lost(appField(`env[name="A"].value`)), lost(imageField)))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:1"), "no silent seizure")
		Eventually(ctx, notes).WithArguments(v1alpha1.ReasonOwnershipLost).Should(ConsistOf(ContainSubstring(imageField)))

		By("waking and restarting the operator: it is no loop")
		waitForQuiet()
		mark := now()
		for _, value := range []string{"1", "2", "3"} {
			touch(ctx, value)
		}
		whileOperatorIsDown(ctx, func() {})
		expectNoWrites(mark)

		By("doing what the message says, one field after the other")
		editApp(ctx, "kubectl-edit", "image: 'registry.example/web:2'")
		Eventually(ctx, application).Should(haveLost("Deployment web", lost(appField(`env[name="A"].value`))))
		editApp(ctx, "kubectl-edit", "env: [{name: A, value: a2}]")
		eventuallySynced(ctx)
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElements(imageField, appField(`env[name="A"].value`)))
		expectNoFailures()
	})

	It("is reported as OwnershipLost if it changed together with that", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, 1, "Abort"))
		whileOperatorIsDown(ctx, func() {
			editApp(ctx, "kubectl-edit", "image: 'registry.example/web:theirs'")
			wipe(ctx, theDeployment())
		})
		Eventually(ctx, application).Should(Or(
			haveLost("Deployment web", lost(imageField)),
			haveConflicts(onDeployment(imageField, "before-first-apply", byUpdate)),
			beSynced()))
		waitForQuiet()
		Expect(the(ctx, application)).To(haveLost("Deployment web", lost(imageField)))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:theirs"))
	})

	It("is reported as OwnershipLost under Yield, too, which applies the rest", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, 1, "Yield"))
		wipe(ctx, theDeployment())
		Eventually(func() []string { return ownedByOperator(the(ctx, deployment)) }).Should(ContainElement(imageField))
		write(ctx, "{image: 'registry.example/web:2', replicas: 2, port: 8080, expose: ClusterIP, env: [{name: A, value: a1}, {name: B, value: new}], conflictPolicy: Yield}")
		Eventually(ctx, application).Should(haveLost("Deployment web", lost(imageField)))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Env).To(ConsistOf(HaveField("Name", "A"), HaveField("Name", "B")))

		editApp(ctx, "kubectl-edit", "image: 'registry.example/web:2'")
		eventuallySynced(ctx)
	})

	It("is reported as OwnershipLost when it is a Service", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, 1, "Abort"))
		wipe(ctx, theService())
		Eventually(func() []string { return ownedByOperator(the(ctx, service)) }).Should(ContainElement(".spec.type"))
		write(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: NodePort, env: [{name: A, value: a1}]}")
		Eventually(ctx, application).Should(haveLost("Service web", onService(".spec.type", ownership.BeforeFirstApply, byUpdate)))
		edit(ctx, "kubectl-edit", theService(), "{spec: {type: NodePort}}")
		eventuallySynced(ctx)
	})

	It("tells that a removed field stays, instead of being plainly Synced", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, 1, "Abort"))
		wipe(ctx, theDeployment())
		Eventually(func() []string { return ownedByOperator(the(ctx, deployment)) }).Should(ContainElement(imageField))
		write(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")
		Eventually(ctx, application).Should(HaveField("Status.ObservedGeneration", BeEquivalentTo(2)))
		waitForQuiet()
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Env).To(HaveLen(1), "nobody can tell whose it is")
		Expect(the(ctx, application)).To(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced, ContainSubstring(`env[name="A"]`)))
	})

	It("is wiped again and again without a loop", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, 1, "Abort"))
		waitForQuiet()
		mark := now()
		for range 5 {
			wipe(ctx, theDeployment())
			Eventually(func() []string { return ownedByOperator(the(ctx, deployment)) }).Should(ContainElement(imageField))
		}
		waitForQuiet()
		Expect(appliesTo("deployments", mark)).To(BeNumerically("<=", 6))
		Expect(writesSince(mark, cluster.OnResource("services"))).To(BeEmpty())
		Expect(the(ctx, application)).To(beSynced())
	})
})

var _ = Describe("A child of more managers than the API server keeps apart", func() {
	It("FR-14: is contested by ancient-changes, and the way out works", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		editApp(ctx, "manager-0", "image: 'registry.example/web:theirs'")
		for i := range 12 {
			edit(ctx, fmt.Sprintf("manager-%d", i+1), theDeployment(), fmt.Sprintf(`{metadata: {annotations: {note-%d: a}}}`, i))
		}
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, ownership.AncientChanges, byUpdate)))
		editApp(ctx, "kubectl-edit", "image: 'registry.example/web:1'")
		eventuallySynced(ctx)
	})
})
