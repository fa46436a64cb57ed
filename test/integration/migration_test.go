package integration

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// olderOperator is one that wrote the children by POST and PUT.
type olderOperator struct {
	// manager is its field manager.
	manager string
	// owner is the Application, for a child that it controls.
	owner *v1alpha1.Application
}

// makes creates both children as an older operator did, and changes each once.
func (o *olderOperator) makes(ctx context.Context) {
	GinkgoHelper()
	reference := ""
	if o.owner != nil {
		reference = fmt.Sprintf("  ownerReferences: [{apiVersion: %s, kind: %s, name: %s, uid: %s, controller: true, blockOwnerDeletion: true}]\n",
			v1alpha1.SchemeGroupVersion, v1alpha1.Kind, o.owner.Name, o.owner.UID)
	}
	Expect(env.CreateYAML(ctx, o.manager, namespace, deploymentManifest(reference+`
spec:
  replicas: 3
  selector: {matchLabels: {app: web, owner: application-operator}}
  template:
    metadata: {labels: {app: web, owner: application-operator}}
    spec:
      containers:
      - {name: app, image: "registry.example/web:1", env: [{name: KEEP, value: a}, {name: OLD, value: b}], ports: [{containerPort: 8080}, {containerPort: 9090}]}`))).To(Succeed())
	Expect(env.CreateYAML(ctx, o.manager, namespace, childManifest("v1", "Service", reference+`
spec:
  type: NodePort
  selector: {app: web, owner: application-operator}
  ports: [{name: app, port: 8080, targetPort: 8080}, {name: old, port: 9090}]`))).To(Succeed())

	child, service := the(ctx, deployment), the(ctx, service)
	child.Spec.Template.Spec.Containers[0].Env = append(child.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: "OLDER", Value: "c"})
	Expect(env.Client.Update(ctx, child, client.FieldOwner(o.manager))).To(Succeed())
	service.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	Expect(env.Client.Update(ctx, service, client.FieldOwner(o.manager))).To(Succeed())
}

// isReplaced does something between the older operator and the next start of ours, with the given flags.
func (o *olderOperator) isReplaced(ctx context.Context, spec string, meanwhile func(), flags ...string) {
	GinkgoHelper()
	Expect(env.StopOperator()).To(Succeed())
	write(ctx, spec)
	o.owner = the(ctx, application)
	o.makes(ctx)
	meanwhile()
	DeferCleanup(func(ctx SpecContext) { Expect(env.RestartOperator(ctx, operatorFlags...)).To(Succeed()) })
	Expect(env.StartOperator(ctx, append(flags, operatorFlags...)...)).To(Succeed())
}

// recordPatches returns the patches of who owns what of a resource.
func recordPatches(resource string, mark cluster.Mark) cluster.Events {
	GinkgoHelper()
	return writesSince(mark, cluster.OnResource(resource), func(e cluster.Event) bool { return strings.HasPrefix(e.RequestBody(), "[") })
}

