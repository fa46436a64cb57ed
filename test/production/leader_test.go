package production

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// leaseDuration is short, for the sake of the tests' own time. What is proved does not depend on it.
const leaseDuration = 4 * time.Second

var leaseKey = client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "application-operator.application.mycompany.io"}

var _ = Describe("Two replicas", Ordered, func() {
	const applications = 20
	var (
		namespace string
		replicas  map[string]*cluster.Process
	)

	// Two replicas, of which one leads, at rest with some Applications.
	BeforeEach(func(ctx SpecContext) {
		namespace = newNamespace(ctx)
		replicas = map[string]*cluster.Process{}
		for _, name := range []string{"first", "second"} {
			replicas[name] = start(ctx, name, "--leader-elect", "--leader-election-namespace="+harness.OperatorNamespace,
				"--leader-election-lease-duration="+leaseDuration.String(), "--leader-election-renew-deadline=3s",
				"--watch-namespaces="+namespace, "--kube-api-qps=20", "--kube-api-burst=5")
		}
		atOnce(applications, func(i int) { apply(ctx, namespace, nameOf(i), "{image: registry.example/web:1, replicas: 1}") })
		eventuallyAllSynced(ctx, namespace, applications, "registry.example/web:1")
	})

	// takenOver waits for another holder of the Lease and returns when it got it.
	takenOver := func(ctx context.Context, from string) time.Time {
		GinkgoHelper()
		var lease *coordinationv1.Lease
		Eventually(func() string {
			lease = readLease(ctx)
			return ptr.Deref(lease.Spec.HolderIdentity, "")
		}).Should(And(Not(BeEmpty()), Not(Equal(from))))
		return lease.Spec.AcquireTime.Time
	}

	It("take over from a leader that was killed, within the lease duration and two seconds, with warm caches", func(ctx SpecContext) {
		leader, follower := roles()
		holder := ptr.Deref(readLease(ctx).Spec.HolderIdentity, "")
		before := mark()
		killed := time.Now()
		Expect(replicas[leader].Kill()).To(Succeed())
		took := takenOver(ctx, holder).Sub(killed)
		AddReportEntry("fail-over", took, ReportEntryVisibilityFailureOrVerbose)
		Expect(took).To(BeNumerically("<=", leaseDuration+2*time.Second))

		By("looking at what the take-over cost, which is nothing")
		apply(ctx, namespace, nameOf(0), "{image: registry.example/web:2, replicas: 1}")
		Eventually(imageOf(namespace, nameOf(0))).WithContext(ctx).Should(Equal("registry.example/web:2"))
		sent := requests(before, by(follower), cluster.Except(cluster.OnResource("leases"), cluster.OnResource("events")))
		for _, request := range sent {
			Expect(request.ObjectRef.Name).To(Equal(nameOf(0)), "about what was at rest: %s", request)
		}
		Expect(sent).NotTo(BeEmpty())
		// A watch is complete only when it ends: those that have begun are looked for, too.
		Expect(env.Audit().Since(before, by(follower), cluster.WithVerb("list", "watch"), cluster.Except(cluster.OnResource("leases")))).To(BeEmpty())
	})

	It("hand over at once when the leader is asked to stop", func(ctx SpecContext) {
		leader, _ := roles()
		holder := ptr.Deref(readLease(ctx).Spec.HolderIdentity, "")
		asked := time.Now()
		Expect(replicas[leader].Stop()).To(Succeed(), "it ends with 0")
		took := takenOver(ctx, holder).Sub(asked)
		AddReportEntry("hand-over", took, ReportEntryVisibilityFailureOrVerbose)
		Expect(took).To(BeNumerically("<", leaseDuration/2))
	})

	It("are never active together, not even when a frozen leader wakes up amid its work", func(ctx SpecContext) {
		leader, follower := roles()
		holder := ptr.Deref(readLease(ctx).Spec.HolderIdentity, "")

		By("freezing the leader while it works")
		before := mark()
		atOnce(applications, func(i int) { apply(ctx, namespace, nameOf(i), "{image: registry.example/web:2, replicas: 1}") })
		Eventually(func() cluster.Events { return operatorWrites(before, leader) }).ShouldNot(BeEmpty())
		Expect(syscall.Kill(replicas[leader].Pid(), syscall.SIGSTOP)).To(Succeed())
		takenOver(ctx, holder)
		eventuallyAllSynced(ctx, namespace, applications, "registry.example/web:2")
		Expect(len(operatorWrites(before, leader))).To(BeNumerically("<", 2*applications), "it was frozen before it was done")

		By("waking it up while the other works")
		atOnce(applications, func(i int) { apply(ctx, namespace, nameOf(i), "{image: registry.example/web:3, replicas: 1}") })
		woken := mark()
		Expect(syscall.Kill(replicas[leader].Pid(), syscall.SIGCONT)).To(Succeed())
		Eventually(replicas[leader].Done()).Should(BeClosed())
		Expect(replicas[leader].Err()).To(MatchError(ContainSubstring("exit status 1")))
		Expect(replicas[leader].LogTail()).To(ContainSubstring("leader election lost"))
		eventuallyAllSynced(ctx, namespace, applications, "registry.example/web:3")
		Expect(operatorWrites(woken, leader)).To(BeEmpty(), "it wrote beside the new leader")
		Expect(operatorWrites(woken, follower)).NotTo(BeEmpty())
	})
})

// operatorWrites are the writes of a replica to Applications and their children.
func operatorWrites(since cluster.Mark, replica string) cluster.Events {
	GinkgoHelper()
	return requests(since, by(replica), cluster.Writes(), cluster.Except(cluster.OnResource("leases"), cluster.OnResource("events")))
}

// roles tells the replicas apart: the one that renewed the Lease last leads.
func roles() (leader, follower string) {
	GinkgoHelper()
	Eventually(func() string {
		renewals := requests(0, cluster.ByUser(harness.OperatorUser), cluster.OnResource("leases"), cluster.WithVerb("update", "create"), cluster.WithCode(200, 201))
		if len(renewals) == 0 {
			return ""
		}
		groups := renewals[len(renewals)-1].User.Groups
		for _, pair := range [][2]string{{"first", "second"}, {"second", "first"}} {
			if slices.Contains(groups, pair[0]) {
				leader, follower = pair[0], pair[1]
			}
		}
		return leader
	}).ShouldNot(BeEmpty())
	return leader, follower
}

func readLease(ctx context.Context) *coordinationv1.Lease {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	Expect(env.Client.Get(ctx, leaseKey, lease)).To(Succeed())
	return lease
}

func imageOf(namespace, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		deployment := &appsv1.Deployment{}
		err := env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)
		if err != nil {
			return "", err
		}
		return deployment.Spec.Template.Spec.Containers[0].Image, nil
	}
}

// eventuallyAllSynced waits until n Applications have been applied with an image and say so.
func eventuallyAllSynced(ctx context.Context, namespace string, n int, image string) {
	GinkgoHelper()
	for i := range n {
		Eventually(imageOf(namespace, nameOf(i))).WithContext(ctx).Should(Equal(image))
		Eventually(synced(namespace, nameOf(i))).WithContext(ctx).Should(Equal("Synced"))
	}
}

// lines returns what a process has logged about a namespace.
func lines(process *cluster.Process, namespace string) []string {
	GinkgoHelper()
	var about []string
	for line := range strings.Lines(read(process.Log())) {
		if strings.Contains(line, namespace) {
			about = append(about, line)
		}
	}
	return about
}
