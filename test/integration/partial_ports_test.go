package integration

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// port is a port of the container and of the Service.
type port struct {
	name     string
	number   int32
	protocol corev1.Protocol
}

func (p port) key() string { return fmt.Sprintf("%d/%s", p.number, p.protocol) }

// portsSpec is a spec with these ports in both partial objects. TCP is left to the default.
func portsSpec(expose string, ports ...port) string {
	var container, service []string
	for _, p := range ports {
		protocol := ""
		if p.protocol != corev1.ProtocolTCP {
			protocol = ", protocol: " + string(p.protocol)
		}
		container = append(container, fmt.Sprintf("{name: %s, containerPort: %d%s}", p.name, p.number, protocol))
		service = append(service, fmt.Sprintf("{name: %s, port: %d%s}", p.name, p.number, protocol))
	}
	return fmt.Sprintf("{image: registry.example/web:1, port: 8080, expose: %s, "+
		"deployment: {spec: {template: {spec: {containers: [{name: app, ports: [%s]}]}}}}, service: {spec: {ports: [%s]}}}",
		expose, strings.Join(container, ", "), strings.Join(service, ", "))
}

// expectPorts claims that both children have just these ports besides the main one, and returns the Service's node ports.
func expectPorts(ctx context.Context, ports ...port) map[string]int32 {
	GinkgoHelper()
	wanted := append([]port{{"app", 8080, corev1.ProtocolTCP}}, ports...)
	var inContainer, inService []port
	for _, p := range podSpec(ctx).Containers[0].Ports {
		inContainer = append(inContainer, port{p.Name, p.ContainerPort, p.Protocol})
	}
	nodePorts := map[string]int32{}
	for _, p := range the(ctx, service).Spec.Ports {
		inService = append(inService, port{p.Name, p.Port, p.Protocol})
		nodePorts[port{p.Name, p.Port, p.Protocol}.key()] = p.NodePort
	}
	Expect(inContainer).To(ConsistOf(wanted))
	Expect(inService).To(ConsistOf(wanted))
	return nodePorts
}

var _ = Describe("FR-17: ports of one number", func() {
	const tcp, udp = corev1.ProtocolTCP, corev1.ProtocolUDP

	It("do not lose each other, in either child, when one is added, removed, renamed or gets another protocol", func(ctx SpecContext) {
		var before map[string]int32
		for _, ports := range [][]port{
			{{"dns", 53, tcp}},
			{{"dns", 53, tcp}, {"dns-udp", 53, udp}},
			{{"dns-udp", 53, udp}},
			{{"dns-udp", 53, udp}, {"dns", 53, tcp}},
			{{"dns-udp", 53, udp}, {"dns-tcp", 53, tcp}},
			{{"dns-tcp", 53, tcp}},
			{{"dns-tcp", 53, udp}},
			{{"dns-tcp", 53, tcp}, {"dns", 53, udp}},
			{{"dns", 53, tcp}, {"dns-tcp", 53, udp}},
		} {
			By(fmt.Sprint("wanting ", ports))
			given(ctx, portsSpec("NodePort", ports...))
			after := expectPorts(ctx, ports...)
			for key, nodePort := range before {
				if _, stays := after[key]; stays {
					Expect(after).To(HaveKeyWithValue(key, nodePort), "the node port of one that stays")
				}
			}
			before = after
		}
		expectNoFailures()
	})

	It("may be the main port's: the other protocol stands beside it", func(ctx SpecContext) {
		given(ctx, portsSpec("ClusterIP", port{"app-udp", 8080, udp}))
		expectPorts(ctx, port{"app-udp", 8080, udp})
		given(ctx, portsSpec("ClusterIP"))
		expectPorts(ctx)
		expectNoFailures()
	})
})

