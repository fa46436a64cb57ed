package integration

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// appField is the path of a field of the Application's container.
func appField(path string) string { return `.spec.template.spec.containers[name="app"].` + path }

// editApp changes fields of the Application's container as kubectl edit does.
func editApp(ctx SpecContext, manager, fields string) {
	GinkgoHelper()
	edit(ctx, manager, theDeployment(), "{spec: {template: {spec: {containers: [{name: app, "+fields+"}]}}}}")
}

// haveYielded matches an Application that is as its newest generation wants it but for exactly these fields.
func haveYielded(conflicts ...v1alpha1.FieldConflict) types.GomegaMatcher {
	var fields []types.GomegaMatcher
	for _, c := range conflicts {
		fields = append(fields, And(ContainSubstring("%s", c.Field), ContainSubstring("%q", c.Manager)))
	}
	return And(
		haveCondition(v1alpha1.ConditionSynced, metav1.ConditionTrue, v1alpha1.ReasonFieldsYielded, fields...),
		HaveField("Status.Conflicts", Equal(conflicts)),
		HaveField("Status.Conditions", Not(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)))),
	)
}

// expectNoFailures claims that the operator sent no request that failed: what must fail is known beforehand.
func expectNoFailures() {
	GinkgoHelper()
	Expect(writesSince(begin, cluster.WithCode(400, 403, 404, 409, 422, 500))).To(BeEmpty())
}

// without returns the paths that are none of the given ones.
func without(paths []string, these ...string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return slices.Contains(these, path) })
}

