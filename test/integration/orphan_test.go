package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

const (
	orphanSpec = "{image: registry.example/web:1, replicas: 2, port: 8080, expose: NodePort, deletionPolicy: Orphan}"
	deleteSpec = "{image: registry.example/web:1, replicas: 2, port: 8080, expose: NodePort}"
)

// haveFinalizer matches an Application that waits for the operator when it is deleted.
func haveFinalizer() types.GomegaMatcher {
	return HaveField("Finalizers", ConsistOf(v1alpha1.Finalizer))
}

// remember keeps what an orphan must not lose: everything but its owner and the operator's record.
func remember(object client.Object) client.Object {
	kept := object.DeepCopyObject().(client.Object)
	kept.SetOwnerReferences(nil)
	kept.SetManagedFields(nil)
	kept.SetResourceVersion("")
	return kept
}

// expectOrphans claims that both children are nobody's, and as they were.
func expectOrphans(ctx context.Context, before ...client.Object) {
	GinkgoHelper()
	for i, child := range []client.Object{the(ctx, deployment), the(ctx, service)} {
		Expect(child.GetOwnerReferences()).To(BeEmpty())
		Expect(child.GetDeletionTimestamp()).To(BeNil())
		Expect(remember(child)).To(Equal(before[i]))
		for _, entry := range child.GetManagedFields() {
			if entry.Manager == v1alpha1.FieldManager || entry.Manager == v1alpha1.FieldManagerHandover {
				Expect(owned(child, entry.Manager, entry.Operation, entry.Subresource)).To(ConsistOf(".metadata.labels.owner"),
					"at most the label that says who made it, lest the record be empty")
			}
		}
	}
}

