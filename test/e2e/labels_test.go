package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("Labels of an Application", func() {
	It("FR-22: never reach a selector, and neither they nor a new operator restart a pod", func(ctx context.Context) {
		s := newSpace(ctx)
		s.apply(ctx, "web", "image: '"+goodImage+"', replicas: 2, port: 80, expose: ClusterIP")
		s.expectReady(ctx, "web")
		pods, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		deployment, service := s.deployment(ctx, "web"), s.service(ctx, "web")
		labelled := mark()

		for _, label := range [][2]string{
			{"team", "a"}, {"version", `"1"`}, {"team", "b"}, {"app", "other"}, {"owner", "someone"},
			{"app.kubernetes.io/version", `"2"`}, {"version", ""}, {"app", ""}, {"owner", ""},
		} {
			s.label(ctx, "web", label[0], label[1])
		}
		s.forceReconciles(ctx, "web", 1)
		restartOperator(ctx)
		s.label(ctx, "web", "team", "")
		s.forceReconciles(ctx, "web", 1)

		selector := v1alpha1.SelectorLabels("web")
		Expect(s.deployment(ctx, "web")).To(And(
			HaveField("Spec.Selector.MatchLabels", Equal(selector)),
			HaveField("Spec.Template", Equal(deployment.Spec.Template)),
			HaveField("Generation", deployment.Generation)))
		Expect(s.service(ctx, "web")).To(And(
			HaveField("Spec.Selector", Equal(selector)),
			HaveField("ResourceVersion", service.ResourceVersion)))
		Expect(s.expectReady(ctx, "web").Status.Selector).To(Equal("app=web,owner=application-operator"))
		now, err := s.pods(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		Expect(uids(now)).To(ConsistOf(uids(pods)))
		Expect(operatorWrites(labelled, cluster.InNamespace(s.name))).To(BeEmpty())
	})
})
