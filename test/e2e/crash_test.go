package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("A crash", func() {
	const (
		applications = 20
		crashes      = 5
	)

	It("in mid-work loses, doubles and replaces nothing", func(ctx context.Context) {
		s := newSpace(ctx)
		w := s.watch()
		random := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0))

		for crash := range crashes {
			writes := 1 + random.IntN(applications)
			work := mark()
			s.changeAll(ctx, applications, crash)
			By(fmt.Sprintf("killing the operator after %d writes of change %d", writes, crash))
			Eventually(func() int {
				return len(operatorWrites(work, cluster.InNamespace(s.name)))
			}).WithContext(ctx).WithPolling(time.Millisecond).Should(BeNumerically(">=", writes))
			env.KillOperator()
			startOperator(ctx)
		}
		s.changeAll(ctx, applications, crashes)

		for n := range applications {
			name := fmt.Sprint("web-", n)
			app := s.expectReady(ctx, name)
			s.expectOwnership(ctx, app)
			w.expectTruth(ctx, s, name)
			w.expectOneLife(name)
		}
		for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.ServiceList{}} {
			Expect(env.Client.List(ctx, list, client.InNamespace(s.name))).To(Succeed())
			Expect(list).To(HaveField("Items", HaveLen(applications)))
		}
	})
})

// changeAll changes all Applications of a crowd at once: each change adds, changes and removes fields.
func (s *space) changeAll(ctx context.Context, applications, change int) {
	GinkgoHelper()
	var running sync.WaitGroup
	for n := range applications {
		running.Go(func() {
			defer GinkgoRecover()
			spec := fmt.Sprintf("image: 'registry.example/web:%d', port: %d, expose: ClusterIP, env: [{name: CHANGE_%d, value: x}]", change, 8080+change, change)
			if change%2 == 0 {
				spec += ", replicas: 1"
			}
			s.apply(ctx, fmt.Sprint("web-", n), spec)
		})
	}
	running.Wait()
}
