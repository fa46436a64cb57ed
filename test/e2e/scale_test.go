package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// autoscaler is the field manager under which kube-controller-manager's HorizontalPodAutoscaler scales.
const autoscaler = "kube-controller-manager"

var _ = Describe("The number of replicas", func() {
	var s *space
	BeforeEach(func(ctx context.Context) { s = newSpace(ctx) })

	It("belongs to whoever scales the Deployment if the Application has none", func(ctx context.Context) {
		s.apply(ctx, "web", "image: 'registry.example/web:0'")
		s.expectReady(ctx, "web")
		Expect(managersOf(s.deployment(ctx, "web"), "spec", "replicas")).NotTo(ContainElement(HavePrefix(v1alpha1.FieldManager)))

		for _, scale := range []struct {
			who      string
			replicas int32
			how      func(replicas int32)
		}{
			{"kubectl", 3, func(n int32) { s.kubectl(ctx, "scale", "deployment/web", fmt.Sprint("--replicas=", n)) }},
			{autoscaler, 4, func(n int32) { s.scaleAs(ctx, autoscaler, s.deployment(ctx, "web"), n) }},
			{autoscaler, 2, func(n int32) { s.scaleAs(ctx, autoscaler, s.deployment(ctx, "web"), n) }},
		} {
			By(fmt.Sprintf("scaling to %d as %s", scale.replicas, scale.who))
			scaled := mark()
			scale.how(scale.replicas)
			Eventually(s.pods).WithContext(ctx).WithArguments("web").Should(HaveLen(int(scale.replicas)))
			s.forceReconciles(ctx, "web", 10)
			s.expectReady(ctx, "web")
			Expect(operatorWrites(scaled, cluster.OnResource("deployments"))).To(BeEmpty())

			s.apply(ctx, "web", fmt.Sprintf("image: 'registry.example/web:%d'", scale.replicas))
			app := s.expectReady(ctx, "web")
			deployment := s.deployment(ctx, "web")
			Expect(deployment.Spec.Replicas).To(HaveValue(Equal(scale.replicas)))
			Expect(managersOf(deployment, "spec", "replicas")).NotTo(ContainElement(HavePrefix(v1alpha1.FieldManager)))
			s.expectOwnership(ctx, app)
		}
	})

	It("is honoured and owned if it is 0, and then Ready means that nothing runs", func(ctx context.Context) {
		w := s.watch()
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 2, port: 80, expose: ClusterIP")
		s.expectReady(ctx, "web")

		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 0, port: 80, expose: ClusterIP")
		app := s.expectReady(ctx, "web")
		s.kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=1s", webApplication)
		Expect(app.Status.Message).To(ContainSubstring("scaled to zero"))
		Eventually(s.pods).WithContext(ctx).WithArguments("web").Should(BeEmpty())
		Eventually(s.readyEndpoints).WithContext(ctx).WithArguments("web").Should(BeEmpty())
		deployment := s.deployment(ctx, "web")
		Expect(deployment.Spec.Replicas).To(HaveValue(BeZero()))
		Expect(managersOf(deployment, "spec", "replicas")).To(ContainElement(v1alpha1.FieldManager + " Apply"))

		By("starting it again")
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 1, port: 80, expose: ClusterIP")
		s.expectReady(ctx, "web")
		Expect(s.pods(ctx, "web")).To(HaveLen(1))
		w.expectTruth(ctx, s, "web")
	})

	It("can be scaled through the Application itself", func(ctx context.Context) {
		w := s.watch()
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 1")
		s.expectReady(ctx, "web")

		s.kubectl(ctx, "scale", webApplication, "--replicas=3")
		s.expectReady(ctx, "web")
		Expect(s.pods(ctx, "web")).To(HaveLen(3))
		s.scaleAs(ctx, autoscaler, s.application(ctx, "web"), 2)
		app := s.expectReady(ctx, "web")
		Expect(app.Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(s.deployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))

		By("reading what an autoscaler reads")
		var scale *autoscalingv1.Scale
		Eventually(func() int32 {
			scale = s.scaleOf(ctx, app)
			return scale.Status.Replicas
		}).WithContext(ctx).Should(BeEquivalentTo(2))
		selector, err := labels.Parse(scale.Status.Selector)
		Expect(err).NotTo(HaveOccurred())
		selected := &corev1.PodList{}
		Expect(env.Client.List(ctx, selected, client.InNamespace(s.name), client.MatchingLabelsSelector{Selector: selector})).To(Succeed())
		pods, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		Expect(uids(selected.Items)).To(ContainElements(uids(pods)))
		w.expectTruth(ctx, s, "web")
	})
})

func (s *space) scaleOf(ctx context.Context, object client.Object) *autoscalingv1.Scale {
	GinkgoHelper()
	scale := &autoscalingv1.Scale{}
	Expect(env.Client.SubResource("scale").Get(ctx, object, scale)).To(Succeed())
	return scale
}

// scaleAs scales as an autoscaler does: it reads the scale subresource and updates it.
func (s *space) scaleAs(ctx context.Context, manager string, object client.Object, replicas int32) {
	GinkgoHelper()
	Eventually(func() error {
		scale := s.scaleOf(ctx, object)
		scale.Spec.Replicas = replicas
		return env.Client.SubResource("scale").Update(ctx, object, client.WithSubResourceBody(scale), client.FieldOwner(manager))
	}).WithContext(ctx).Should(Succeed())
}
