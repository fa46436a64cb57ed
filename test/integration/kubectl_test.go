package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("kubectl", func() {
	It("waits for conditions", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		rollOut(ctx)
		for _, condition := range []string{"Ready", "Synced", "Available"} {
			kubectl(ctx, "wait", "--for=condition="+condition, "application.application.mycompany.io/web", "--timeout=60s")
		}
		scale(ctx, "kubectl", 5)
		kubectl(ctx, "wait", "--for=condition=Stalled", "appl/web", "--timeout=60s")
		kubectl(ctx, "wait", "--for=condition=Ready=false", "appl/web", "--timeout=60s")
	})

	It("shows the columns that matter", func(ctx SpecContext) {
		columns := func(line int) []string {
			GinkgoHelper()
			lines := strings.Split(kubectl(ctx, "get", "appl"), "\n")
			Expect(len(lines)).To(BeNumerically(">", line))
			return strings.Fields(lines[line])
		}
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition("Ready", "True", "RolledOut"))
		Expect(columns(0)).To(Equal([]string{"NAME", "IMAGE", "PHASE", "READY", "AVAILABLE", "CONFLICTS", "AGE"}))
		Expect(columns(1)).To(HaveExactElements("web", "registry.example/web:1", "Running", "True", "True", MatchRegexp(`^\d+s$`)))

		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		Expect(columns(1)).To(HaveExactElements("web", "registry.example/web:1", Not(BeEmpty()), "False", "True", ".spec.replicas", MatchRegexp(`^\d+s$`)))
	})

	It("scales an Application, and thereby its Deployment", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition("Ready", "True", "RolledOut"))

		kubectl(ctx, "scale", "appl/web", "--replicas=4")
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElement(replicasField))

		By("reading what an autoscaler reads")
		rollOut(ctx)
		Eventually(ctx, application).Should(HaveField("Status.DeploymentStatus.Replicas", BeEquivalentTo(4)))
		scaled := &autoscalingv1.Scale{}
		Expect(env.Client.SubResource("scale").Get(ctx, theApplication(), scaled)).To(Succeed())
		Expect(scaled.Spec.Replicas).To(BeEquivalentTo(4))
		Expect(scaled.Status).To(Equal(autoscalingv1.ScaleStatus{Replicas: 4, Selector: "app=web,owner=application-operator"}))
	})

	It("re-applies an Application without a new generation, in either way of applying", func(ctx SpecContext) {
		spec := `{image: registry.example/web:1, port: 8080, expose: ClusterIP, resources: {requests: {cpu: 1000m}}, env: [{name: A, value: ""}], livenessProbe: {tcpSocket: {port: app}}}`
		file := writeFile(manifest(spec))
		for _, way := range [][]string{{"apply"}, {"apply", "--server-side", "--field-manager=helm"}} {
			By(fmt.Sprintf("kubectl %s", strings.Join(way, " ")))
			kubectl(ctx, append(way, "-f", file)...)
			eventuallySynced(ctx)
			app := the(ctx, application)
			mark := now()
			kubectl(ctx, append(way, "-f", file)...)
			Expect(the(ctx, application).Generation).To(Equal(app.Generation))
			expectNoWrites(mark)
			Expect(env.Client.Delete(ctx, app)).To(Succeed())
			Expect(env.Client.Delete(ctx, theDeployment())).To(Succeed())
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, theService()))).To(Succeed())
		}
	})
})
