package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("An Application that shall no longer be exposed", func() {
	const (
		exposed   = "{image: registry.example/web:1, port: 8080, expose: ClusterIP}"
		unexposed = "{image: registry.example/web:1, port: 8080}"
	)

	It("loses its Service, by a delete that hits just the object that was seen", func(ctx SpecContext) {
		given(ctx, exposed)
		before := the(ctx, service)
		mark := now()

		By("removing expose")
		given(ctx, unexposed)
		eventuallyGone(ctx, theService())

		By("reading the request")
		deletes := writesSince(mark, cluster.WithVerb("delete"))
		Expect(deletes).To(HaveLen(1))
		Expect(deletes[0].RequestBody()).To(And(
			ContainSubstring(`"preconditions":{`),
			ContainSubstring(`"uid":"%s"`, before.UID),
			ContainSubstring(`"resourceVersion":"%s"`, before.ResourceVersion),
		))
		Expect(appliesTo("deployments", mark)).To(BeZero())
	})

	It("gets another when it is exposed again", func(ctx SpecContext) {
		given(ctx, exposed)
		first := the(ctx, service)
		given(ctx, unexposed)
		given(ctx, exposed)
		Expect(the(ctx, service).UID).NotTo(Equal(first.UID))
	})

	It("loses its Service although the operator was down meanwhile", func(ctx SpecContext) {
		given(ctx, exposed)

		By("removing expose while the operator is down")
		whileOperatorIsDown(ctx, func() { write(ctx, unexposed) })
		eventuallySynced(ctx)
		eventuallyGone(ctx, theService())
	})

	It("loses its Service although that has left the operator's cache", func(ctx SpecContext) {
		given(ctx, exposed)

		By("pausing, and removing the label by which the operator's cache selects")
		write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, paused: true}")
		Eventually(ctx, application).Should(haveCondition("Synced", "True", "Paused"))
		edit(ctx, "somebody", theService(), "{metadata: {labels: {owner: null}}}")
		Eventually(ctx, application).Should(haveCondition("Synced", "False", "Paused"))

		By("going on without expose")
		given(ctx, unexposed)
		eventuallyGone(ctx, theService())
	})

	It("loses its Service although that has left the cache and the first attempt fails", func(ctx SpecContext) {
		given(ctx, exposed)
		var grant func()
		whileOperatorIsDown(ctx, func() {
			edit(ctx, "somebody", theService(), "{metadata: {labels: {owner: null}}}")
			write(ctx, unexposed)
			grant = revoke(ctx, "delete", "", "services")
		})
		Eventually(ctx, application).Should(beForbidden("Service", `cannot delete resource "services"`))

		By("waiting for longer than any back-off: it is not forgotten")
		Consistently(ctx, application).WithTimeout(maxBackoff + quiet).Should(beForbidden("Service", `cannot delete resource "services"`))
		grant()
		eventuallySynced(ctx)
		eventuallyGone(ctx, theService())
	})

	It("keeps its hands off a Service that is not its own", func(ctx SpecContext) {
		By("making a Service of the Application's name by hand")
		applyService(ctx, "somebody", "spec: {ports: [{port: 80}]}")
		before := snapshot(the(ctx, service))

		By("writing an Application that wants none")
		given(ctx, unexposed)
		Consistently(ctx, service).Should(HaveField("ResourceVersion", before[1]))
	})
})
