package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

var _ = Describe("Events", func() {
	It("tell of transitions, each once", func(ctx SpecContext) {
		By("going from nothing to Ready")
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		rollOut(ctx)
		Eventually(ctx, reasons).Should(ConsistOf("Normal Synced", "Normal RolledOut"))

		By("going through a conflict")
		scale(ctx, "kubectl", 5)
		Eventually(ctx, reasons).Should(ConsistOf("Normal Synced", "Normal RolledOut", "Warning FieldConflict"))
		mark := now()

		By("giving the operator reasons to repeat itself")
		for _, value := range []string{"1", "2", "3"} {
			touch(ctx, value)
			kubectl(ctx, "annotate", "--overwrite", "deployment/web", "note="+value)
		}
		whileOperatorIsDown(ctx, func() {})
		Consistently(func() int { return eventWritesSince(mark) }).Should(BeZero())

		By("ending it")
		scale(ctx, "kubectl", 2)
		rollOut(ctx)
		Eventually(ctx, reasons).Should(HaveLen(5))
		Expect(reasons(ctx)).To(ConsistOf("Normal Synced", "Normal Synced", "Normal RolledOut", "Normal RolledOut", "Warning FieldConflict"))

		By("looking at one as kubectl describe does")
		Expect(kubectl(ctx, "describe", "applications.application.mycompany.io", web)).To(MatchRegexp(
			`Warning +FieldConflict .*application-operator +.*Deployment web is left as it is`))
	})

	It("tell of a refusal, of an invalid spec, of a pause", func(ctx SpecContext) {
		applyService(ctx, "somebody", foreignService)
		write(ctx, exposedSpec)
		Eventually(ctx, reasons).Should(ConsistOf("Warning ResourceExists"))
		write(ctx, `{image: registry.example/web:1, env: [{name: "A=B", value: c}]}`)
		Eventually(ctx, reasons).Should(ConsistOf("Warning ResourceExists", "Warning Invalid"))
		write(ctx, `{image: registry.example/web:1, paused: true}`)
		Eventually(ctx, reasons).Should(ConsistOf("Warning ResourceExists", "Warning Invalid", "Normal Paused"))
	})
})

// reasons lists the type and the reason of every Event about the Application. A repeated one fails the spec.
func reasons(ctx context.Context) ([]string, error) {
	GinkgoHelper()
	list := &eventsv1.EventList{}
	if err := env.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var all []string
	for _, event := range list.Items {
		if event.Regarding.Kind == "Service" {
			continue // the API server's own, about the addresses that it allocates
		}
		Expect(event.Regarding).To(And(HaveField("Kind", v1alpha1.Kind), HaveField("Name", web), HaveField("APIVersion", v1alpha1.SchemeGroupVersion.String())))
		Expect(event.Series).To(BeNil(), "repeated: %s", event.Note)
		all = append(all, event.Type+" "+event.Reason)
	}
	return all, nil
}
