package integration

import (
	"context"
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("The status of an Application", func() {
	// audited is the condition of another controller on the same Application.
	audited := func(ctx context.Context, conditions string) {
		GinkgoHelper()
		object := &unstructured.Unstructured{}
		Expect(json.Unmarshal(fmt.Appendf(nil, `{"apiVersion": "application.mycompany.io/v1alpha1", "kind": "Application",
			"metadata": {"name": %q, "namespace": %q}, "status": {"conditions": %s}}`, web, namespace, conditions), &object.Object)).To(Succeed())
		Expect(env.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("auditor"))).To(Succeed())
	}
	beAudited := func() types.GomegaMatcher {
		return ContainElement(And(HaveField("Type", "Audited"), HaveField("Reason", "ByHand")))
	}

	It("is all that the operator owns of the Application", func(ctx SpecContext) {
		given(ctx, exposedSpec)
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))

		By("reading managedFields")
		app := the(ctx, application)
		Expect(app.ManagedFields).To(ConsistOf(
			HaveField("Manager", author),
			And(HaveField("Manager", v1alpha1.FieldManagerStatus), HaveField("Subresource", "status"), HaveField("Operation", byApply)),
		))
		Expect(owned(app, v1alpha1.FieldManagerStatus, byApply, "status")).To(HaveEach(HavePrefix(".status.")))
		Expect(app.Finalizers).To(BeEmpty())
	})

	It("shows a load balancer's address as long as there is one", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: LoadBalancer}")
		setAddress := func(ingress ...corev1.LoadBalancerIngress) {
			child := the(ctx, service)
			child.Status.LoadBalancer.Ingress = ingress
			Expect(env.Client.Status().Update(ctx, child, client.FieldOwner("cloud-controller-manager"))).To(Succeed())
		}

		By("providing one, as the cloud's controller does")
		setAddress(corev1.LoadBalancerIngress{IP: "192.0.2.1"})
		Eventually(ctx, application).Should(HaveField("Status.ServiceStatus.LoadBalancer.Ingress", ConsistOf(HaveField("IP", "192.0.2.1"))))

		By("taking it away: the status still arrives")
		setAddress()
		Eventually(ctx, application).Should(HaveField("Status.ServiceStatus", BeNil()))
		given(ctx, "{image: registry.example/web:2, port: 8080, expose: ClusterIP}")
	})

	It("is shared with other controllers, whose conditions survive everything", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")

		By("adding a condition as another controller does")
		audited(ctx, `[{"type": "Audited", "status": "True", "reason": "ByHand", "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z"}]`)

		By("going through Ready, a conflict, and its end")
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
		Expect(the(ctx, application).Status.Conditions).To(beAudited())
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		Expect(the(ctx, application).Status.Conditions).To(beAudited())
		scale(ctx, "kubectl", 2)
		eventuallySynced(ctx)

		By("looking for what is no longer true: gone, unlike the other controller's")
		conditions := the(ctx, application).Status.Conditions
		Expect(conditions).To(beAudited())
		Expect(conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)))

		By("taking that away again, as its controller")
		audited(ctx, "[]")
		Consistently(ctx, application).Should(HaveField("Status.Conditions", Not(beAudited())))
	})

	It("FR-29: stays put under a standing conflict while other things happen", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		waitForQuiet()
		before, mark := the(ctx, application), now()

		By("changing what nobody contests")
		for i := range 5 {
			kubectl(ctx, "annotate", "--overwrite", "deployment/web", "service/web", fmt.Sprintf("count=%d", i))
		}
		whileOperatorIsDown(ctx, func() {})
		expectNoWrites(mark)
		after := the(ctx, application)
		Expect(snapshot(after)).To(Equal(snapshot(before)))
		Expect(eventWritesSince(mark)).To(BeZero(), "an Event is repeated")

		By("changing what the status mirrors: times stay")
		rollOut(ctx)
		Eventually(ctx, application).Should(HaveField("Status.DeploymentStatus.ReadyReplicas", BeEquivalentTo(5)))
		after = the(ctx, application)
		for _, conditionType := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionSynced, v1alpha1.ConditionStalled} {
			Expect(transition(after, conditionType)).To(Equal(transition(before, conditionType)), conditionType)
		}
		Expect(appliesTo("applications", mark)).To(BeZero(), "only the status subresource is written")
		Expect(writesSince(mark, cluster.OnResource("applications/status"))).To(HaveLen(1))
	})

	It("FR-42: costs its author no conflict, however often the same or another spec is applied", func(ctx SpecContext) {
		const spec = `{image: "registry.example/web:%d", port: 8080, expose: ClusterIP, resources: {limits: {cpu: 1000m, memory: 1024Mi}}, env: [{name: EMPTY, value: ""}], readinessProbe: {tcpSocket: {port: 8080}}}`
		raw := func() any {
			object := &unstructured.Unstructured{}
			object.SetAPIVersion(v1alpha1.SchemeGroupVersion.String())
			object.SetKind(v1alpha1.Kind)
			Expect(env.Client.Get(ctx, key(), object)).To(Succeed())
			return object.Object["spec"]
		}
		By("applying as Helm does")
		write(ctx, fmt.Sprintf(spec, 1))
		written := raw()
		eventuallySynced(ctx)
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
		Expect(raw()).To(Equal(written), "the spec was rewritten")
		waitForQuiet()

		By("applying the same again")
		generation, mark := the(ctx, application).Generation, now()
		write(ctx, fmt.Sprintf(spec, 1))
		Expect(the(ctx, application).Generation).To(Equal(generation))
		expectNoWrites(mark)

		By("applying a new image, still without force")
		given(ctx, fmt.Sprintf(spec, 2))
	})

	It("FR-42: costs an author by client-side apply nothing either", func(ctx SpecContext) {
		file := writeFile(manifest(`{image: "registry.example/web:1", resources: {limits: {cpu: 1000m}}}`))
		kubectl(ctx, "apply", "-f", file)
		eventuallySynced(ctx)
		generation := the(ctx, application).Generation
		Expect(kubectl(ctx, "apply", "-f", file)).To(ContainSubstring("unchanged"))
		Expect(the(ctx, application).Generation).To(Equal(generation))

		kubectl(ctx, "apply", "-f", writeFile(manifest(`{image: "registry.example/web:2", resources: {limits: {cpu: 1000m}}}`)))
		Eventually(ctx, application).Should(beSynced())
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))
	})
})
