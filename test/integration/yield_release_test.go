package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("A field that conflictPolicy Yield gave up", func() {
	const spec = `{conflictPolicy: Yield, image: "registry.example/web:1", replicas: 2, env: [{name: A, value: ours}, {name: B, value: ours}]}`
	var field string

	BeforeEach(func(ctx SpecContext) {
		field = appField(`env[name="A"].value`)
		given(ctx, spec)
		applyDeployment(ctx, "gitops", `
metadata: {name: web, annotations: {gitops: "1"}}
spec: {template: {spec: {containers: [{name: app, env: [{name: A, value: theirs}]}]}}}`, client.ForceOwnership)
		Eventually(ctx, application).Should(haveYielded(onDeployment(field, "gitops", byApply)))
		Expect(ownedByOperator(the(ctx, deployment))).NotTo(ContainElement(field))
	})

	DescribeTable("is taken back, unforced,",
		func(ctx SpecContext, release func(ctx SpecContext)) {
			release(ctx)
			eventuallySynced(ctx)
			child := the(ctx, deployment)
			Expect(child.Spec.Template.Spec.Containers[0].Env).To(ConsistOf(HaveField("Value", "ours"), HaveField("Value", "ours")))
			Expect(ownedByOperator(child)).To(ContainElement(field))
			expectNoFailures()
		},
		Entry("when its owner leaves it out of an apply", func(ctx SpecContext) {
			applyDeployment(ctx, "gitops", `  annotations: {gitops: "2"}`)
			Expect(the(ctx, deployment).Annotations).To(HaveKeyWithValue("gitops", "2"))
		}),
		Entry("when its owner sets the wanted value", func(ctx SpecContext) {
			applyDeployment(ctx, "gitops", `spec: {template: {spec: {containers: [{name: app, env: [{name: A, value: ours}]}]}}}`)
		}),
		Entry("when its owner gives up its claim, and nothing else", func(ctx SpecContext) {
			child := the(ctx, deployment)
			var others []metav1.ManagedFieldsEntry
			for _, entry := range child.ManagedFields {
				if entry.Manager != "gitops" {
					others = append(others, entry)
				}
			}
			child.ManagedFields = others
			Expect(env.Client.Update(ctx, child, client.FieldOwner("janitor"))).To(Succeed())
		}),
		Entry("when the child is deleted", func(ctx SpecContext) {
			Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
		}),
		Entry("although its owner acts while the operator is down", func(ctx SpecContext) {
			whileOperatorIsDown(ctx, func() { applyDeployment(ctx, "gitops", "") })
		}),
	)

	It("is no longer reported once the spec does not want it, and stays with its owner", func(ctx SpecContext) {
		given(ctx, `{conflictPolicy: Yield, image: "registry.example/web:1", replicas: 2, env: [{name: B, value: ours}]}`)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Env).To(ConsistOf(HaveField("Value", "theirs"), HaveField("Value", "ours")))
	})

	It("is shared once the spec takes its owner's value", func(ctx SpecContext) {
		given(ctx, `{conflictPolicy: Yield, image: "registry.example/web:1", replicas: 2, env: [{name: A, value: theirs}, {name: B, value: ours}]}`)
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElement(field))
		Expect(owned(the(ctx, deployment), "gitops", byApply, "")).To(ContainElement(field))
	})

	It("is joined by more, and taken back one by one", func(ctx SpecContext) {
		scale(ctx, "kubectl", 5)
		editApp(ctx, "ops", "env: [{name: B, value: theirs}]")
		Eventually(ctx, application).Should(haveYielded(
			onDeployment(replicasField, "kubectl", byUpdate, "scale"),
			onDeployment(field, "gitops", byApply),
			onDeployment(appField(`env[name="B"].value`), "ops", byUpdate),
		))
		applyDeployment(ctx, "gitops", "")
		Eventually(ctx, application).Should(haveYielded(
			onDeployment(replicasField, "kubectl", byUpdate, "scale"),
			onDeployment(appField(`env[name="B"].value`), "ops", byUpdate),
		))
		editApp(ctx, "ops", "env: [{name: B, value: ours}]")
		Eventually(ctx, application).Should(haveYielded(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		scale(ctx, "kubectl", 2)
		eventuallySynced(ctx)
		expectNoFailures()
	})
})

