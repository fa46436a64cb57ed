package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

var _ = Describe("A conflict can be read", func() {
	const otherImage = `{spec: {template: {spec: {containers: [{name: app, image: "registry.example/web:theirs"}]}}}}`

	// resolves follows the advice of the message: the spec takes the live value.
	resolves := func(ctx SpecContext) {
		GinkgoHelper()
		By("setting the spec to the live value, as the message says")
		given(ctx, "{image: registry.example/web:theirs}")

		By("changing it further on: now the former owner stands in the way, until it releases the field")
		write(ctx, "{image: registry.example/web:3}")
		Eventually(ctx, application).Should(HaveField("Status.Conflicts", HaveLen(1)))
	}

	DescribeTable("FR-09: however oddly its manager is called:",
		func(ctx SpecContext, manager string) {
			given(ctx, "{image: registry.example/web:1}")
			edit(ctx, manager, theDeployment(), otherImage)
			Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, manager, byUpdate)))
			Expect(the(ctx, application).Status.Message).To(ContainSubstring("%q (Update)", manager))
		},
		Entry("with quotes", `ops "night" team`),
		Entry("with a comma and a colon", "a, b: c"),
		Entry("with what looks like the message", `x" using apps/v1: .spec.replicas`),
		Entry("with a backslash and braces", `back\slash {{.}} %s`),
		Entry("in other scripts", "Ünïcode-менеджер-管理"),
		Entry("at full length", strings.Repeat("m", 128)),
		Entry("like the operator", v1alpha1.FieldManager),
		Entry("like the operator's status manager", v1alpha1.FieldManagerStatus),
	)

	It("FR-09: however oddly its field is called", func(ctx SpecContext) {
		given(ctx, `{image: registry.example/web:1, env: [{name: A.B, value: ours}, {name: 'C["x"], D', value: ours}]}`)
		edit(ctx, "ops", theDeployment(), `
metadata: {labels: {app.kubernetes.io/name: theirs}}
spec: {template: {spec: {containers: [{name: app, env: [{name: A.B, value: theirs}, {name: 'C["x"], D', value: theirs}]}]}}}`)
		Eventually(ctx, application).Should(haveConflicts(
			onDeployment(".metadata.labels.app.kubernetes.io/name", "ops", byUpdate),
			onDeployment(`.spec.template.spec.containers[name="app"].env[name="A.B"].value`, "ops", byUpdate),
			onDeployment(`.spec.template.spec.containers[name="app"].env[name="C[\"x\"], D"].value`, "ops", byUpdate),
		))
	})

	It("FR-14: not when somebody re-created the child by POST under the operator's name: that is folded into its own claims", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		child := the(ctx, deployment)

		whileOperatorIsDown(ctx, func() {
			Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
			copied := theDeployment()
			copied.Labels, copied.OwnerReferences, copied.Spec = child.Labels, child.OwnerReferences, child.Spec
			copied.Spec.Template.Spec.Containers[0].Image = "registry.example/web:theirs"
			Expect(env.Client.Create(ctx, copied, client.FieldOwner(v1alpha1.FieldManager))).To(Succeed())
		})
		Eventually(ctx, deployment).Should(HaveField("Spec.Template.Spec.Containers", ConsistOf(HaveField("Image", "registry.example/web:1"))))
		eventuallySynced(ctx)
	})

	It("when somebody wiped managedFields", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:theirs}")
		Expect(env.MergeYAML(ctx, "wiper", theDeployment(), "{metadata: {managedFields: [{}]}}")).To(Succeed())

		By("seeing the operator claim its fields again, beside a claim from before")
		Eventually(func() []string { return ownedByOperator(the(ctx, deployment)) }).Should(ContainElement(imageField))
		eventuallySynced(ctx)

		By("changing the spec")
		write(ctx, "{image: registry.example/web:2}")
		Eventually(ctx, application).Should(And(
			haveCondition(v1alpha1.ConditionSynced, metav1.ConditionFalse, v1alpha1.ReasonOwnershipLost, ContainSubstring("write the wanted value to the live object")),
			haveCondition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOwnershipLost),
			HaveField("Status.Conflicts", ConsistOf(onDeployment(imageField, "before-first-apply", byUpdate))),
		))

		By("writing the wanted value to the live object, as the message says")
		edit(ctx, "kubectl-edit", theDeployment(), "{spec: {template: {spec: {containers: [{name: app, image: registry.example/web:2}]}}}}")
		eventuallySynced(ctx)
	})

	It("when the API server has folded many managers into one", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		edit(ctx, "manager-0", theDeployment(), otherImage)
		for i := range 12 {
			edit(ctx, fmt.Sprintf("manager-%d", i+1), theDeployment(), fmt.Sprintf(`{metadata: {annotations: {note-%d: a}}}`, i))
		}
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "ancient-changes", byUpdate)))
		resolves(ctx)
	})
})
