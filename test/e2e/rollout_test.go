package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// progressing is what Ready says on its way.
const progressing = "False " + v1alpha1.ReasonProgressing

var _ = Describe("Rolling out", func() {
	var (
		s *space
		w *witness
	)
	BeforeEach(func(ctx context.Context) {
		s = newSpace(ctx)
		w = s.watch()
	})

	It("turns an Application into serving pods and a Service that reaches them", func(ctx context.Context) {
		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 3, port: 8080, expose: ClusterIP")
		s.kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=120s", "applications.application.mycompany.io/web")

		By("believing nothing but the cluster itself")
		pods, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		Expect(pods).To(HaveLen(3))
		for _, pod := range pods {
			Expect(podReady(&pod)).To(BeTrue(), pod.Name)
			Expect(pod.Spec.Containers).To(HaveExactElements(HaveField("Image", "registry.example/web:1")))
		}
		s.kubectl(ctx, "rollout", "status", "deployment/web", "--timeout=1s")
		Eventually(s.readyEndpoints).WithContext(ctx).WithArguments("web").Should(HaveExactElements(8080, 8080, 8080))

		By("reading the Application's own account")
		app := s.expectReady(ctx, "web")
		Expect(conditionOf(app, v1alpha1.ConditionAvailable)).To(Equal("True MinimumReplicasAvailable"))
		Eventually(func(g Gomega) {
			status := s.application(ctx, "web").Status
			g.Expect(status.DeploymentStatus).To(HaveValue(Equal(s.deployment(ctx, "web").Status)))
			g.Expect(ptr.Deref(status.ServiceStatus, corev1.ServiceStatus{})).To(Equal(s.service(ctx, "web").Status))
		}).WithContext(ctx).Should(Succeed())
		Expect(w.course(ctx, s, "web", v1alpha1.ConditionReady)).To(HaveExactElements(progressing, rolledOut))
		Expect(w.phases(ctx, s, "web")).To(HaveExactElements(v1alpha1.PhasePending, v1alpha1.PhaseRunning))
		w.expectTruth(ctx, s, "web")
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ConsistOf("Normal Synced", "Normal RolledOut"))
	})

	It("waits while somebody has paused the Deployment, and says who", func(ctx context.Context) {
		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 1")
		s.expectReady(ctx, "web")
		s.kubectl(ctx, "rollout", "pause", "deployment/web")
		s.apply(ctx, "web", "image: 'registry.example/web:2', replicas: 1")
		Eventually(func() string { return s.application(ctx, "web").Status.Message }).WithContext(ctx).Should(Equal(
			`Deployment web is paused by field manager "kubectl-rollout": its roll-out goes on once its .spec.paused is no longer true`))
		s.expectCondition(ctx, "web", v1alpha1.ConditionReady, progressing)
		s.kubectl(ctx, "rollout", "resume", "deployment/web")
		s.expectReady(ctx, "web")
		w.expectTruth(ctx, s, "web")
	})

	It("rolls out a new image by one new ReplicaSet and is Ready only after it", func(ctx context.Context) {
		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 4, port: 8080, expose: ClusterIP")
		before := s.expectReady(ctx, "web")
		Expect(s.replicaSets(ctx, "web")).To(HaveLen(1))

		s.apply(ctx, "web", "image: 'registry.example/web:2', replicas: 4, port: 8080, expose: ClusterIP")
		s.kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=120s", "applications.application.mycompany.io/web")
		pods, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		Expect(pods).To(HaveLen(4))
		for _, pod := range pods {
			Expect(pod.Spec.Containers).To(HaveExactElements(HaveField("Image", "registry.example/web:2")))
		}
		s.kubectl(ctx, "rollout", "status", "deployment/web", "--timeout=1s")

		after := s.expectReady(ctx, "web")
		Expect(after.Generation).To(Equal(before.Generation + 1))
		Expect(s.replicaSets(ctx, "web")).To(HaveLen(2))
		Expect(w.course(ctx, s, "web", v1alpha1.ConditionReady)).To(HaveExactElements(
			progressing, rolledOut, progressing, rolledOut))
		Expect(w.course(ctx, s, "web", v1alpha1.ConditionSynced)).To(HaveExactElements("True Synced"))
		w.expectTruth(ctx, s, "web")
	})

	It("moves to another port, and each pod is reached on its own port meanwhile", func(ctx context.Context) {
		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 3, port: 8080, expose: ClusterIP")
		s.expectReady(ctx, "web")
		clusterIP := s.service(ctx, "web").Spec.ClusterIP

		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 3, port: 9090, expose: ClusterIP")
		s.expectReady(ctx, "web")
		service := s.service(ctx, "web")
		Expect(service.Spec.ClusterIP).To(Equal(clusterIP))
		Expect(service.Spec.Ports).To(HaveExactElements(And(
			HaveField("Name", v1alpha1.PortName),
			HaveField("Port", int32(9090)),
			HaveField("TargetPort", intstr.FromString(v1alpha1.PortName)),
		)))
		Expect(s.deployment(ctx, "web").Spec.Template.Spec.Containers[0].Ports).To(HaveExactElements(HaveField("ContainerPort", int32(9090))))
		Eventually(s.readyEndpoints).WithContext(ctx).WithArguments("web").Should(HaveExactElements(9090, 9090, 9090))
		Expect(s.replicaSets(ctx, "web")).To(HaveLen(2))
		w.expectTruth(ctx, s, "web")
	})

	It("is not Ready while pods are ready but have yet to prove themselves", func(ctx context.Context) {
		s.apply(ctx, "web", "image: 'registry.example/web:1', replicas: 2")
		s.expectReady(ctx, "web")
		expectRest(ctx) // nothing claims what the next change makes untrue
		s.applyAsPlatform(ctx, "web", "minReadySeconds: 2")
		s.apply(ctx, "web", "image: 'registry.example/web:2', replicas: 2")
		s.expectReady(ctx, "web")
		w.expectTruth(ctx, s, "web")
		Expect(s.deployment(ctx, "web").Spec.MinReadySeconds).To(BeEquivalentTo(2), "a field of somebody else survives")
	})

	It("tells the truth through a burst of changes", func(ctx context.Context) {
		specs := []string{
			"image: 'registry.example/web:1', replicas: 2",
			"image: 'registry.example/web:2', replicas: 4",
			"image: 'registry.example/web:3', replicas: 1",
			"image: 'registry.example/web:1', replicas: 3",
		}
		for _, spec := range specs {
			s.apply(ctx, "web", spec)
			// Only that the operator began, so that changes meet roll-outs half done.
			Eventually(func(g Gomega) {
				app := s.application(ctx, "web")
				g.Expect(app.Status.ObservedGeneration).To(Equal(app.Generation))
			}).WithContext(ctx).Should(Succeed())
		}
		s.expectReady(ctx, "web")
		w.expectTruth(ctx, s, "web")
		Expect(operatorWrites(begin, cluster.OnResource("deployments"))).To(HaveLen(len(specs)), "one apply for each change")
	})
})

// readyEndpoints returns the port of each endpoint of a Service that takes traffic.
func (s *space) readyEndpoints(ctx context.Context, service string) ([]int, error) {
	slices := &discoveryv1.EndpointSliceList{}
	err := env.Client.List(ctx, slices, client.InNamespace(s.name), client.MatchingLabels{discoveryv1.LabelServiceName: service})
	var ports []int
	for _, slice := range slices.Items {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready != nil && *endpoint.Conditions.Ready {
				ports = append(ports, int(*slice.Ports[0].Port))
			}
		}
	}
	return ports, err
}