var _ = Describe("The conflict policy", func() {
	spec := func(policy string, version int) string {
		return fmt.Sprintf("{conflictPolicy: %s, image: 'registry.example/web:%d', replicas: 2}", policy, version)
	}
	contested := func() v1alpha1.FieldConflict { return onDeployment(replicasField, "kubectl", byUpdate, "scale") }
	haveImage := func(version int) types.GomegaMatcher {
		return HaveField("Spec.Template.Spec.Containers", ConsistOf(HaveField("Image", fmt.Sprintf("registry.example/web:%d", version))))
	}

	It("can be switched back and forth while a field is contested", func(ctx SpecContext) {
		given(ctx, spec("Abort", 1))
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveConflicts(contested()))
		write(ctx, spec("Abort", 2))
		Eventually(ctx, application).Should(haveConflicts(contested()))

		By("yielding: what was held up goes in")
		write(ctx, spec("Yield", 2))
		Eventually(ctx, application).Should(haveYielded(contested()))
		Expect(the(ctx, deployment)).To(haveImage(2))

		By("aborting again: the child stays as it is")
		before := snapshot(the(ctx, deployment))
		write(ctx, spec("Abort", 2))
		Eventually(ctx, application).Should(haveConflicts(contested()))
		write(ctx, spec("Abort", 3))
		Eventually(ctx, application).Should(haveConflicts(contested()))
		Expect(snapshot(the(ctx, deployment))).To(Equal(before))

		By("yielding, until the field is released")
		write(ctx, spec("Yield", 3))
		Eventually(ctx, application).Should(haveYielded(contested()))
		scale(ctx, "kubectl", 2)
		eventuallySynced(ctx)
		given(ctx, spec("Abort", 4))
		Expect(the(ctx, deployment)).To(haveImage(4))
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElement(replicasField))
		expectNoFailures()
	})

	It("is Abort unless the spec says otherwise, and takes nothing but the two", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveConflicts(contested()))
		Expect(env.ApplyYAML(ctx, author, namespace, manifest(spec("Force", 1)))).To(MatchError(And(
			ContainSubstring("spec.conflictPolicy"), ContainSubstring(`"Abort", "Yield"`))))
	})

	DescribeTable("Yield folds in what somebody else takes in a race, and applies once more:",
		func(ctx SpecContext, take func(ctx SpecContext), contested v1alpha1.FieldConflict) {
			given(ctx, spec("Yield", 1))
			met := addGate(ctx).once(applyOf("deployments", v1alpha1.FieldManager), func() bool {
				take(ctx)
				return true
			})
			mark := now()
			write(ctx, "{conflictPolicy: Yield, image: 'registry.example/web:2', replicas: 2, imagePullPolicy: Always}")
			Eventually(ctx, application).Should(haveYielded(contested))
			Expect(met.Load()).To(BeTrue(), "there was no race")
			Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].ImagePullPolicy).To(BeEquivalentTo("Always"))

			By("reading the requests: the refused apply, and the next one right after it, in the same reconcile")
			Expect(codes(writesSince(mark, cluster.OnResource("deployments")))).To(Equal([]int{409, 200}))
			for _, write := range writesSince(mark, cluster.OnResource("applications/status")) {
				Expect(write.RequestBody()).NotTo(ContainSubstring(v1alpha1.ReasonFieldConflict))
			}
			Expect(loggedErrors()).To(BeEmpty())
		},
		Entry("a value", func(ctx SpecContext) { applyDeployment(ctx, "gitops", otherImage, client.ForceOwnership) }, onDeployment(imageField, "gitops", byApply)),
		Entry("the replicas", func(ctx SpecContext) { scale(ctx, "kubectl", 5) }, onDeployment(replicasField, "kubectl", byUpdate, "scale")),
	)

	It("Yield folds in a second race by the event that it is", func(ctx SpecContext) {
		given(ctx, spec("Yield", 1))
		gate, round := addGate(ctx), int32(0)
		gate.once(applyOf("deployments", v1alpha1.FieldManager), func() bool {
			scale(ctx, "kubectl", 5)
			gate.once(applyOf("deployments", v1alpha1.FieldManager), func() bool {
				round++
				applyDeployment(ctx, "gitops", otherImage, client.ForceOwnership)
				return true
			})
			return true
		})
		write(ctx, spec("Yield", 2))
		Eventually(ctx, application).Should(haveYielded(contested(), onDeployment(imageField, "gitops", byApply)))
		Expect(round).To(BeEquivalentTo(1))
	})

	It("Abort reports what somebody else takes in a race, and tries no more", func(ctx SpecContext) {
		given(ctx, spec("Abort", 1))
		addGate(ctx).once(applyOf("deployments", v1alpha1.FieldManager), func() bool {
			scale(ctx, "kubectl", 5)
			return true
		})
		mark := now()
		write(ctx, spec("Abort", 2))
		Eventually(ctx, application).Should(haveConflicts(contested()))
		waitForQuiet()
		Expect(codes(writesSince(mark, cluster.OnResource("deployments")))).To(Equal([]int{409}))
		Expect(loggedErrors()).To(BeEmpty())
	})
})

// codes returns the answers to requests, in their order.
func codes(requests cluster.Events) []int {
	var codes []int
	for _, request := range requests {
		codes = append(codes, request.Code())
	}
	return codes
}

// loggedErrors returns the lines of the operator's log that tell of an error with the Application of the story.
func loggedErrors() []string {
	GinkgoHelper()
	log, err := env.OperatorLog()
	Expect(err).NotTo(HaveOccurred())
	var lines []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, "\tERROR\t") && strings.Contains(line, namespace) {
			lines = append(lines, line)
		}
	}
	return lines
}
