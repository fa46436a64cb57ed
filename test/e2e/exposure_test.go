package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("Exposure", func() {
	It("FR-19: moves between all types, keeps the address, and rests in between", func(ctx context.Context) {
		const clusterIP, nodePort, loadBalancer = corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer
		s := newSpace(ctx)
		w := s.watch()
		spec := func(expose corev1.ServiceType) string {
			return fmt.Sprintf("image: '%s', replicas: 1, port: 80, expose: %s", goodImage, expose)
		}
		s.apply(ctx, "web", spec(clusterIP))
		s.expectReady(ctx, "web")
		before := s.service(ctx, "web")

		// Each of the six moves, once.
		for _, to := range []corev1.ServiceType{nodePort, loadBalancer, clusterIP, loadBalancer, nodePort, clusterIP} {
			from := before.Spec.Type
			By(fmt.Sprintf("moving from %s to %s", from, to))
			moved := mark()
			s.apply(ctx, "web", spec(to))
			app := s.expectReady(ctx, "web")
			after := s.service(ctx, "web")
			Expect(after.Spec.Type).To(Equal(to))
			Expect(after.UID).To(Equal(before.UID))
			Expect(after.Spec.ClusterIPs).To(Equal(before.Spec.ClusterIPs))
			Expect(after.Spec.Ports).To(HaveLen(1))
			switch port, old := after.Spec.Ports[0].NodePort, before.Spec.Ports[0].NodePort; {
			case to == clusterIP:
				Expect(port).To(BeZero())
			case from == clusterIP:
				Expect(port).NotTo(BeZero())
			default:
				Expect(port).To(Equal(old), "the server keeps the node port")
			}
			Expect(operatorWrites(moved, cluster.OnResource("services"))).To(HaveLen(1))
			s.expectOwnership(ctx, app)

			rest := mark()
			s.forceReconciles(ctx, "web", 5)
			Expect(operatorWrites(rest)).To(BeEmpty())
			Expect(s.service(ctx, "web").ResourceVersion).To(Equal(after.ResourceVersion))
			before = after
		}
		w.expectOneLife("web")
	})

	It("shows the address of a load balancer only while there is one", func(ctx context.Context) {
		s := newSpace(ctx)
		s.apply(ctx, "web", "image: '"+goodImage+"', port: 80, expose: LoadBalancer")
		s.expectReady(ctx, "web")
		ingress := func() []corev1.LoadBalancerIngress {
			return ptr.Deref(s.application(ctx, "web").Status.ServiceStatus, corev1.ServiceStatus{}).LoadBalancer.Ingress
		}
		Expect(ingress()).To(BeEmpty())

		By("playing the cloud")
		service := s.service(ctx, "web")
		service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.7"}}
		Expect(env.Client.Status().Update(ctx, service)).To(Succeed())
		Eventually(ingress).WithContext(ctx).Should(HaveExactElements(HaveField("IP", "192.0.2.7")))

		s.apply(ctx, "web", "image: '"+goodImage+"', port: 80, expose: ClusterIP")
		s.expectReady(ctx, "web")
		Eventually(ingress).WithContext(ctx).Should(BeEmpty())
		Expect(s.service(ctx, "web").Status.LoadBalancer.Ingress).To(BeEmpty())
	})

	It("ends with the Service when it is no longer asked for, and begins anew with another", func(ctx context.Context) {
		s := newSpace(ctx)
		w := s.watch()
		s.apply(ctx, "web", "image: '"+goodImage+"', port: 80, expose: NodePort")
		s.expectReady(ctx, "web")
		pods, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())

		s.apply(ctx, "web", "image: '"+goodImage+"', port: 80")
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &corev1.Service{}).Should(BeFalse())
		Eventually(func() any { return s.application(ctx, "web").Status.ServiceStatus }).WithContext(ctx).Should(BeNil())
		s.expectReady(ctx, "web")

		s.apply(ctx, "web", "image: '"+goodImage+"', port: 80, expose: ClusterIP")
		Eventually(s.exists).WithContext(ctx).WithArguments("web", &corev1.Service{}).Should(BeTrue())
		s.expectReady(ctx, "web")
		Expect(s.service(ctx, "web").Spec.Type).To(Equal(corev1.ServiceTypeClusterIP))
		w.catchUp(ctx, s)
		Expect(w.services.lives("web")).To(HaveLen(2))
		now, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		Expect(uids(now)).To(ConsistOf(uids(pods)), "no pod was restarted")
	})
})
