package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// forget takes a manager out of the record of a child, and changes nothing else.
func forget(ctx SpecContext, manager string, child client.Object) {
	GinkgoHelper()
	Expect(env.Client.Get(ctx, key(), child)).To(Succeed())
	var others []metav1.ManagedFieldsEntry
	for _, entry := range child.GetManagedFields() {
		if entry.Manager != manager {
			others = append(others, entry)
		}
	}
	child.SetManagedFields(others)
	Expect(env.Client.Update(ctx, child, client.FieldOwner("janitor"))).To(Succeed())
}

// exclusion is a change by somebody else of what the operator owns into something that excludes what the spec wants.
type exclusion struct {
	// spec is the rest of the Application's spec.
	spec string
	// change makes it, undo takes it back.
	change, undo func(ctx SpecContext)
	// conflict is what is named, against is the field that it excludes.
	conflict v1alpha1.FieldConflict
	against  string
}

func byEditOfApp(fields string) func(SpecContext) {
	return func(ctx SpecContext) { editApp(ctx, "kubectl-edit", fields) }
}

func byEditOfService(patch string) func(SpecContext) {
	return func(ctx SpecContext) { edit(ctx, "kubectl-edit", theService(), "{spec: "+patch+"}") }
}

// byForgetting lets go of the claim, and of nothing else.
func byForgetting(child func() client.Object) func(SpecContext) {
	return func(ctx SpecContext) { forget(ctx, "kubectl-edit", child()) }
}

