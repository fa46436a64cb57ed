package e2e

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// goodImage and brokenImage differ in whether their pods become ready.
const (
	goodImage   = "registry.example/web:1"
	brokenImage = "registry.example/" + cluster.BrokenImage + ":2"
)

// deadlineExceeded is what Ready says once the Deployment has given up, stalled what Stalled says.
const (
	deadlineExceeded = "False " + v1alpha1.ReasonProgressDeadlineExceeded
	stalled          = "True " + v1alpha1.ReasonProgressDeadlineExceeded
)

var _ = Describe("An image that never becomes ready", func() {
	var (
		s *space
		w *witness
	)
	BeforeEach(func(ctx context.Context) {
		s = newSpace(ctx)
		w = s.watch()
	})

	It("fails after the Deployment's deadline, and heals by a good image", func(ctx context.Context) {
		s.apply(ctx, "web", "image: '"+brokenImage+"', replicas: 2")
		s.applyAsPlatform(ctx, "web", "progressDeadlineSeconds: 4")

		s.expectCondition(ctx, "web", v1alpha1.ConditionReady, deadlineExceeded)
		app := s.application(ctx, "web")
		Expect(app.Status.Phase).To(Equal(v1alpha1.PhaseFailed))
		Expect(conditionOf(app, v1alpha1.ConditionSynced)).To(Equal("True Synced"), "the objects are as wanted, their pods are not")
		Expect(conditionOf(app, v1alpha1.ConditionAvailable)).To(HavePrefix("False "))
		Expect(conditionOf(app, v1alpha1.ConditionStalled)).To(Equal(stalled))
		Expect(kstatus(app)).To(Equal(statusFailed))
		_, err := env.Kubectl(ctx, "--namespace="+s.name, "rollout", "status", "deployment/web")
		Expect(err).To(MatchError(ContainSubstring("exceeded its progress deadline")))
		Expect(w.phases(ctx, s, "web")).To(HaveExactElements(v1alpha1.PhasePending, v1alpha1.PhaseFailed))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ConsistOf("Normal Synced", "Warning ProgressDeadlineExceeded"))

		By("correcting the image")
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 2")
		s.expectReady(ctx, "web")
		ready := w.course(ctx, s, "web", v1alpha1.ConditionReady)
		Expect(ready[:3]).To(HaveExactElements(progressing, deadlineExceeded, progressing), "of all of these: %s", ready)
		Expect(w.course(ctx, s, "web", v1alpha1.ConditionStalled)[:3]).To(HaveExactElements("absent", stalled, "absent"))
		w.expectTruth(ctx, s, "web")
		s.expectDeadlineKept(ctx, "web")
	})

	It("is told apart from what still serves when a good Application gets it", func(ctx context.Context) {
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 4")
		s.expectReady(ctx, "web")
		expectRest(ctx)
		s.applyAsPlatform(ctx, "web", "progressDeadlineSeconds: 4")
		s.apply(ctx, "web", "image: '"+brokenImage+"', replicas: 4")

		s.expectCondition(ctx, "web", v1alpha1.ConditionReady, deadlineExceeded)
		app := s.application(ctx, "web")
		Expect(app.Status.Phase).To(Equal(v1alpha1.PhaseFailed))
		Expect(conditionOf(app, v1alpha1.ConditionAvailable)).To(Equal("True MinimumReplicasAvailable"), "the old pods go on serving")
		Expect(kstatus(app)).To(Equal(statusFailed))
		available := w.course(ctx, s, "web", v1alpha1.ConditionAvailable)
		Expect(slices.Index(available, "True MinimumReplicasAvailable")).To(Equal(len(available)-1), "once available, it stays so: %s", available)

		By("going back to the image that worked")
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 4")
		s.expectReady(ctx, "web")
		Expect(s.replicaSets(ctx, "web")).To(HaveLen(2), "the old ReplicaSet serves again")
		w.expectTruth(ctx, s, "web")
		s.expectDeadlineKept(ctx, "web")
	})
})

func (s *space) expectDeadlineKept(ctx context.Context, name string) {
	GinkgoHelper()
	deployment := s.deployment(ctx, name)
	Expect(deployment.Spec.ProgressDeadlineSeconds).To(HaveValue(BeEquivalentTo(4)))
	Expect(managersOf(deployment, "spec", "progressDeadlineSeconds")).To(HaveExactElements("platform Apply"))
}
