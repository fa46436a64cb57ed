package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// lease is what the replicas of the operator compete for.
var lease = client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "application-operator.application.mycompany.io"}

var _ = Describe("Two replicas of the operator", func() {
	const applications = 5

	BeforeEach(func() {
		Expect(env.StopOperator()).To(Succeed())
		DeferCleanup(startOperator)
	})

	It("have one leader, who alone writes, and who hands over when asked to stop", func(ctx context.Context) {
		s := newSpace(ctx)
		w := s.watch()
		replicas := map[string]*cluster.Process{}
		for _, name := range []string{"replica-1", "replica-2"} {
			replica, err := env.StartReplica(ctx, name, "--leader-elect", "--leader-election-namespace="+harness.OperatorNamespace)
			Expect(err).NotTo(HaveOccurred())
			replicas[name] = replica
			DeferCleanup(replica.Stop)
		}
		change := func(image int) {
			for n := range applications {
				s.apply(ctx, fmt.Sprint("web-", n), fmt.Sprintf("image: 'registry.example/web:%d', replicas: 1, port: 80, expose: ClusterIP", image))
			}
			for n := range applications {
				s.expectReady(ctx, fmt.Sprint("web-", n))
			}
		}

		change(1)
		change(2)
		first := writers()
		Expect(first).To(HaveLen(1), "one replica writes, and it stays the same")

		By("stopping the leader gracefully")
		holder := leader(ctx)
		Expect(holder).NotTo(BeEmpty())
		Expect(replicas[first[0]].Stop()).To(Succeed())
		Expect(leader(ctx)).NotTo(Equal(holder), "it gave up the lease rather than let it run out")
		change(3)
		Expect(writers()).To(HaveExactElements(first[0], Not(Equal(first[0]))), "after the other has begun, the former leader writes no more")

		for n := range applications {
			w.expectOneLife(fmt.Sprint("web-", n))
			w.expectTruth(ctx, s, fmt.Sprint("web-", n))
		}
	})
})

// writers are the replicas that wrote in this spec, in the order of their writes, each run of writes once.
func writers() []string {
	GinkgoHelper()
	var names []string
	for _, e := range operatorWrites(begin) {
		for _, group := range e.User.Groups {
			if strings.HasPrefix(group, "replica-") {
				names = append(names, group)
			}
		}
	}
	return slices.Compact(names)
}

// leader is who holds the lease. It is empty if nobody does.
func leader(ctx context.Context) string {
	GinkgoHelper()
	held := &coordinationv1.Lease{}
	Expect(env.Client.Get(ctx, lease, held)).To(Succeed())
	return ptr.Deref(held.Spec.HolderIdentity, "")
}
