package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// otherImage is a Deployment's image as another manager claims it.
const otherImage = `
spec:
  selector: {matchLabels: {app: web, owner: application-operator}}
  template: {spec: {containers: [{name: app, image: "registry.example/web:theirs"}]}}`

var _ = Describe("A field that another manager owns with another value", func() {
	It("stays as it is when taken by Server-Side Apply", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")

		By("taking the image by a forced apply")
		applyDeployment(ctx, "gitops", otherImage, client.ForceOwnership)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "gitops", byApply)))

		By("changing the spec, which cannot be applied either")
		before := the(ctx, deployment)
		write(ctx, "{image: registry.example/web:2, env: [{name: NEW, value: a}]}")
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "gitops", byApply)))
		Expect(the(ctx, deployment).Spec).To(Equal(before.Spec))
	})

	It("stays as it is when taken by an Update, as kubectl edit does", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")

		edit(ctx, "kubectl-edit", theDeployment(), `{spec: {template: {spec: {containers: [{name: app, image: "registry.example/web:hotfix"}]}}}}`)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "kubectl-edit", byUpdate)))
		Expect(the(ctx, application)).To(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonFieldConflict,
			And(ContainSubstring(imageField), ContainSubstring(`"kubectl-edit" (Update)`), Not(ContainSubstring("hotfix")))))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:hotfix"))
	})

	It("stays as it is when taken by kubectl scale", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")

		kubectl(ctx, "scale", "deployment/web", "--replicas=5")
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(5)))
	})

	It("stays as it is in a Service, too", func(ctx SpecContext) {
		given(ctx, exposedSpec)

		edit(ctx, "kubectl-patch", theService(), "{spec: {type: NodePort}}")
		Eventually(ctx, application).Should(haveConflicts(onService(".spec.type", "kubectl-patch", byUpdate)))
		Expect(the(ctx, service).Spec.Type).To(BeEquivalentTo("NodePort"))
	})

	It("FR-08: is listed once for each manager, sorted, whoever came first", func(ctx SpecContext) {
		const port = `.spec.ports[port=8080,protocol="TCP"].targetPort`
		given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP, env: [{name: B, value: a}, {name: A, value: a}]}")
		take := func(value string, managers ...string) {
			setEnv := func(manager, name string) {
				edit(ctx, manager, theDeployment(), fmt.Sprintf(`{spec: {template: {spec: {containers: [{name: app, env: [{name: %s, value: %s}]}]}}}}`, name, value))
			}
			setEnv(managers[0], "B")
			setEnv(managers[1], "A")
			applyDeployment(ctx, managers[0], otherImage, client.ForceOwnership)
			applyDeployment(ctx, managers[1], otherImage, client.ForceOwnership)
		}

		By("letting several managers take several fields")
		take("first", "zoe", "adam")
		edit(ctx, "mallory", theService(), `{spec: {ports: [{port: 8080, targetPort: 1}]}}`)
		scale(ctx, "scaler", 7)
		env := func(name string) string {
			return `.spec.template.spec.containers[name="app"].env[name="` + name + `"].value`
		}
		Eventually(ctx, application).Should(haveConflicts(
			onDeployment(replicasField, "scaler", byUpdate, "scale"),
			onDeployment(env("A"), "adam", byUpdate),
			onDeployment(env("B"), "zoe", byUpdate),
			onDeployment(imageField, "adam", byApply),
			onDeployment(imageField, "zoe", byApply),
			onService(port, "mallory", byUpdate),
		))

		By("letting them swap what they took")
		take("second", "adam", "zoe")
		Eventually(ctx, application).Should(haveConflicts(
			onDeployment(replicasField, "scaler", byUpdate, "scale"),
			onDeployment(env("A"), "zoe", byUpdate),
			onDeployment(env("B"), "adam", byUpdate),
			onDeployment(imageField, "adam", byApply),
			onDeployment(imageField, "zoe", byApply),
			onService(port, "mallory", byUpdate),
		))
	})

	It("holds up nothing but its own child", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")
		scale(ctx, "kubectl", 3)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))

		By("changing what both children have")
		write(ctx, "{image: registry.example/web:2, replicas: 2, port: 9090, expose: NodePort}")
		Eventually(ctx, service).Should(And(
			HaveField("Spec.Type", BeEquivalentTo("NodePort")),
			HaveField("Spec.Ports", ConsistOf(HaveField("Port", BeEquivalentTo(9090)))),
		))
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:1"))

		By("scaling back: now the rest goes in")
		scale(ctx, "kubectl", 2)
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))
	})

	It("costs no request, since what must fail is not tried", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		scale(ctx, "kubectl", 3)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))

		By("waking the operator again and again")
		mark := now()
		for _, value := range []string{"1", "2", "3", "4", "5"} {
			touch(ctx, value)
		}
		expectNoWrites(mark)
	})

	It("is listed with all its fellows, however many; the message stays short", func(ctx SpecContext) {
		const many = 200
		variables := func(value string) string {
			entries := make([]string, many)
			for i := range entries {
				entries[i] = fmt.Sprintf("{name: V%03d, value: %s}", i, value)
			}
			return "[" + strings.Join(entries, ", ") + "]"
		}
		given(ctx, "{image: registry.example/web:1, env: "+variables("ours")+"}")
		edit(ctx, "vault", theDeployment(), "{spec: {template: {spec: {containers: [{name: app, env: "+variables("theirs")+"}]}}}}")
		Eventually(ctx, application).Should(HaveField("Status.Conflicts", HaveLen(many)))
		Expect(the(ctx, application).Status.Message).To(ContainSubstring("and more, see status.conflicts"))
		Eventually(ctx, reasons).Should(ContainElement("Warning FieldConflict"))
	})
})
