package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("What others add to the children", func() {
	It("survives everything that the operator does", func(ctx SpecContext) {
		spec := func(image, more string) string {
			return fmt.Sprintf("{image: %s, port: 8080, expose: ClusterIP%s}", image, more)
		}
		given(ctx, spec("registry.example/web:1", ", env: [{name: OURS, value: a}]"))

		By("adding to the Deployment by Apply: a sidecar, a toleration, a label, an annotation, an env entry")
		applyDeployment(ctx, "mesh", `
  labels: {mesh: "on"}
  annotations: {mesh.example/version: "1"}
spec:
  template:
    spec:
      tolerations: [{key: dedicated, operator: Exists}]
      containers:
      - {name: proxy, image: "registry.example/proxy:1"}
      - {name: app, env: [{name: THEIRS, value: b}]}`)

		By("adding to both by Update: an annotation, and the one that kubectl rollout restart sets")
		kubectl(ctx, "annotate", "deployment/web", "service/web", "note=mine")
		kubectl(ctx, "rollout", "restart", "deployment/web")
		edit(ctx, "balancer", theService(), `{spec: {externalTrafficPolicy: null, sessionAffinity: ClientIP, ports: [{port: 9999, name: extra}]}}`)

		By("changing, restarting, removing")
		given(ctx, spec("registry.example/web:2", ", env: [{name: OURS, value: c}, {name: MORE, value: d}]"))
		whileOperatorIsDown(ctx, func() {})
		given(ctx, spec("registry.example/web:3", ""))

		By("looking for all of it")
		child := the(ctx, deployment)
		Expect(child.Labels).To(HaveKeyWithValue("mesh", "on"))
		Expect(child.Annotations).To(And(HaveKeyWithValue("mesh.example/version", "1"), HaveKeyWithValue("note", "mine")))
		Expect(child.Spec.Template.Annotations).To(HaveKey("kubectl.kubernetes.io/restartedAt"))
		Expect(child.Spec.Template.Spec.Tolerations).To(ConsistOf(HaveField("Key", "dedicated")))
		Expect(child.Spec.Template.Spec.Containers).To(ConsistOf(
			And(HaveField("Name", "app"), HaveField("Image", "registry.example/web:3"), HaveField("Env", ConsistOf(HaveField("Name", "THEIRS")))),
			HaveField("Name", "proxy"),
		))
		service := the(ctx, service)
		Expect(service.Annotations).To(HaveKeyWithValue("note", "mine"))
		Expect(service.Spec.SessionAffinity).To(BeEquivalentTo("ClientIP"))
		Expect(service.Spec.Ports).To(ConsistOf(HaveField("Name", "app"), HaveField("Name", "extra")))

		By("undoing the roll-out, which does contest what it puts back")
		edit(ctx, "kubectl", theDeployment(), `{spec: {template: {spec: {containers: [{name: app, image: "registry.example/web:2"}]}}}}`)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "kubectl", byUpdate)))
	})

	It("may be a strategy without which the defaulted one would be invalid", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		edit(ctx, "ops", theDeployment(), "{spec: {strategy: {type: Recreate, rollingUpdate: null}}}")
		given(ctx, "{image: registry.example/web:2}")
		Expect(the(ctx, deployment).Spec.Strategy.Type).To(BeEquivalentTo("Recreate"))
	})
})
