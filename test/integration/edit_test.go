package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("An edited Application", func() {
	It("changes just the child that the edit is about", func(ctx SpecContext) {
		By("exposing a program")
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP}")
		before := the(ctx, service)
		mark := now()

		By("writing another image")
		given(ctx, "{image: registry.example/web:2, port: 8080, expose: ClusterIP}")
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))

		By("reading the request: it can hit no other object than the one that was seen")
		applies := writesSince(mark, cluster.OnResource("deployments"))
		Expect(applies).To(HaveLen(1))
		Expect(applies[0].RequestBody()).To(ContainSubstring(`"uid":"%s"`, the(ctx, deployment).UID))

		By("looking whether the Service was left alone")
		Expect(appliesTo("services", mark)).To(BeZero())
		Expect(snapshot(the(ctx, service))).To(Equal(snapshot(before)))
	})

	It("renumbers the port of container and Service, which keeps its address", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: NodePort}")
		before := the(ctx, service)

		By("writing another port")
		given(ctx, "{image: registry.example/web:1, port: 9090, expose: NodePort}")
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Ports).To(ConsistOf(
			corev1.ContainerPort{Name: "app", ContainerPort: 9090, Protocol: corev1.ProtocolTCP}))
		after := the(ctx, service)
		Expect(after.Spec.Ports).To(ConsistOf(HaveField("Port", BeEquivalentTo(9090))))
		Expect(after.Spec.ClusterIP).To(Equal(before.Spec.ClusterIP))
		Expect(after.UID).To(Equal(before.UID))
	})

	It("moves the Service between its types, back and forth, in place", func(ctx SpecContext) {
		expose := func(kind corev1.ServiceType) *corev1.Service {
			given(ctx, fmt.Sprintf("{image: registry.example/web:1, port: 8080, expose: %s}", kind))
			service := the(ctx, service)
			Expect(service.Spec.Type).To(Equal(kind))
			return service
		}
		first := expose(corev1.ServiceTypeClusterIP)
		for _, kind := range []corev1.ServiceType{
			corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeClusterIP,
			corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort, corev1.ServiceTypeClusterIP,
		} {
			By("exposing it as " + string(kind))
			next := expose(kind)
			Expect(next.UID).To(Equal(first.UID))
			Expect(next.Spec.ClusterIP).To(Equal(first.Spec.ClusterIP))
		}

		By("doing so after others have pinned the node port and chosen a traffic policy")
		expose(corev1.ServiceTypeNodePort)
		edit(ctx, "network-team", theService(), "{spec: {externalTrafficPolicy: Local, ports: [{port: 8080, nodePort: 30123}]}}")
		balanced := expose(corev1.ServiceTypeLoadBalancer)
		Expect(balanced.Spec.ExternalTrafficPolicy).To(Equal(corev1.ServiceExternalTrafficPolicyLocal))
		Expect(balanced.Spec.Ports[0].NodePort).To(BeEquivalentTo(30123))
		Expect(expose(corev1.ServiceTypeClusterIP).UID).To(Equal(first.UID))
	})

	It("leaves replicas to others when it does not speak of them", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")

		By("scaling the Deployment as an autoscaler does")
		scale(ctx, "kube-controller-manager", 4)

		By("writing another image")
		given(ctx, "{image: registry.example/web:2}")
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
		Expect(ownedByOperator(the(ctx, deployment))).NotTo(ContainElement(replicasField))
	})

	It("may want no pods at all, which is not the same as not to say", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 0}")
		child := the(ctx, deployment)
		Expect(child.Spec.Replicas).To(HaveValue(BeEquivalentTo(0)))
		Expect(ownedByOperator(child)).To(ContainElement(replicasField))

		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition("Ready", "True", "RolledOut", ContainSubstring("scaled to zero")))
	})
})