var _ = Describe("conflictPolicy Yield", func() {
	const spec = `{conflictPolicy: Yield, image: "registry.example/web:%d", replicas: 2, port: 8080, expose: ClusterIP, command: [serve],
		env: [{name: A, value: "ours-%[1]d"}, {name: B, value: "ours-%[1]d"}]}`

	It("gives up exactly the contested fields, and applies all others", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, 1))
		deploymentFields, serviceFields := ownedByOperator(the(ctx, deployment)), ownedByOperator(the(ctx, service))

		By("letting others take a scalar, an item's value, a whole list, and a field of the Service")
		applyDeployment(ctx, "gitops", otherImage, client.ForceOwnership)
		editApp(ctx, "kubectl-edit", "command: [theirs], env: [{name: A, value: theirs}]")
		scale(ctx, "kubectl", 5)
		edit(ctx, "kubectl-patch", theService(), "{spec: {ports: [{port: 8080, targetPort: 9999}]}}")
		yielded := haveYielded(
			onDeployment(replicasField, "kubectl", byUpdate, "scale"),
			onDeployment(appField("command"), "kubectl-edit", byUpdate),
			onDeployment(appField(`env[name="A"].value`), "kubectl-edit", byUpdate),
			onDeployment(imageField, "gitops", byApply),
			onService(`.spec.ports[port=8080,protocol="TCP"].targetPort`, "kubectl-patch", byUpdate),
		)
		Eventually(ctx, application).Should(yielded)

		By("changing everything in the spec")
		write(ctx, fmt.Sprintf(spec, 2))
		Eventually(ctx, application).Should(yielded)
		child := the(ctx, deployment)
		Expect(child.Spec.Replicas).To(HaveValue(BeEquivalentTo(5)))
		Expect(child.Spec.Template.Spec.Containers).To(ConsistOf(And(
			HaveField("Image", "registry.example/web:theirs"),
			HaveField("Command", Equal([]string{"theirs"})),
			HaveField("Env", ConsistOf(HaveField("Value", "theirs"), HaveField("Value", "ours-2"))),
		)))

		By("reading who owns what: everything but that, and the items keep their keys")
		Expect(ownedByOperator(child)).To(ConsistOf(without(deploymentFields,
			replicasField, appField("command"), appField(`env[name="A"].value`), imageField)))
		Expect(ownedByOperator(child)).To(ContainElement(appField(`env[name="A"].name`)))
		Expect(ownedByOperator(the(ctx, service))).To(ConsistOf(without(serviceFields, `.spec.ports[port=8080,protocol="TCP"].targetPort`)))
		expectNoFailures()
	})

	It("leaves what has nothing but its key valid: a container, an env entry, a port", func(ctx SpecContext) {
		const minimal = `{conflictPolicy: Yield, image: "registry.example/web:1", port: 8080, env: [{name: A, value: ours}], expose: NodePort}`
		given(ctx, minimal)
		port := appField(`ports[containerPort=8080,protocol="TCP"]`)
		servicePort := `.spec.ports[port=8080,protocol="TCP"]`
		editApp(ctx, "ops", `image: "registry.example/web:theirs", env: [{name: A, value: theirs}], ports: [{containerPort: 8080, name: theirs}]`)
		edit(ctx, "ops", theService(), "{spec: {ports: [{port: 8080, name: theirs, targetPort: theirs}]}}")
		Eventually(ctx, application).Should(haveYielded(
			onDeployment(appField(`env[name="A"].value`), "ops", byUpdate),
			onDeployment(imageField, "ops", byUpdate),
			onDeployment(port+".name", "ops", byUpdate),
			onService(servicePort+".name", "ops", byUpdate),
			onService(servicePort+".targetPort", "ops", byUpdate),
		))

		By("making the operator apply that: a new field beside them")
		write(ctx, `{conflictPolicy: Yield, image: "registry.example/web:1", port: 8080, env: [{name: A, value: ours}], expose: ClusterIP, imagePullPolicy: Always}`)
		Eventually(ctx, deployment).Should(HaveField("Spec.Template.Spec.Containers", ConsistOf(HaveField("ImagePullPolicy", BeEquivalentTo("Always")))))
		Eventually(ctx, service).Should(HaveField("Spec.Type", BeEquivalentTo("ClusterIP")))
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElements(
			appField("name"), appField("imagePullPolicy"), appField(`env[name="A"].name`), port+".containerPort"))
		Expect(ownedByOperator(the(ctx, service))).To(ContainElement(servicePort + ".port"))
		expectNoFailures()
	})

	It("lets an Application be Ready, and says on the way what it lacks", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, 1))
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveYielded(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
		Expect(the(ctx, application)).To(haveYielded(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		Expect(the(ctx, application).Status.Phase).To(Equal(v1alpha1.PhaseRunning))
		Expect(kubectl(ctx, "get", "appl", web)).To(ContainSubstring(replicasField))
		Eventually(ctx, notes).WithArguments(v1alpha1.ReasonFieldsYielded).Should(ConsistOf(ContainSubstring(replicasField)))

		By("waking the operator, and restarting it: there is nothing to write")
		waitForQuiet()
		mark := now()
		for _, value := range []string{"1", "2", "3"} {
			touch(ctx, value)
		}
		whileOperatorIsDown(ctx, func() {})
		expectNoWrites(mark)
	})

	DescribeTable("does not drop a field that was the operator's own and was seized",
		func(ctx SpecContext, seize func(ctx SpecContext), conflict v1alpha1.FieldConflict) {
			given(ctx, fmt.Sprintf(spec, 1))
			whileOperatorIsDown(ctx, func() { seize(ctx) })
			conflict.Name = web
			Eventually(ctx, application).Should(haveYielded(conflict))
			mark := now()
			touch(ctx, "again")
			expectNoWrites(mark)
			Expect(the(ctx, application)).To(haveYielded(conflict))
		},
		Entry("by force", func(ctx SpecContext) { applyDeployment(ctx, "gitops", otherImage, client.ForceOwnership) }, onDeployment(imageField, "gitops", byApply)),
		Entry("by an Update", func(ctx SpecContext) { editApp(ctx, "kubectl-edit", `env: [{name: B, value: theirs}]`) },
			onDeployment(appField(`env[name="B"].value`), "kubectl-edit", byUpdate)),
		Entry("through a subresource", func(ctx SpecContext) { scale(ctx, "autoscaler", 6) }, onDeployment(replicasField, "autoscaler", byUpdate, "scale")),
		Entry("in a Service", func(ctx SpecContext) { edit(ctx, "balancer", theService(), "{spec: {type: LoadBalancer}}") },
			onService(".spec.type", "balancer", byUpdate)),
	)
})
