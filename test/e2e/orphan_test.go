package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

const (
	orphaned = "image: '" + goodImage + "', replicas: 2, port: 80, expose: NodePort, deletionPolicy: Orphan"
	collect  = "image: '" + goodImage + "', replicas: 2, port: 80, expose: NodePort"
)

// running is what must not change of a program that goes on without its Application.
type running struct {
	deployment *appsv1.Deployment
	service    *corev1.Service
	pods       []types.UID
}

func (s *space) running(ctx context.Context, name string) running {
	GinkgoHelper()
	pods, err := s.pods(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	return running{s.deployment(ctx, name), s.service(ctx, name), uids(pods)}
}

// expectOrphans asserts that a program runs on as before, without an owner, after the garbage collector had its say.
func (s *space) expectOrphans(ctx context.Context, name string, before running) {
	GinkgoHelper()
	Expect(s.exists(ctx, name, &v1alpha1.Application{})).To(BeFalse())
	s.expectCollected(ctx)
	now := s.running(ctx, name)
	Expect(now.deployment.UID).To(Equal(before.deployment.UID))
	Expect(now.deployment.Spec).To(Equal(before.deployment.Spec))
	Expect(now.deployment.Generation).To(Equal(before.deployment.Generation))
	Expect(now.service.UID).To(Equal(before.service.UID))
	Expect(now.service.Spec).To(Equal(before.service.Spec))
	Expect(now.pods).To(ConsistOf(before.pods), "no pod was restarted")
	for _, child := range []client.Object{now.deployment, now.service} {
		Expect(child.GetOwnerReferences()).To(BeEmpty())
		Expect(child.GetDeletionTimestamp()).To(BeNil())
		Expect(managersOf(child, "spec", "selector")).NotTo(ContainElement(HavePrefix(v1alpha1.FieldManager)))
	}
}

// expectCollected waits until the garbage collector has removed an object whose owner is gone: it has then seen all
// that happened before as well.
func (s *space) expectCollected(ctx context.Context) {
	GinkgoHelper()
	Expect(env.ApplyYAML(ctx, userManager, s.name, `{apiVersion: v1, kind: ConfigMap, metadata: {name: lost, ownerReferences: [
		{apiVersion: v1, kind: ConfigMap, name: gone, uid: 11111111-2222-3333-4444-555555555555}]}}`)).To(Succeed())
	Eventually(s.exists).WithContext(ctx).WithArguments("lost", &corev1.ConfigMap{}).Should(BeFalse())
}

// consent lets an Application of the name adopt both objects of it.
func (s *space) consent(ctx context.Context, name string) {
	GinkgoHelper()
	s.kubectl(ctx, "annotate", "deployment/"+name, "service/"+name, v1alpha1.AnnotationAdopt+"="+name)
}

var _ = Describe("Orphaning", func() {
	var (
		s *space
		w *witness
	)
	BeforeEach(func(ctx context.Context) {
		s = newSpace(ctx)
		w = s.watch()
	})

	It("keeps the program running, and the next Application takes it by consent, without a restart of a pod", func(ctx context.Context) {
		s.apply(ctx, "web", orphaned)
		s.expectReady(ctx, "web")
		before := s.running(ctx, "web")
		s.kubectl(ctx, "delete", webApplication, "--timeout=120s")
		s.expectOrphans(ctx, "web", before)

		By("adopting")
		s.apply(ctx, "web", collect)
		s.expectCondition(ctx, "web", v1alpha1.ConditionSynced, "False "+v1alpha1.ReasonResourceExists)
		s.consent(ctx, "web")
		app := s.expectReady(ctx, "web")
		now := s.running(ctx, "web")
		Expect(now.pods).To(ConsistOf(before.pods))
		Expect(s.replicaSets(ctx, "web")).To(HaveLen(1))
		Expect(now.deployment.OwnerReferences).To(HaveExactElements(HaveField("UID", app.UID)))
		s.expectOwnership(ctx, app)
		w.expectTruth(ctx, s, "web")

		By("deleting it, by the policy of this one")
		s.kubectl(ctx, "delete", webApplication, "--timeout=120s")
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &appsv1.Deployment{}).Should(BeFalse())
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &corev1.Service{}).Should(BeFalse())
		w.catchUp(ctx, s)
		w.expectOneLife("web")
	})

	It("works although the operator is down when the Application is deleted", func(ctx context.Context) {
		s.apply(ctx, "web", orphaned)
		s.expectReady(ctx, "web")
		before := s.running(ctx, "web")
		Expect(env.StopOperator()).To(Succeed())
		s.kubectl(ctx, "delete", webApplication, "--wait=false")
		s.expectCollected(ctx)
		Expect(s.running(ctx, "web").pods).To(ConsistOf(before.pods), "the finalizer holds the garbage collector, too")
		startOperator(ctx)
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &v1alpha1.Application{}).Should(BeFalse())
		s.expectOrphans(ctx, "web", before)
		w.expectOneLife("web")
	})

	It("loses nothing when the operator is killed amid many of them", func(ctx context.Context) {
		const applications, kills = 10, 3
		names := make([]string, applications)
		before := map[string]running{}
		for n := range names {
			names[n] = "web-" + string(rune('a'+n))
			s.apply(ctx, names[n], orphaned)
		}
		for _, name := range names {
			s.expectReady(ctx, name)
			before[name] = s.running(ctx, name)
		}
		work := mark()
		s.kubectl(ctx, "delete", "applications.application.mycompany.io", "--all", "--wait=false")
		for kill := range kills {
			Eventually(func() int { return len(operatorWrites(work, cluster.InNamespace(s.name))) }).WithContext(ctx).
				WithPolling(glance / 50).Should(BeNumerically(">=", (kill+1)*applications/2))
			env.KillOperator()
			startOperator(ctx)
		}
		for _, name := range names {
			Eventually(s.exists).WithContext(ctx).WithArguments(name, &v1alpha1.Application{}).Should(BeFalse())
			s.expectOrphans(ctx, name, before[name])
			w.expectOneLife(name)
		}
	})

	It("is also what kubectl delete --cascade=orphan does, whatever the policy", func(ctx context.Context) {
		for name, spec := range map[string]string{"kept": orphaned, "collected": collect} {
			By("deleting an Application whose children would be " + name)
			s.apply(ctx, name, spec)
			s.expectReady(ctx, name)
			before := s.running(ctx, name)
			s.kubectl(ctx, "delete", "applications.application.mycompany.io/"+name, "--cascade=orphan", "--timeout=120s")
			s.expectCollected(ctx)
			now := s.running(ctx, name)
			Expect(now.pods).To(ConsistOf(before.pods))
			Expect(now.deployment.OwnerReferences).To(BeEmpty())
			Expect(now.service.OwnerReferences).To(BeEmpty())
			Expect(now.deployment.Spec).To(Equal(before.deployment.Spec))

			By("FR-25: taking it on again by consent")
			s.apply(ctx, name, spec)
			s.expectCondition(ctx, name, v1alpha1.ConditionSynced, "False "+v1alpha1.ReasonResourceExists)
			s.consent(ctx, name)
			s.expectReady(ctx, name)
			Expect(s.running(ctx, name).pods).To(ConsistOf(before.pods))
			Expect(s.replicaSets(ctx, name)).To(HaveLen(1))
			w.expectOneLife(name)
		}
	})

	It("cannot hold against kubectl delete --cascade=foreground, and says so", func(ctx context.Context) {
		s.apply(ctx, "web", orphaned)
		s.expectReady(ctx, "web")
		By("deleting it so while the operator is down: the garbage collector does not wait for the finalizer")
		Expect(env.StopOperator()).To(Succeed())
		s.kubectl(ctx, "delete", webApplication, "--cascade=foreground", "--wait=false")
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &appsv1.Deployment{}).Should(BeFalse())
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &corev1.Service{}).Should(BeFalse())
		Expect(s.application(ctx, "web").Finalizers).To(ContainElement(v1alpha1.Finalizer))

		startOperator(ctx)
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &v1alpha1.Application{}).Should(BeFalse())
		Eventually(func() string {
			return s.kubectl(ctx, "get", "events", "--field-selector=type=Warning,reason="+v1alpha1.ReasonChildrenLost, "--output=jsonpath={.items[*].message}")
		}).WithContext(ctx).Should(And(ContainSubstring("Deployment web and Service web"), ContainSubstring("--cascade=orphan")))
		w.expectOneLife("web")
	})

	It("follows the policy that the Application has when it goes", func(ctx context.Context) {
		for _, spec := range []string{orphaned, collect, orphaned, collect} {
			s.apply(ctx, "web", spec)
			s.expectReady(ctx, "web")
		}
		Eventually(func() []string { return s.application(ctx, "web").Finalizers }).WithContext(ctx).Should(BeEmpty())
		s.kubectl(ctx, "delete", webApplication, "--timeout=120s")
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &appsv1.Deployment{}).Should(BeFalse())

		s.apply(ctx, "web", collect)
		s.expectReady(ctx, "web")
		s.apply(ctx, "web", orphaned)
		Eventually(func() []string { return s.application(ctx, "web").Finalizers }).WithContext(ctx).Should(HaveExactElements(v1alpha1.Finalizer))
		before := s.running(ctx, "web")
		s.kubectl(ctx, "delete", webApplication, "--timeout=120s")
		s.expectOrphans(ctx, "web", before)
	})
})
