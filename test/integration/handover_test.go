package integration

import (
	"context"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

const (
	scaledSpec   = "{image: registry.example/web:1, replicas: 3}"
	unscaledSpec = "{image: registry.example/web:1}"
)

// counter sees every number of replicas that the Deployment of the story ever has.
type counter struct {
	mu   sync.Mutex
	seen []int32
	last string
}

// countReplicas begins to watch. It ends with the spec.
func countReplicas(ctx context.Context) *counter {
	GinkgoHelper()
	watcher, err := client.NewWithWatch(env.Config(), client.Options{Scheme: env.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	events, err := watcher.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	c := &counter{}
	var running sync.WaitGroup
	running.Go(func() {
		for event := range events.ResultChan() {
			if child, ok := event.Object.(*appsv1.Deployment); ok && child.Name == web {
				c.add(ptr.Deref(child.Spec.Replicas, -1), child.ResourceVersion)
			}
		}
	})
	DeferCleanup(func() {
		events.Stop()
		running.Wait()
	})
	return c
}

func (c *counter) add(replicas int32, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) == 0 || c.seen[len(c.seen)-1] != replicas {
		c.seen = append(c.seen, replicas)
	}
	c.last = version
}

// course returns the numbers so far, once everything up to now has been seen.
func (c *counter) course(ctx context.Context) []int32 {
	GinkgoHelper()
	version := the(ctx, deployment).ResourceVersion
	Eventually(func() string {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.last
	}).Should(Equal(version))
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]int32(nil), c.seen...)
}

// eventuallyOwned waits until just these managers own the replicas of the Deployment.
func eventuallyOwned(ctx context.Context, managers ...string) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) ([]string, error) {
		child, err := deployment(ctx)
		var owners []string
		for _, entry := range child.ManagedFields {
			if slices.Contains(owned(child, entry.Manager, entry.Operation, entry.Subresource), replicasField) {
				owners = append(owners, entry.Manager)
			}
		}
		return owners, err
	}).Should(ConsistOf(managers))
}