var _ = Describe("Children of an older operator", func() {
	const (
		sameSpec = `{image: registry.example/web:1, replicas: 3, port: 8080, expose: NodePort, env: [{name: KEEP, value: a}]}`
		nextSpec = `{image: registry.example/web:2, replicas: 3, port: 8080, expose: NodePort}`
	)

	It("become ours: what only the older one wanted goes, and nothing is in its own way", func(ctx SpecContext) {
		old := &olderOperator{manager: v1alpha1.FieldManager}
		var before *corev1.Service
		old.isReplaced(ctx, sameSpec, func() { before = the(ctx, service) })
		eventuallySynced(ctx)

		By("looking for what the spec does not want")
		child, service := the(ctx, deployment), the(ctx, service)
		container := child.Spec.Template.Spec.Containers[0]
		Expect(container.Env).To(ConsistOf(HaveField("Name", "KEEP")))
		Expect(container.Ports).To(ConsistOf(corev1.ContainerPort{Name: "app", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}))
		Expect(service.Spec.Ports).To(ConsistOf(HaveField("Port", BeEquivalentTo(8080))))
		Expect(service.Spec.SessionAffinity).To(Equal(corev1.ServiceAffinityNone), "the default")
		Expect(service.Spec.ClusterIP).To(Equal(before.Spec.ClusterIP))
		Expect(service.Spec.Ports[0].NodePort).To(Equal(before.Spec.Ports[0].NodePort))

		By("reading who owns what: as if the operator had made them itself")
		for _, object := range []client.Object{child, service} {
			Expect(object.GetManagedFields()).To(ConsistOf(And(HaveField("Manager", v1alpha1.FieldManager), HaveField("Operation", byApply))))
		}
		Expect(ownedByOperator(child)).To(ContainElements(imageField, replicasField))
		Expect(ownedByOperator(child)).NotTo(ContainElement(MatchRegexp("OLD|9090|strategy|progressDeadline")))
		Expect(ownedByOperator(service)).NotTo(ContainElement(MatchRegexp("9090|sessionAffinity|clusterIP")))

		By("counting: one patch of each record, with the lock, and one apply")
		for _, resource := range []string{"deployments", "services"} {
			patches := recordPatches(resource, begin)
			Expect(patches).To(HaveLen(1))
			Expect(patches[0].RequestBody()).To(ContainSubstring(`"/metadata/resourceVersion"`))
			Expect(appliesTo(resource, begin)).To(Equal(2))
		}

		By("changing and removing, and starting anew: the rest is as ever")
		given(ctx, nextSpec)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Env).To(BeEmpty())
		mark := now()
		whileOperatorIsDown(ctx, func() {})
		expectNoWrites(mark)
		expectNoFailures()
	})

	It("keep their count if the Application has none", func(ctx SpecContext) {
		old := &olderOperator{manager: v1alpha1.FieldManager}
		var counted *counter
		old.isReplaced(ctx, "{image: registry.example/web:1, port: 8080, expose: NodePort}", func() { counted = countReplicas(ctx) })
		eventuallySynced(ctx)
		eventuallyOwned(ctx, v1alpha1.FieldManagerHandover)
		Expect(counted.course(ctx)).To(Equal([]int32{3}))
	})

	It("of another name become ours if --legacy-field-managers has it, and only then", func(ctx SpecContext) {
		old := &olderOperator{manager: "Go-http-client"}
		old.isReplaced(ctx, nextSpec, func() {})
		Eventually(ctx, application).Should(HaveField("Status.Conflicts", ContainElement(onDeployment(imageField, "Go-http-client", byUpdate))))
		Expect(recordPatches("deployments", begin)).To(BeEmpty())

		By("naming it")
		Expect(env.RestartOperator(ctx, append(operatorFlags, "--legacy-field-managers=other, Go-http-client")...)).To(Succeed())
		eventuallySynced(ctx)
		child := the(ctx, deployment)
		Expect(child.Spec.Template.Spec.Containers[0]).To(And(HaveField("Image", "registry.example/web:2"), HaveField("Env", BeEmpty())))
		Expect(child.ManagedFields).NotTo(ContainElement(HaveField("Manager", "Go-http-client")))
		Expect(recordPatches("deployments", begin)).To(HaveLen(1))
	})

	It("keep what others own, and the records of subresources", func(ctx SpecContext) {
		old := &olderOperator{manager: v1alpha1.FieldManager}
		old.isReplaced(ctx, sameSpec, func() {
			edit(ctx, "kubectl-edit", theDeployment(), `{metadata: {annotations: {note: mine}}, spec: {template: {spec: {containers: [{name: app, env: [{name: MINE, value: mine}]}]}}}}`)
			scale(ctx, v1alpha1.FieldManager, 4)
			rollOut(ctx)
		})
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, v1alpha1.FieldManager, byUpdate, "scale")))
		scale(ctx, v1alpha1.FieldManager, 3)
		eventuallySynced(ctx)

		child := the(ctx, deployment)
		Expect(child.Annotations).To(HaveKeyWithValue("note", "mine"))
		Expect(child.Spec.Template.Spec.Containers[0].Env).To(ConsistOf(
			HaveField("Name", "KEEP"), corev1.EnvVar{Name: "MINE", Value: "mine"}))
		Expect(owned(child, v1alpha1.FieldManager, byUpdate, "scale")).To(ConsistOf(replicasField))
		Expect(owned(child, "kube-controller-manager", byUpdate, "status")).NotTo(BeEmpty())
	})

	It("are left alone if the Application does not control them", func(ctx SpecContext) {
		(&olderOperator{manager: v1alpha1.FieldManager}).makes(ctx)
		before := append(snapshot(the(ctx, deployment)), snapshot(the(ctx, service))...)
		write(ctx, sameSpec)
		Eventually(ctx, application).Should(beRefused("Deployment"))
		waitForQuiet()
		Expect(append(snapshot(the(ctx, deployment)), snapshot(the(ctx, service))...)).To(Equal(before))
	})

	It("are left alone while the Application is paused", func(ctx SpecContext) {
		old := &olderOperator{manager: v1alpha1.FieldManager}
		old.isReplaced(ctx, "{image: registry.example/web:1, paused: true}", func() {})
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonPaused))
		waitForQuiet()
		Expect(recordPatches("deployments", begin)).To(BeEmpty())
		Expect(owned(the(ctx, deployment), v1alpha1.FieldManager, byUpdate, "")).NotTo(BeEmpty())
	})

	DescribeTable("become ours although the operator is killed on the way,",
		func(ctx SpecContext, resource string, writesBefore int) {
			old := &olderOperator{manager: v1alpha1.FieldManager}
			old.isReplaced(ctx, "{image: registry.example/web:1, paused: true}", func() {})
			Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonPaused))
			counted := countReplicas(ctx)

			crashAt(ctx, addGate(ctx), writesBefore+1, applyOf(resource, v1alpha1.FieldManager), func() {
				write(ctx, "{image: registry.example/web:2, port: 8080, expose: ClusterIP}")
			})
			eventuallySynced(ctx)
			child := the(ctx, deployment)
			Expect(child.Spec.Template.Spec.Containers[0]).To(And(HaveField("Image", "registry.example/web:2"), HaveField("Env", BeEmpty())))
			Expect(the(ctx, service).Spec.Ports).To(HaveLen(1))
			for _, object := range []client.Object{child, the(ctx, service)} {
				Expect(owned(object, v1alpha1.FieldManager, byUpdate, "")).To(BeEmpty())
			}
			Expect(counted.course(ctx)).To(Equal([]int32{3}))
			waitForQuiet()
			mark := now()
			touch(ctx, "again")
			expectNoWrites(mark)
		},
		Entry("before the Deployment's record", "deployments", 0),
		Entry("between the Deployment's record and its apply", "deployments", 1),
		Entry("before the Service's record", "services", 0),
		Entry("between the Service's record and its apply", "services", 1),
	)

	It("FR-14: may come at any time, for instance by a POST under the operator's name", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		app := the(ctx, application)
		whileOperatorIsDown(ctx, func() {
			Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
			(&olderOperator{manager: v1alpha1.FieldManager, owner: app}).makes(ctx)
		})
		Eventually(ctx, deployment).Should(HaveField("Spec.Template.Spec.Containers", ConsistOf(HaveField("Env", BeEmpty()))))
		given(ctx, "{image: registry.example/web:2}")
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))
		expectNoFailures()
	})

	It("become ours in spite of somebody who writes at the same moment", func(ctx SpecContext) {
		old := &olderOperator{manager: v1alpha1.FieldManager}
		old.isReplaced(ctx, "{image: registry.example/web:1, paused: true}", func() {})
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonPaused))
		met := addGate(ctx).once(applyOf("deployments", v1alpha1.FieldManager), func() bool {
			edit(ctx, "kubectl-edit", theDeployment(), "{metadata: {annotations: {note: mine}}}")
			return true
		})
		mark := now()
		given(ctx, sameSpec)
		Expect(met.Load()).To(BeTrue())
		Expect(codes(recordPatches("deployments", mark))).To(Equal([]int{409, 200}), "the lock holds, and the next attempt knows")
		Expect(owned(the(ctx, deployment), "kubectl-edit", byUpdate, "")).To(ConsistOf(".metadata.annotations.note"))
	})
})
