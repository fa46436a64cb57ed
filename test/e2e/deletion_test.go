package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// webApplication names the Application for kubectl, by its group: others have a kind of this name, too.
const webApplication = "applications.application.mycompany.io/web"

var _ = Describe("Deleting an Application", func() {
	var (
		s *space
		w *witness
		// deleted is the point from which on nothing may be written for the Application.
		deleted cluster.Mark
	)
	BeforeEach(func(ctx context.Context) {
		s = newSpace(ctx)
		w = s.watch()
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 2, port: 80, expose: ClusterIP")
		s.expectReady(ctx, "web")
		expectNothingQueued(ctx)
		deleted = mark()
	})

	for _, cascade := range []string{"background", "foreground"} {
		It("takes its children with it: "+cascade, func(ctx context.Context) {
			s.kubectl(ctx, "delete", webApplication, "--cascade="+cascade, "--timeout=120s")
			for _, kind := range []client.Object{&v1alpha1.Application{}, &appsv1.Deployment{}, &corev1.Service{}} {
				Eventually(s.exists).WithContext(ctx).WithArguments("web", kind).Should(BeFalse())
			}
			Eventually(s.pods).WithContext(ctx).WithArguments("web").Should(BeEmpty())

			expectNothingQueued(ctx)
			Expect(operatorWrites(deleted)).To(BeEmpty(), "nothing is left to write")
			w.catchUp(ctx, s)
			w.expectOneLife("web")
		})
	}

	It("leaves orphans alone, and the next Application of the name as well", func(ctx context.Context) {
		pods, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		s.kubectl(ctx, "delete", webApplication, "--cascade=orphan", "--timeout=120s")
		Expect(s.exists(ctx, "web", &v1alpha1.Application{})).To(BeFalse())
		for _, child := range []client.Object{s.deployment(ctx, "web"), s.service(ctx, "web")} {
			Expect(child.GetOwnerReferences()).To(BeEmpty())
			Expect(child.GetDeletionTimestamp()).To(BeNil())
		}

		By("creating an Application that the orphans have not consented to")
		s.apply(ctx, "web", "image: 'registry.example/web:2', replicas: 1, port: 80, expose: NodePort")
		s.expectCondition(ctx, "web", v1alpha1.ConditionSynced, "False "+v1alpha1.ReasonResourceExists)
		app := s.application(ctx, "web")
		Expect(conditionOf(app, v1alpha1.ConditionReady)).To(Equal("False " + v1alpha1.ReasonResourceExists))
		Expect(conditionOf(app, v1alpha1.ConditionStalled)).To(Equal("True " + v1alpha1.ReasonResourceExists))
		Expect(kstatus(app)).To(Equal(statusFailed))
		Expect(operatorWrites(deleted, cluster.OnResource("deployments"))).To(BeEmpty())
		Expect(operatorWrites(deleted, cluster.OnResource("services"))).To(BeEmpty())
		now, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		Expect(uids(now)).To(ConsistOf(uids(pods)), "the orphans go on serving")
		w.expectOneLife("web")

		By("removing the orphans by hand")
		s.kubectl(ctx, "delete", "deployment/web", "service/web")
		Expect(s.expectReady(ctx, "web").UID).To(Equal(app.UID))
		w.expectTruth(ctx, s, "web")
	})
})

var _ = Describe("Deleting a child", func() {
	It("brings back another, once the first is really gone", func(ctx context.Context) {
		s := newSpace(ctx)
		w := s.watch()
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 2, port: 80, expose: ClusterIP")
		s.expectReady(ctx, "web")
		deployment, service := s.deployment(ctx, "web"), s.service(ctx, "web")

		s.kubectl(ctx, "delete", "deployment/web", "--cascade=foreground")
		s.kubectl(ctx, "delete", "service/web")
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &appsv1.Deployment{}).Should(BeTrue())
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &corev1.Service{}).Should(BeTrue())
		s.expectReady(ctx, "web")
		Expect(s.deployment(ctx, "web").UID).NotTo(Equal(deployment.UID))
		Expect(s.service(ctx, "web").UID).NotTo(Equal(service.UID))
		w.catchUp(ctx, s)
		Expect(w.deployments.lives("web")).To(HaveLen(2))
		Expect(w.services.lives("web")).To(HaveLen(2))
	})
})

// expectOneLife asserts that no child of an Application was ever replaced.
func (w *witness) expectOneLife(name string) {
	GinkgoHelper()
	Expect(w.deployments.lives(name)).To(HaveLen(1), "Deployments")
	Expect(w.services.lives(name)).To(HaveLen(1), "Services")
}
