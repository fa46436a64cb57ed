package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("At rest", Ordered, func() {
	const (
		applications = 30
		idle         = time.Minute
		// watches may end by themselves, each every five minutes or so, and be started again.
		watches = 10
	)
	var s *space

	BeforeAll(func(ctx context.Context) {
		s = newSpace(ctx)
		since := mark()
		By("running a crowd of good Applications")
		for n := range applications {
			s.apply(ctx, fmt.Sprint("web-", n), "image: '"+goodImage+"', replicas: 1, port: 80, expose: ClusterIP")
		}
		By("having one in conflict, one whose name is taken and one that is paused")
		s.apply(ctx, "contested", "image: '"+goodImage+"', replicas: 1")
		s.apply(ctx, "paused", "image: '"+goodImage+"', replicas: 1")
		s.kubectl(ctx, "create", "deployment", "taken", "--image=registry.example/other:1")
		s.apply(ctx, "taken", "image: '"+goodImage+"'")
		for _, name := range []string{"contested", "paused"} {
			s.expectReady(ctx, name)
		}
		s.kubectl(ctx, "scale", "deployment/contested", "--replicas=2")
		s.apply(ctx, "paused", "image: 'registry.example/web:2', replicas: 1, paused: true")

		for n := range applications {
			s.expectReady(ctx, fmt.Sprint("web-", n))
		}
		Expect(operatorWrites(since, cluster.OnResource("services"))).To(HaveLen(applications), "each Service is applied once")
		Expect(operatorWrites(since, cluster.OnResource("deployments"))).To(HaveLen(applications+2), "each Deployment is applied once")
		s.expectCondition(ctx, "contested", v1alpha1.ConditionReady, "False "+v1alpha1.ReasonFieldConflict)
		s.expectCondition(ctx, "paused", v1alpha1.ConditionReady, "False "+v1alpha1.ReasonPaused)
		s.expectCondition(ctx, "taken", v1alpha1.ConditionReady, "False "+v1alpha1.ReasonResourceExists)
	})

	It("the operator asks for nothing", func(ctx context.Context) {
		expectRest(ctx)
		since := mark()
		Consistently(func() cluster.Events { return operatorRequests(since) }).
			WithContext(ctx).WithTimeout(idle).WithPolling(time.Second).Should(BeEmpty())
		watched := requestsOfAnyone(since, cluster.ByUser(harness.OperatorUser), cluster.WithVerb("watch"))
		Expect(len(watched)).To(BeNumerically("<=", watches), watched.String())
	})

	It("a restart writes nothing", func(ctx context.Context) {
		expectRest(ctx)
		since := mark()
		restartOperator(ctx)
		Expect(operatorRequests(since, cluster.Writes())).To(BeEmpty(), "neither a write nor an Event")
	})
})

// expectRest waits until the operator has had nothing to ask for some seconds.
func expectRest(ctx context.Context) {
	GinkgoHelper()
	last := begin
	Eventually(func() cluster.Events {
		since := last
		last = mark()
		return operatorRequests(since)
	}).WithContext(ctx).WithPolling(3 * time.Second).Should(BeEmpty())
}