var _ = Describe("A change by somebody else that excludes what the spec wants", func() {
	DescribeTable("is a conflict like any other: named beforehand, held back under Abort, left to them under Yield, and taken back:",
		func(ctx SpecContext, e exclusion) {
			e.conflict.Name = web
			spec := func(policy, more string) string {
				return "{image: registry.example/web:1, conflictPolicy: " + policy + ", " + e.spec + more + "}"
			}
			given(ctx, spec("Abort", ""))
			before := e.read(ctx)
			mark := now()
			e.change(ctx)

			By("holding the child back")
			Eventually(ctx, application).Should(haveConflicts(e.conflict))
			named := And(ContainSubstring("%s is owned by %q (%s), and excludes what the spec wants of %s",
				e.conflict.Field, e.conflict.Manager, e.conflict.Operation, e.against), ContainSubstring("set the spec to the live value"))
			Expect(the(ctx, application)).To(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonFieldConflict, named))

			By("yielding: the rest goes in")
			write(ctx, spec("Yield", ", imagePullPolicy: Always, args: [more]"))
			Eventually(ctx, application).Should(haveYielded(e.conflict))
			Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Args).To(Equal([]string{"more"}))
			waitForQuiet()
			atRest := now()
			touch(ctx, "again")
			expectNoWrites(atRest)

			By("letting go")
			e.undo(ctx)
			eventuallySynced(ctx)
			given(ctx, spec("Abort", ""))
			after := e.read(ctx)
			Expect(ownedByOperator(after)).To(Equal(ownedByOperator(before)))
			Expect(after).To(haveSpecOf(before))
			Expect(writesSince(mark, cluster.WithCode(400, 403, 404, 409, 422, 500))).To(BeEmpty(), "what must fail is not sent")
		},
		Entry("a variable's value becomes a source", exclusion{
			spec:     "env: [{name: A, value: ours}, {name: B, value: b}]",
			change:   byEditOfApp(`env: [{name: A, value: null, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]`),
			undo:     byEditOfApp(`env: [{name: A, value: ours, valueFrom: null}]`),
			conflict: onDeployment(appField(`env[name="A"].valueFrom.fieldRef`), "kubectl-edit", byUpdate),
			against:  appField(`env[name="A"].value`),
		}),
		Entry("a variable's source becomes a value, whose writer is forgotten", exclusion{
			spec:     "env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: a}}}]",
			change:   byEditOfApp(`env: [{name: A, value: theirs, valueFrom: null}]`),
			undo:     byForgetting(func() client.Object { return theDeployment() }),
			conflict: onDeployment(appField(`env[name="A"].value`), "kubectl-edit", byUpdate),
			against:  appField(`env[name="A"].valueFrom`),
		}),
		Entry("a probe asks by TCP instead of HTTP", exclusion{
			spec:     "port: 8080, readinessProbe: {httpGet: {path: /, port: app}}",
			change:   byEditOfApp(`readinessProbe: {httpGet: null, tcpSocket: {port: 81}}`),
			undo:     byForgetting(func() client.Object { return theDeployment() }),
			conflict: onDeployment(appField("readinessProbe.tcpSocket.port"), "kubectl-edit", byUpdate),
			against:  appField("readinessProbe.httpGet"),
		}),
		Entry("the container's port gets another number", exclusion{
			spec:     "port: 8080",
			change:   byEditOfApp(`ports: [{$patch: delete, containerPort: 8080}, {containerPort: 9090, name: app}]`),
			undo:     byForgetting(func() client.Object { return theDeployment() }),
			conflict: onDeployment(appField(`ports[containerPort=9090,protocol="TCP"].name`), "kubectl-edit", byUpdate),
			against:  appField(`ports[containerPort=8080,protocol="TCP"]`),
		}),
		Entry("the Service's port gets another number", exclusion{
			spec:     "port: 8080, expose: NodePort",
			change:   byEditOfService(`{ports: [{$patch: delete, port: 8080}, {port: 9090, name: app}]}`),
			undo:     byForgetting(func() client.Object { return theService() }),
			conflict: onService(`.spec.ports[port=9090,protocol="TCP"].name`, "kubectl-edit", byUpdate),
			against:  `.spec.ports[port=8080,protocol="TCP"]`,
		}),
	)

	It("may be a port without a name in a Service that is adopted", func(ctx SpecContext) {
		applyService(ctx, "somebody", consent(web)+"\nspec: {ports: [{port: 80}]}")
		write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP}")
		nameless := onService(`.spec.ports[port=80,protocol="TCP"]`, "somebody", byApply)
		Eventually(ctx, application).Should(haveConflicts(nameless))
		write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, conflictPolicy: Yield}")
		Eventually(ctx, application).Should(haveYielded(nameless))
		Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))

		By("naming it")
		applyService(ctx, "somebody", consent(web)+"\nspec: {ports: [{port: 80, name: http}]}")
		eventuallySynced(ctx)
		Expect(the(ctx, service).Spec.Ports).To(ConsistOf(HaveField("Name", "http"), HaveField("Name", "app")))
		expectNoFailures()
	})

	It("may be what only a load balancer has", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: LoadBalancer}")
		edit(ctx, "network-team", theService(), "{spec: {loadBalancerSourceRanges: [10.0.0.0/8]}}")
		ranges := onService(".spec.loadBalancerSourceRanges", "network-team", byUpdate)
		write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP}")
		Eventually(ctx, application).Should(haveConflicts(ranges))
		write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, conflictPolicy: Yield}")
		Eventually(ctx, application).Should(haveYielded(ranges))
		Expect(the(ctx, service).Spec.Type).To(BeEquivalentTo("LoadBalancer"), "it stays valid")

		By("forgetting who wrote it")
		forget(ctx, "network-team", theService())
		eventuallySynced(ctx)
		Expect(the(ctx, service).Spec).To(And(HaveField("Type", BeEquivalentTo("ClusterIP")), HaveField("LoadBalancerSourceRanges", BeEmpty())))
		expectNoFailures()
	})

	DescribeTable("may be a list key that is there twice:",
		func(ctx SpecContext, spec, entry, field string) {
			given(ctx, "{image: registry.example/web:1, conflictPolicy: Yield, "+spec+"}")
			kubectl(ctx, "patch", "deployment/web", "--type=json", "--field-manager=kubectl-edit", "--patch", entry)
			Eventually(ctx, application).Should(haveYielded(onDeployment(appField(field), "kubectl-edit", byUpdate)))
			expectNoFailures()
		},
		Entry("a port", "port: 8080", `[{"op": "add", "path": "/spec/template/spec/containers/0/ports/-", "value": {"containerPort": 8080, "name": "again"}}]`,
			`ports[containerPort=8080,protocol="TCP"]`),
		Entry("a variable", "env: [{name: A, value: a}]", `[{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "A", "value": "again"}}]`,
			`env[name="A"]`),
	)
})

// read reads the child that the change is about.
func (e *exclusion) read(ctx SpecContext) client.Object {
	GinkgoHelper()
	var child client.Object = theDeployment()
	if e.conflict.Kind == "Service" {
		child = theService()
	}
	Expect(env.Client.Get(ctx, key(), child)).To(Succeed())
	return child
}

// haveSpecOf matches an object of the same spec.
func haveSpecOf(other client.Object) types.GomegaMatcher {
	switch other := other.(type) {
	case *appsv1.Deployment:
		return HaveField("Spec", Equal(other.Spec))
	case *corev1.Service:
		return HaveField("Spec", Equal(other.Spec))
	default:
		panic("no child")
	}
}