var _ = Describe("FR-19: a Service with a partial one over it", func() {
	It("moves between all types, keeps its address, and rests in between", func(ctx SpecContext) {
		partials := map[string]string{
			"ClusterIP":    "metadata: {annotations: {example.com/pool: a}}, spec: {sessionAffinity: ClientIP, ports: [{name: more, port: 9090}]}",
			"NodePort":     "spec: {externalTrafficPolicy: Local, ports: [{name: more, port: 9090}, {port: 8080, nodePort: 30457}]}",
			"LoadBalancer": "spec: {externalTrafficPolicy: Local, loadBalancerSourceRanges: [192.0.2.0/24], ports: [{name: more, port: 9090}, {port: 8080, nodePort: 30457}]}",
		}
		address := ""
		for _, expose := range []string{"ClusterIP", "NodePort", "LoadBalancer", "ClusterIP", "LoadBalancer", "NodePort", "ClusterIP"} {
			By("exposing it as " + expose)
			given(ctx, fmt.Sprintf("{image: registry.example/web:1, port: 8080, expose: %s, service: {%s}}", expose, partials[expose]))
			live := the(ctx, service)
			Expect(live.Spec.Type).To(BeEquivalentTo(expose))
			Expect(live.Spec.Ports).To(ConsistOf(HaveField("Name", "app"), HaveField("Name", "more")))
			if expose == "ClusterIP" {
				Expect(live.Spec.Ports).To(HaveEach(HaveField("NodePort", BeZero())))
				Expect(live.Spec.ExternalTrafficPolicy).To(BeEmpty())
			} else {
				Expect(live.Spec.Ports).To(ContainElement(HaveField("NodePort", BeEquivalentTo(30457))))
				Expect(live.Spec.ExternalTrafficPolicy).To(Equal(corev1.ServiceExternalTrafficPolicyLocal))
				Expect(live.Spec.SessionAffinity).To(Equal(corev1.ServiceAffinityNone))
			}
			if address == "" {
				address = live.Spec.ClusterIP
			}
			Expect(live.Spec.ClusterIP).To(Equal(address))
			mark := now()
			for n := range 5 {
				touch(ctx, fmt.Sprint(expose, n))
			}
			Consistently(func() int { return len(writesSince(mark)) }).WithTimeout(quiet / 2).Should(BeZero())
		}
		expectNoFailures()
	})

	It("says in the API server's words which of its fields does not suit the type", func(ctx SpecContext) {
		given(ctx, partialService("NodePort", "{externalTrafficPolicy: Local}"))
		write(ctx, partialService("ClusterIP", "{externalTrafficPolicy: Local}"))
		Eventually(ctx, application).Should(haveCondition("Synced", "False", "Invalid", ContainSubstring("spec.externalTrafficPolicy")))
		given(ctx, partialService("ClusterIP", "{}"))
	})

	It("keeps node ports when one port is renumbered and when two swap their numbers", func(ctx SpecContext) {
		ports := func(one, two int) string {
			return partialService("NodePort", fmt.Sprintf("{ports: [{name: one, port: %d}, {name: two, port: %d}]}", one, two))
		}
		nodePorts := func() (list []int32) {
			for _, port := range the(ctx, service).Spec.Ports {
				list = append(list, port.NodePort)
			}
			return list
		}
		given(ctx, ports(9001, 9002))
		before := nodePorts()
		given(ctx, ports(9003, 9002))
		Expect(nodePorts()).To(ContainElements(before[0], before[2]), "those of the other ports")
		before = nodePorts()
		given(ctx, ports(9002, 9003))
		Expect(nodePorts()).To(ConsistOf(before))
		Expect(the(ctx, service).Spec.Ports).To(ConsistOf(
			And(HaveField("Name", "app"), HaveField("Port", BeEquivalentTo(8080))),
			And(HaveField("Name", "one"), HaveField("Port", BeEquivalentTo(9002))),
			And(HaveField("Name", "two"), HaveField("Port", BeEquivalentTo(9003)))))
		expectNoFailures()
	})
})
