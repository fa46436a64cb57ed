package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// startAutoscaler runs the HorizontalPodAutoscaler's controller, until the spec ends. Without metrics it still keeps what
// it scales between the least and the largest number of replicas.
func startAutoscaler() {
	GinkgoHelper()
	kubeconfig, err := env.KubeconfigFor("system:kube-controller-manager")
	Expect(err).NotTo(HaveOccurred())
	kubectl, err := cluster.KubectlPath()
	Expect(err).NotTo(HaveOccurred())
	process, err := env.StartProcess(cluster.ProcessOptions{
		Name: "autoscaler-" + string(rune('a'+GinkgoParallelProcess())),
		Path: filepath.Join(filepath.Dir(kubectl), "kube-controller-manager"),
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			"--controllers=horizontal-pod-autoscaler-controller",
			"--horizontal-pod-autoscaler-sync-period=1s",
			"--use-service-account-credentials=true",
			"--leader-elect=false",
			"--secure-port=0",
		},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		_ = process.Kill() // its end is all that counts
		<-process.Done()
	})
}

// autoscale keeps what is named between two numbers of replicas.
func (s *space) autoscale(ctx context.Context, target string, least, largest int) {
	GinkgoHelper()
	Expect(env.ApplyYAML(ctx, userManager, s.name, fmt.Sprintf(`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web},
		spec: {scaleTargetRef: {%s, name: web}, minReplicas: %d, maxReplicas: %d}}`, target, least, largest))).To(Succeed())
}

// counts returns the numbers of replicas that the Deployment of a name ever had, each as often as it was reached.
func (w *witness) counts(ctx context.Context, s *space, name string) []int32 {
	GinkgoHelper()
	w.catchUp(ctx, s)
	var counts []int32
	for _, version := range history[*appsv1.Deployment](w.deployments, name) {
		counts = append(counts, ptr.Deref(version.Spec.Replicas, -1))
	}
	return slices.Compact(counts)
}

var _ = Describe("Handing over the number of replicas", func() {
	const (
		scaled        = "image: '" + goodImage + "', replicas: 3"
		unscaled      = "image: '" + goodImage + "'"
		toDeployment  = "apiVersion: apps/v1, kind: Deployment"
		toApplication = "apiVersion: application.mycompany.io/v1alpha1, kind: Application"
	)
	var (
		s *space
		w *witness
	)
	BeforeEach(func(ctx context.Context) {
		s = newSpace(ctx)
		w = s.watch()
	})

	It("to people and an autoscaler costs no pod, and they scale without a conflict", func(ctx context.Context) {
		s.apply(ctx, "web", scaled)
		s.expectReady(ctx, "web")
		pods, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())

		By("removing replicas from the spec")
		s.apply(ctx, "web", unscaled)
		s.expectReady(ctx, "web")
		Eventually(func() []string { return managersOf(s.deployment(ctx, "web"), "spec", "replicas") }).WithContext(ctx).
			Should(HaveExactElements(v1alpha1.FieldManagerHandover + " Apply"))
		now, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		Expect(uids(now)).To(ConsistOf(uids(pods)))
		Expect(w.counts(ctx, s, "web")).To(HaveExactElements(int32(3)))

		By("scaling by kubectl, then by a HorizontalPodAutoscaler")
		scaling := mark()
		s.kubectl(ctx, "scale", "deployment/web", "--replicas=4")
		s.expectReady(ctx, "web")
		startAutoscaler()
		s.autoscale(ctx, toDeployment, 6, 8)
		Eventually(s.pods).WithContext(ctx).WithArguments("web").Should(HaveLen(6))
		s.expectReady(ctx, "web")
		Expect(managersOf(s.deployment(ctx, "web"), "spec", "replicas")).To(HaveExactElements(autoscaler + " Update scale"))
		Expect(operatorWrites(scaling, cluster.OnResource("deployments"))).To(BeEmpty())

		By("FR-15: changing the image, which leaves the number alone")
		s.apply(ctx, "web", "image: 'registry.example/web:2'")
		s.expectReady(ctx, "web")
		Expect(w.counts(ctx, s, "web")).To(HaveExactElements(int32(3), int32(4), int32(6)))

		By("setting replicas while the autoscaler has them: a conflict, not a fight")
		s.apply(ctx, "web", scaled)
		s.expectConflict(ctx, "web", ".spec.replicas", autoscaler, "scale")
		Expect(w.counts(ctx, s, "web")).To(HaveExactElements(int32(3), int32(4), int32(6)))
	})

	It("comes back to the spec without another number in between", func(ctx context.Context) {
		s.apply(ctx, "web", scaled)
		s.expectReady(ctx, "web")
		s.apply(ctx, "web", unscaled)
		s.expectReady(ctx, "web")
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 5")
		app := s.expectReady(ctx, "web")
		s.expectOwnership(ctx, app)
		Expect(managersOf(s.deployment(ctx, "web"), "spec", "replicas")).To(HaveExactElements(v1alpha1.FieldManager + " Apply"))
		Expect(w.counts(ctx, s, "web")).To(HaveExactElements(int32(3), int32(5)))
	})

	It("is not needed for an autoscaler of the Application itself", func(ctx context.Context) {
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 2")
		s.expectReady(ctx, "web")
		startAutoscaler()
		s.autoscale(ctx, toApplication, 4, 6)
		Eventually(s.pods).WithContext(ctx).WithArguments("web").Should(HaveLen(4))
		app := s.expectReady(ctx, "web")
		Expect(app.Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
		Expect(managersOf(app, "spec", "replicas")).To(ContainElement(autoscaler + " Update scale"))
		s.expectOwnership(ctx, app)
		Expect(w.course(ctx, s, "web", v1alpha1.ConditionSynced)).To(HaveExactElements("True Synced"), "never a conflict")
		Expect(w.counts(ctx, s, "web")).To(HaveExactElements(int32(2), int32(4)))
	})
})
