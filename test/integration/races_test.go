package integration

import (
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("Races that are no matter of ownership", func() {
	// neverConflicted claims that nobody was ever told of a conflict.
	neverConflicted := func(ctx SpecContext) {
		GinkgoHelper()
		for _, write := range writesSince(begin, cluster.OnResource("applications/status")) {
			Expect(write.RequestBody()).NotTo(ContainSubstring(v1alpha1.ReasonFieldConflict))
		}
		Expect(reasons(ctx)).NotTo(ContainElement(ContainSubstring(v1alpha1.ReasonFieldConflict)))
	}

	It("FR-10: pass quietly: labels of the Application that change while its status is written", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:0}")
		for i := range 60 {
			touch(ctx, strconv.Itoa(i))
			if i%6 == 0 {
				write(ctx, fmt.Sprintf("{image: registry.example/web:%d}", i+1))
			}
		}
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:55"))
		neverConflicted(ctx)
	})

	It("FR-10: pass quietly: a child that is deleted while it is changed", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:0, port: 8080, expose: ClusterIP}")
		for i := range 30 {
			write(ctx, fmt.Sprintf("{image: registry.example/web:%d, port: %d, expose: ClusterIP}", i+1, 8081+i))
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, theDeployment()))).To(Succeed())
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, theService()))).To(Succeed())
		}
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:30"))
		Expect(the(ctx, service).Spec.Ports[0].Port).To(BeEquivalentTo(8110))
		neverConflicted(ctx)
	})

	It("FR-25: make nothing for an Application that is gone, and its successor's children are its own", func(ctx SpecContext) {
		for i := range 20 {
			write(ctx, fmt.Sprintf("{image: registry.example/web:%d, port: 8080, expose: ClusterIP}", i))
			Expect(env.Client.Delete(ctx, theApplication())).To(Succeed())
			// In place of the garbage collector.
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, theDeployment()))).To(Succeed())
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, theService()))).To(Succeed())
		}
		write(ctx, "{image: registry.example/web:last, port: 8080, expose: ClusterIP}")
		By("collecting what was made a moment too late, if anything was")
		Eventually(ctx, func(g Gomega, ctx SpecContext) {
			app, err := application(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			for _, child := range []client.Object{theDeployment(), theService()} {
				g.Expect(env.Client.Get(ctx, key(), child)).To(Succeed())
				if child.GetOwnerReferences()[0].UID != app.UID {
					g.Expect(env.Client.Delete(ctx, child)).To(Succeed())
				}
				g.Expect(child.GetOwnerReferences()[0].UID).To(Equal(app.UID))
			}
			g.Expect(app).To(beSynced())
		}).WithArguments(ctx).Should(Succeed())
		neverConflicted(ctx)
	})
})