var _ = Describe("deletionPolicy Orphan", func() {
	children := func(ctx context.Context) []client.Object {
		return []client.Object{remember(the(ctx, deployment)), remember(the(ctx, service))}
	}

	It("sets a finalizer, by apply under a manager of its own, before there is a child", func(ctx SpecContext) {
		given(ctx, orphanSpec)
		app := the(ctx, application)
		Expect(app).To(haveFinalizer())
		Expect(owned(app, v1alpha1.FieldManagerFinalizer, byApply, "")).To(ConsistOf(fmt.Sprintf(".metadata.finalizers[=%q]", v1alpha1.Finalizer)))

		By("reading the requests: the finalizer comes first")
		writes := writesSince(begin, cluster.WithCode(200, 201))
		Expect(writes[0].ObjectRef.Resource).To(Equal("applications"))
		Expect(writes[0].ObjectRef.Subresource).To(BeEmpty())
		Expect(writes[0].FieldManager()).To(Equal(v1alpha1.FieldManagerFinalizer))
		Expect(writesSince(begin, cluster.OnResource("applications"))).To(HaveLen(1))
		expectNoFailures()

		By("resting")
		mark := now()
		touch(ctx, "again")
		whileOperatorIsDown(ctx, func() {})
		expectNoWrites(mark)
	})

	It("gives both children up, without a change of one value, when the Application goes", func(ctx SpecContext) {
		given(ctx, orphanSpec)
		edit(ctx, "kubectl-edit", theDeployment(), "{metadata: {annotations: {note: mine}}}")
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
		waitForQuiet()
		before, mark := children(ctx), now()

		kubectl(ctx, "delete", "appl/web", "--timeout=60s")
		eventuallyGone(ctx, theApplication())
		expectOrphans(ctx, before...)
		Expect(owned(the(ctx, deployment), "kubectl-edit", byUpdate, "")).To(ConsistOf(".metadata.annotations.note"))

		By("counting: one patch of each record, then the finalizer")
		Expect(recordPatches("deployments", mark)).To(HaveLen(1))
		Expect(recordPatches("services", mark)).To(HaveLen(1))
		writes := writesSince(mark)
		Expect(writes[2].FieldManager()).To(Equal(v1alpha1.FieldManagerFinalizer))
		Expect(codes(writes[:3])).To(HaveEach(200))
		Expect(the(ctx, deployment).Generation).To(Equal(before[0].GetGeneration()), "no roll-out")

		By("writing to the orphans: they are anybody's")
		applyService(ctx, "gitops", "spec: {type: ClusterIP}")
		Expect(the(ctx, service).Spec.Type).To(BeEquivalentTo("ClusterIP"))
		applyDeployment(ctx, "gitops", otherImage)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:theirs"))
	})

	It("does so although the operator was down", func(ctx SpecContext) {
		given(ctx, orphanSpec)
		waitForQuiet()
		before := children(ctx)
		whileOperatorIsDown(ctx, func() {
			kubectl(ctx, "delete", "appl/web", "--wait=false")
			Expect(the(ctx, application).DeletionTimestamp).NotTo(BeNil())
		})
		eventuallyGone(ctx, theApplication())
		expectOrphans(ctx, before...)
	})

	It("does so in spite of contested, yielded and handed over fields", func(ctx SpecContext) {
		given(ctx, orphanSpec)
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: NodePort, deletionPolicy: Orphan, conflictPolicy: Yield}")
		editApp(ctx, "kubectl-edit", "image: 'registry.example/web:theirs'")
		edit(ctx, "kubectl-patch", theService(), "{spec: {type: LoadBalancer}}")
		Eventually(ctx, application).Should(HaveField("Status.Conflicts", HaveLen(2)))
		waitForQuiet()
		before := children(ctx)
		kubectl(ctx, "delete", "appl/web", "--timeout=60s")
		expectOrphans(ctx, before...)
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(2)), "held by the hand-over manager alone")
	})

	It("can be switched on and off: the finalizer comes and goes, without touching a child", func(ctx SpecContext) {
		given(ctx, deleteSpec)
		Expect(the(ctx, application).Finalizers).To(BeEmpty())
		waitForQuiet()
		mark := now()
		for range 2 {
			given(ctx, orphanSpec)
			Eventually(ctx, application).Should(haveFinalizer())
			given(ctx, deleteSpec)
			Eventually(ctx, application).Should(HaveField("Finalizers", BeEmpty()))
			Expect(the(ctx, application).ManagedFields).NotTo(ContainElement(HaveField("Manager", v1alpha1.FieldManagerFinalizer)))
		}
		Expect(writesSince(mark, cluster.Any(cluster.OnResource("deployments"), cluster.OnResource("services")))).To(BeEmpty())
		expectNoFailures()
	})

	It("keeps the finalizers of others, and is not in their way", func(ctx SpecContext) {
		given(ctx, orphanSpec)
		Expect(env.MergeYAML(ctx, "backup", theApplication(), fmt.Sprintf("{metadata: {finalizers: [%s, example.com/backup]}}", v1alpha1.Finalizer))).To(Succeed())
		given(ctx, deleteSpec)
		Eventually(ctx, application).Should(HaveField("Finalizers", ConsistOf("example.com/backup")))
		given(ctx, orphanSpec)
		Eventually(ctx, application).Should(HaveField("Finalizers", ConsistOf("example.com/backup", v1alpha1.Finalizer)))
		waitForQuiet()
		before := children(ctx)

		By("deleting, while the other one holds")
		kubectl(ctx, "delete", "appl/web", "--wait=false")
		Eventually(ctx, application).Should(HaveField("Finalizers", ConsistOf("example.com/backup")))
		expectOrphans(ctx, before...)
		Expect(env.MergeYAML(ctx, "backup", theApplication(), "{metadata: {finalizers: null}}")).To(Succeed())
		eventuallyGone(ctx, theApplication())
	})

	It("leaves alone what is not the Application's", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", foreignDeployment)
		before := snapshot(the(ctx, deployment))
		write(ctx, orphanSpec)
		Eventually(ctx, application).Should(beRefused("Deployment"))
		kubectl(ctx, "delete", "appl/web", "--timeout=60s")
		Expect(snapshot(the(ctx, deployment))).To(Equal(before))
		Expect(the(ctx, service).OwnerReferences).To(BeEmpty())
	})

	It("can be taken back while the deletion is under way", func(ctx SpecContext) {
		given(ctx, orphanSpec)
		owner := the(ctx, deployment).OwnerReferences
		whileOperatorIsDown(ctx, func() {
			kubectl(ctx, "delete", "appl/web", "--wait=false")
			Expect(env.MergeYAML(ctx, "kubectl-edit", theApplication(), "{spec: {deletionPolicy: Delete}}")).To(Succeed())
		})
		eventuallyGone(ctx, theApplication())
		Expect(the(ctx, deployment).OwnerReferences).To(Equal(owner), "for the garbage collector")
	})

	It("lets the Application go although somebody else applied the finalizer, too, as whoever restores a dump does", func(ctx SpecContext) {
		given(ctx, orphanSpec)
		Expect(env.ApplyYAML(ctx, "backup", namespace, fmt.Sprintf(
			"{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: web, finalizers: [%s]}}", v1alpha1.Finalizer))).To(Succeed())
		waitForQuiet()
		before := children(ctx)
		kubectl(ctx, "delete", "appl/web", "--timeout=60s")
		expectOrphans(ctx, before...)
	})

	DescribeTable("loses nothing when the operator is killed",
		func(ctx SpecContext, meant func(*admissionv1.AdmissionRequest) bool) {
			given(ctx, orphanSpec)
			waitForQuiet()
			before := children(ctx)
			crashAt(ctx, addGate(ctx), 1, meant, func() { kubectl(ctx, "delete", "appl/web", "--wait=false") }, func() {
				Expect(the(ctx, application)).To(haveFinalizer(), "the Application stays until all is done")
			})
			eventuallyGone(ctx, theApplication())
			expectOrphans(ctx, before...)
		},
		Entry("before the Deployment", applyOf("deployments", v1alpha1.FieldManager)),
		Entry("between the Deployment and the Service", applyOf("services", v1alpha1.FieldManager)),
		Entry("before the finalizer goes", applyOf("applications", v1alpha1.FieldManagerFinalizer)),
	)

	It("gives up what somebody changes at the same moment, with their change", func(ctx SpecContext) {
		given(ctx, orphanSpec)
		waitForQuiet()
		addGate(ctx).once(applyOf("services", v1alpha1.FieldManager), func() bool {
			edit(ctx, "kubectl-edit", theService(), "{spec: {sessionAffinity: ClientIP}}")
			return true
		})
		kubectl(ctx, "delete", "appl/web", "--timeout=60s")
		Expect(the(ctx, service).OwnerReferences).To(BeEmpty())
		Expect(the(ctx, service).Spec.SessionAffinity).To(BeEquivalentTo("ClientIP"))
	})

	DescribeTable("lets a later Application of the name take the orphans, by consent and without a roll-out",
		func(ctx SpecContext, spec string) {
			given(ctx, orphanSpec)
			waitForQuiet()
			before := the(ctx, deployment)
			kubectl(ctx, "delete", "appl/web", "--timeout=60s")
			write(ctx, spec)
			Eventually(ctx, application).Should(beRefused("Deployment"))
			consentTo(ctx, web, "deployment/web")
			consentTo(ctx, web, "service/web")
			eventuallySynced(ctx)
			after := the(ctx, deployment)
			Expect(after).To(beControlledBy(the(ctx, application)))
			Expect(after.UID).To(Equal(before.UID))
			Expect(after.Spec.Template).To(Equal(before.Spec.Template))
			Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))
			Expect(codes(writesSince(begin, cluster.Any(cluster.OnResource("deployments"), cluster.OnResource("services"))))).To(HaveEach(Or(Equal(200), Equal(201))))

			By("changing all of it")
			given(ctx, "{image: registry.example/web:2, replicas: 4, port: 9090, expose: ClusterIP}")
			Expect(the(ctx, service).Spec.Ports).To(ConsistOf(HaveField("Port", BeEquivalentTo(9090))))
		},
		Entry("as it was", orphanSpec),
		Entry("with fewer wishes", "{image: registry.example/web:1, port: 8080, expose: NodePort}"),
	)
})