var _ = Describe("spec.replicas", func() {
	It("leaves the spec without a change of the count, and then is anybody's", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		counted, mark := countReplicas(ctx), now()

		By("removing it")
		given(ctx, unscaledSpec)
		eventuallyOwned(ctx, v1alpha1.FieldManagerHandover)
		Expect(counted.course(ctx)).To(Equal([]int32{3}))
		Expect(managersOfApplies(writesSince(mark, cluster.OnResource("deployments")))).To(Equal(
			[]string{v1alpha1.FieldManagerHandover, v1alpha1.FieldManager}))

		By("scaling, as people and as autoscalers do")
		rest := now()
		kubectl(ctx, "scale", "deployment/web", "--replicas=5")
		scale(ctx, "kube-controller-manager", 4)
		expectNoWrites(rest)
		Expect(the(ctx, application)).To(beSynced())
		eventuallyOwned(ctx, "kube-controller-manager")
		Expect(counted.course(ctx)).To(Equal([]int32{3, 5, 4}))
		expectNoFailures()
	})

	It("is just let go of if somebody else shares it: it has an owner", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		applyDeployment(ctx, "gitops", "spec: {replicas: 3}")
		counted, mark := countReplicas(ctx), now()
		given(ctx, unscaledSpec)
		eventuallyOwned(ctx, "gitops")
		Expect(counted.course(ctx)).To(Equal([]int32{3}))
		Expect(managersOfApplies(writesSince(mark, cluster.OnResource("deployments")))).To(Equal([]string{v1alpha1.FieldManager}))
	})

	It("comes back as gracefully if nobody took it", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		given(ctx, unscaledSpec)
		counted := countReplicas(ctx)

		By("setting it to what it is")
		given(ctx, scaledSpec)
		eventuallyOwned(ctx, v1alpha1.FieldManager)
		Expect(counted.course(ctx)).To(Equal([]int32{3}))

		By("removing it and setting it to another count")
		given(ctx, unscaledSpec)
		given(ctx, "{image: registry.example/web:1, replicas: 6}")
		eventuallyOwned(ctx, v1alpha1.FieldManager)
		Expect(counted.course(ctx)).To(Equal([]int32{3, 6}))
		waitForQuiet()
		Expect(the(ctx, deployment).ManagedFields).NotTo(ContainElement(HaveField("Manager", v1alpha1.FieldManagerHandover)))
		expectNoFailures()
	})

	It("goes and comes with other changes in the same edit", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		counted := countReplicas(ctx)
		given(ctx, "{image: registry.example/web:2, port: 8080}")
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))
		given(ctx, "{image: registry.example/web:3, replicas: 2}")
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Ports).To(BeEmpty())
		Expect(counted.course(ctx)).To(Equal([]int32{3, 2}))
	})

	It("FR-15: of 0 is not the same as no replicas, going and coming", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 0}")
		counted := countReplicas(ctx)
		given(ctx, unscaledSpec)
		eventuallyOwned(ctx, v1alpha1.FieldManagerHandover)
		given(ctx, "{image: registry.example/web:1, replicas: 0}")
		eventuallyOwned(ctx, v1alpha1.FieldManager)
		Expect(counted.course(ctx)).To(Equal([]int32{0}))
	})

	It("is contested, not fought over, while an autoscaler owns it", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		given(ctx, unscaledSpec)
		scale(ctx, "kube-controller-manager", 4)
		counted := countReplicas(ctx)
		write(ctx, scaledSpec)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kube-controller-manager", byUpdate, "scale")))
		waitForQuiet()
		Expect(counted.course(ctx)).To(Equal([]int32{4}))

		By("scaling further while that stands")
		scale(ctx, "kube-controller-manager", 5)
		Expect(the(ctx, application)).To(haveConflicts(onDeployment(replicasField, "kube-controller-manager", byUpdate, "scale")))
		given(ctx, unscaledSpec)
		Expect(counted.course(ctx)).To(Equal([]int32{4, 5}))
		expectNoFailures()
	})

	It("stays at the 0 that somebody scaled it to, although that leaves no owner", func(ctx SpecContext) {
		byScaling := onDeployment(replicasField, "", byUpdate, "scale")
		given(ctx, scaledSpec)
		counted := countReplicas(ctx)
		kubectl(ctx, "scale", "deployment/web", "--replicas=0")
		eventuallyOwned(ctx)
		Eventually(ctx, application).Should(And(
			haveConflicts(byScaling),
			haveCondition("Synced", "False", v1alpha1.ReasonFieldConflict, ContainSubstring("nobody on record")),
		))

		By("changing something else, and starting anew")
		write(ctx, "{image: registry.example/web:2, replicas: 3}")
		whileOperatorIsDown(ctx, func() {})
		waitForQuiet()
		Expect(the(ctx, application)).To(haveConflicts(byScaling))

		By("leaving the count to whoever scales")
		write(ctx, "{image: registry.example/web:2, replicas: 3, conflictPolicy: Yield}")
		Eventually(ctx, application).Should(haveCondition("Synced", "True", v1alpha1.ReasonFieldsYielded, ContainSubstring("nobody on record")))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))

		By("scaling back to what is wanted")
		kubectl(ctx, "scale", "deployment/web", "--replicas=3")
		eventuallySynced(ctx)
		eventuallyOwned(ctx, v1alpha1.FieldManager)

		By("scaling to zero once more, and agreeing")
		kubectl(ctx, "scale", "deployment/web", "--replicas=0")
		Eventually(ctx, application).Should(HaveField("Status.Conflicts", ConsistOf(byScaling)))
		given(ctx, "{image: registry.example/web:2, replicas: 0}")
		eventuallyOwned(ctx, v1alpha1.FieldManager)
		Expect(counted.course(ctx)).To(Equal([]int32{3, 0, 3, 0}))
		expectNoFailures()
	})

	It("is taken from an autoscaler that the API server has no record of, whose next write then is contested", func(ctx SpecContext) {
		By("scaling what nobody owns: an Update through /scale is recorded only if somebody has an entry already")
		given(ctx, unscaledSpec)
		scale(ctx, "kube-controller-manager", 4)
		eventuallyOwned(ctx)
		given(ctx, scaledSpec)
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(3)))

		scale(ctx, "kube-controller-manager", 4)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kube-controller-manager", byUpdate, "scale")))
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
	})

	It("can be changed through the Application's own scale, without a conflict", func(ctx SpecContext) {
		given(ctx, scaledSpec)
		counted := countReplicas(ctx)
		kubectl(ctx, "scale", "appl/web", "--replicas=5")
		eventuallySynced(ctx)
		eventuallyOwned(ctx, v1alpha1.FieldManager)

		By("doing so where the spec had none")
		Expect(env.MergeYAML(ctx, "kubectl-edit", theApplication(), "{spec: {replicas: null}}")).To(Succeed())
		eventuallySynced(ctx)
		kubectl(ctx, "scale", "appl/web", "--replicas=2")
		eventuallySynced(ctx)
		eventuallyOwned(ctx, v1alpha1.FieldManager)
		Expect(counted.course(ctx)).To(Equal([]int32{3, 5, 2}))
	})
})

// managersOfApplies returns the field managers of requests, in their order.
func managersOfApplies(requests cluster.Events) []string {
	var managers []string
	for _, request := range requests {
		managers = append(managers, request.FieldManager())
	}
	return managers
}
