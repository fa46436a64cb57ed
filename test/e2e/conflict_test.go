package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// restartedAt is the annotation by which kubectl restarts a roll-out.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

var _ = Describe("People at the Deployment", func() {
	var (
		s *space
		w *witness
	)
	BeforeEach(func(ctx context.Context) {
		s = newSpace(ctx)
		w = s.watch()
	})

	It("FR-05: scale it: the conflict shows, holds up the Deployment alone, and heals with its release", func(ctx context.Context) {
		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 2, port: 80, expose: ClusterIP")
		s.expectReady(ctx, "web")
		scaled := mark()
		s.kubectl(ctx, "scale", "deployment/web", "--replicas=3")

		s.expectConflict(ctx, "web", ".spec.replicas", "kubectl", "scale")
		Eventually(func() any { return s.application(ctx, "web").Status.Phase }).WithContext(ctx).
			Should(Equal(v1alpha1.PhaseRunning), "what runs goes on running")
		Expect(s.kubectl(ctx, "get", webApplication)).To(ContainSubstring(".spec.replicas"))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement("Warning FieldConflict"))

		By("leaving it so, whatever wakes the operator")
		expectRest(ctx)
		left := mark()
		s.forceReconciles(ctx, "web", 3)
		Expect(operatorRequests(left)).To(BeEmpty())

		By("changing both children in the Application")
		s.apply(ctx, "web", "image: 'registry.example/web:2', replicas: 2, port: 80, expose: NodePort")
		s.expectConflict(ctx, "web", ".spec.replicas", "kubectl", "scale")
		Expect(s.service(ctx, "web").Spec.Type).To(Equal(corev1.ServiceTypeNodePort), "the Service is not held up")
		Expect(s.application(ctx, "web").Status.Message).To(ContainSubstring("no change of it is applied"))
		deployment := s.deployment(ctx, "web")
		Expect(deployment.Spec.Replicas).To(HaveValue(BeEquivalentTo(3)))
		Expect(deployment.Spec.Template.Spec.Containers).To(HaveExactElements(HaveField("Image", "registry.example/web:1")))
		Expect(operatorWrites(scaled, cluster.OnResource("deployments"))).To(BeEmpty())

		By("scaling back")
		s.kubectl(ctx, "scale", "deployment/web", "--replicas=2")
		s.expectReady(ctx, "web")
		Expect(s.deployment(ctx, "web").Spec.Template.Spec.Containers).To(HaveExactElements(HaveField("Image", "registry.example/web:2")))
		Expect(operatorWrites(scaled, cluster.OnResource("deployments"))).To(HaveLen(1), "the held up image, once")
		w.expectSteadyTimes(ctx, s, "web")
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ConsistOf("Normal Synced", "Normal RolledOut", "Warning FieldConflict", "Normal Synced", "Normal RolledOut"))
	})

	It("FR-07: restart it, and the annotation stays; undo it, and that is a conflict", func(ctx context.Context) {
		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 4")
		s.expectReady(ctx, "web")
		before, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())

		s.kubectl(ctx, "rollout", "restart", "deployment/web")
		s.forceReconciles(ctx, "web", 3)
		s.kubectl(ctx, "rollout", "status", "deployment/web", "--timeout=120s")
		after, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		Expect(after).To(HaveLen(4))
		Expect(uids(after)).NotTo(ContainElements(uids(before)))
		restarted := s.deployment(ctx, "web").Spec.Template.Annotations[restartedAt]
		Expect(restarted).NotTo(BeEmpty())
		s.expectReady(ctx, "web")

		By("changing the image in the Application")
		s.apply(ctx, "web", "image: 'registry.example/web:2', replicas: 4")
		s.expectReady(ctx, "web")
		Expect(s.deployment(ctx, "web").Spec.Template.Annotations).To(HaveKeyWithValue(restartedAt, restarted))
		Expect(w.course(ctx, s, "web", v1alpha1.ConditionSynced)).To(HaveExactElements("True Synced"))

		By("undoing that behind the Application's back")
		undone := mark()
		s.kubectl(ctx, "rollout", "undo", "deployment/web")
		s.expectConflict(ctx, "web", `.spec.template.spec.containers[name="app"].image`, "kubectl", "")
		s.kubectl(ctx, "rollout", "status", "deployment/web", "--timeout=120s")
		Expect(s.deployment(ctx, "web").Spec.Template.Spec.Containers).To(HaveExactElements(HaveField("Image", "registry.example/web:1")))
		Expect(operatorWrites(undone, cluster.OnResource("deployments"))).To(BeEmpty())

		By("agreeing to it")
		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 4")
		s.expectReady(ctx, "web")
		w.expectSteadyTimes(ctx, s, "web")
	})
})

// expectConflict waits until an Application tells of exactly this contested field of its Deployment, in every way that
// people and tools read.
func (s *space) expectConflict(ctx context.Context, name, field, manager, subresource string) {
	GinkgoHelper()
	for conditionType, want := range map[string]string{
		v1alpha1.ConditionReady:   "False FieldConflict",
		v1alpha1.ConditionSynced:  "False FieldConflict",
		v1alpha1.ConditionStalled: "True FieldConflict",
	} {
		s.expectCondition(ctx, name, conditionType, want)
	}
	app := s.application(ctx, name)
	Expect(app.Status.Conflicts).To(HaveExactElements(v1alpha1.FieldConflict{
		Kind:        "Deployment",
		Name:        name,
		Field:       field,
		Manager:     manager,
		Operation:   metav1.ManagedFieldsOperationUpdate,
		Subresource: subresource,
		APIVersion:  "apps/v1",
	}))
	Expect(app.Status.Message).To(And(ContainSubstring("Deployment "+name), ContainSubstring(field), ContainSubstring(manager), ContainSubstring(subresource)))
	Expect(kstatus(app)).To(Equal(statusFailed))
}

// expectSteadyTimes asserts that the time of each condition moved just when its status did.
func (w *witness) expectSteadyTimes(ctx context.Context, s *space, name string) {
	GinkgoHelper()
	w.catchUp(ctx, s)
	versions := history[*v1alpha1.Application](w.applications, name)
	for i := 1; i < len(versions); i++ {
		expectSteadyTimes(versions[i-1], versions[i])
	}
}
