package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// expectKept makes the operator change all that it wants of both children, removes a part of that again and starts it
// anew, and each time claims that what belongs to the neighbours is still there.
func expectKept(ctx context.Context, kept func(g Gomega)) {
	GinkgoHelper()
	for _, spec := range []string{
		"{image: registry.example/web:2, port: 8080, expose: ClusterIP, env: [{name: OURS, value: a}, {name: MORE, value: b}], command: [serve]}",
		"{image: registry.example/web:3, port: 8080, expose: ClusterIP, resources: {limits: {cpu: 1}}}",
		"{image: registry.example/web:3, port: 8080, expose: ClusterIP}",
	} {
		given(ctx, spec)
		kept(NewWithT(GinkgoT()))
	}
	whileOperatorIsDown(ctx, func() {})
	mark := now()
	expectNoWrites(mark)
	kept(NewWithT(GinkgoT()))
	expectNoFailures()
}

var _ = Describe("Neighbours of the operator keep what is theirs:", func() {
	BeforeEach(func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, env: [{name: OURS, value: a}]}")
	})

	It("labels and annotations by kubectl label and annotate", func(ctx SpecContext) {
		kubectl(ctx, "label", "deployment/web", "service/web", "team=a")
		kubectl(ctx, "annotate", "deployment/web", "service/web", "note=mine", "example.com/a.b_c=d")
		expectKept(ctx, func(g Gomega) {
			for _, child := range []client.Object{the(ctx, deployment), the(ctx, service)} {
				g.Expect(child.GetLabels()).To(HaveKeyWithValue("team", "a"))
				g.Expect(child.GetAnnotations()).To(And(HaveKeyWithValue("note", "mine"), HaveKeyWithValue("example.com/a.b_c", "d")))
			}
		})
		By("taking them away again, as their owners")
		kubectl(ctx, "label", "deployment/web", "service/web", "team-")
		Consistently(ctx, deployment).Should(HaveField("Labels", Not(HaveKey("team"))))
	})

	It("FR-07: the annotation of kubectl rollout restart, through changes of the image", func(ctx SpecContext) {
		kubectl(ctx, "rollout", "restart", "deployment/web")
		restarted := the(ctx, deployment).Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"]
		Expect(restarted).NotTo(BeEmpty())
		expectKept(ctx, func(g Gomega) {
			g.Expect(the(ctx, deployment).Spec.Template.Annotations).To(HaveKeyWithValue("kubectl.kubernetes.io/restartedAt", restarted))
		})
	})

	It("the record of kubectl apply, on the Application and on a child", func(ctx SpecContext) {
		kubectl(ctx, "apply", "-f", writeFile(manifest("{image: registry.example/web:1, port: 8080, expose: ClusterIP}")))
		kubectl(ctx, "apply", "-f", writeFile(deploymentManifest("  labels: {team: a}\n")))
		record, app := the(ctx, deployment).Annotations[lastApplied], the(ctx, application).Annotations[lastApplied]
		Expect([]string{record, app}).To(HaveEach(Not(BeEmpty())))

		edit(ctx, "ops", theDeployment(), "{metadata: {labels: {app: null}}}")
		Eventually(ctx, deployment).Should(HaveField("Labels", HaveKeyWithValue("app", web)))
		write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, env: [{name: NEW, value: a}]}")
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Annotations).To(HaveKeyWithValue(lastApplied, record))
		Expect(the(ctx, application).Annotations).To(HaveKeyWithValue(lastApplied, app))
	})

	It("an injected container beside app, and what is injected into app, by a mutating policy", func(ctx SpecContext) {
		addPolicy(ctx, "Mutating", `
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers:
          object.spec.template.spec.containers.filter(c, c.name != "app-proxy").map(c, Object.spec.template.spec.containers{
            name: c.name, env: [Object.spec.template.spec.containers.env{name: "INJECTED", value: "x"}]}) +
          [Object.spec.template.spec.containers{name: "app-proxy", image: "registry.example/proxy:1"}]}}}}`)
		Eventually(ctx, func(ctx context.Context) (int, error) {
			probe := probeDeployment()
			err := env.Client.Create(ctx, probe, client.DryRunAll)
			return len(probe.Spec.Template.Spec.Containers), err
		}).Should(Equal(2))
		expectKept(ctx, func(g Gomega) {
			g.Expect(the(ctx, deployment).Spec.Template.Spec.Containers).To(ConsistOf(
				And(HaveField("Name", "app"), HaveField("Env", ContainElement(HaveField("Name", "INJECTED")))),
				HaveField("Name", "app-proxy")))
			g.Expect(ownedByOperator(the(ctx, deployment))).NotTo(ContainElement(MatchRegexp("INJECTED|app-proxy")))
		})
	})

	It("containers, volumes and the like by Server-Side Apply and by Update", func(ctx SpecContext) {
		applyDeployment(ctx, "mesh", `
spec:
  minReadySeconds: 3
  template:
    metadata: {annotations: {mesh: "on"}}
    spec:
      serviceAccountName: web
      volumes: [{name: tmp, emptyDir: {}}]
      initContainers: [{name: wait, image: "registry.example/wait:1"}]
      containers: [{name: app-proxy, image: "registry.example/proxy:1"}, {name: app, volumeMounts: [{name: tmp, mountPath: /tmp}]}]`)
		edit(ctx, "ops", theDeployment(), `{spec: {revisionHistoryLimit: 3, template: {spec: {containers: [{name: app, env: [{name: THEIRS, value: b}]}]}}}}`)
		expectKept(ctx, func(g Gomega) {
			child := the(ctx, deployment)
			g.Expect(child.Spec.MinReadySeconds).To(BeEquivalentTo(3))
			g.Expect(child.Spec.RevisionHistoryLimit).To(HaveValue(BeEquivalentTo(3)))
			pod := child.Spec.Template.Spec
			g.Expect(pod.ServiceAccountName).To(Equal(web))
			g.Expect(pod.Volumes).To(HaveLen(1))
			g.Expect(pod.InitContainers).To(HaveLen(1))
			g.Expect(pod.Containers).To(ConsistOf(HaveField("Name", "app-proxy"), And(
				HaveField("VolumeMounts", HaveLen(1)), HaveField("Env", ContainElement(HaveField("Name", "THEIRS"))))))
		})
	})
})

var _ = Describe("FR-19: a Service keeps what the API server and others gave it", func() {
	spec := func(port int, expose string) string {
		return fmt.Sprintf("{image: registry.example/web:1, port: %d, expose: %s}", port, expose)
	}

	It("when its port is renumbered: the addresses stay, as does a node port that somebody pinned", func(ctx SpecContext) {
		given(ctx, spec(8080, "NodePort"))
		before := the(ctx, service)
		given(ctx, spec(9090, "NodePort"))
		after := the(ctx, service)
		Expect(after.Spec.ClusterIPs).To(Equal(before.Spec.ClusterIPs))
		Expect(after.Spec.Ports).To(ConsistOf(HaveField("Port", BeEquivalentTo(9090))))
		Expect(after.Spec.Ports[0].NodePort).To(Equal(before.Spec.Ports[0].NodePort), "the API server keeps it for the port of the same name")
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Ports).To(ConsistOf(HaveField("ContainerPort", BeEquivalentTo(9090))))

		By("going back")
		given(ctx, spec(8080, "NodePort"))
		Expect(the(ctx, service).Spec.Ports).To(ConsistOf(And(
			HaveField("Port", BeEquivalentTo(8080)), HaveField("NodePort", before.Spec.Ports[0].NodePort))))
	})

	It("when somebody renames its port: that is contested, and back again nothing has moved", func(ctx SpecContext) {
		given(ctx, spec(8080, "NodePort"))
		before := the(ctx, service)
		edit(ctx, "ops", theService(), "{spec: {ports: [{port: 8080, name: http}]}}")
		Eventually(ctx, application).Should(haveConflicts(onService(`.spec.ports[port=8080,protocol="TCP"].name`, "ops", byUpdate)))
		Expect(the(ctx, service).Spec.Ports[0].NodePort).To(Equal(before.Spec.Ports[0].NodePort))
		edit(ctx, "ops", theService(), "{spec: {ports: [{port: 8080, name: app}]}}")
		eventuallySynced(ctx)
		Expect(the(ctx, service).Spec.Ports).To(Equal(before.Spec.Ports))
	})

	It("when others pin a node port, set a traffic policy and a class, it moves between all types", func(ctx SpecContext) {
		applyService(ctx, "cloud", "  annotations: {"+v1alpha1.AnnotationAdopt+": web}\nspec: {type: LoadBalancer, loadBalancerClass: example.com/fast, ports: [{name: app, port: 8080, targetPort: app}]}")
		given(ctx, spec(8080, "LoadBalancer"))
		edit(ctx, "kubectl-patch", theService(), "{spec: {externalTrafficPolicy: Local, ports: [{port: 8080, nodePort: 30456}]}}")
		waitForQuiet()
		before := the(ctx, service)
		Expect(before.Spec.LoadBalancerClass).To(HaveValue(Equal("example.com/fast")))
		Expect(before.Spec.HealthCheckNodePort).NotTo(BeZero())
		applyService(ctx, "cloud", "spec: {loadBalancerClass: example.com/fast}")
		mark := now()
		for _, value := range []string{"1", "2"} {
			touch(ctx, value)
		}
		expectNoWrites(mark)
		given(ctx, "{image: registry.example/web:2, port: 8080, expose: LoadBalancer}")
		after := the(ctx, service)
		Expect(after.Spec).To(Equal(before.Spec))
		Expect(writesSince(mark, cluster.OnResource("services"))).To(BeEmpty())
		Expect(after.Spec.ExternalTrafficPolicy).To(Equal(corev1.ServiceExternalTrafficPolicyLocal))
	})

	It("when somebody chose its class at creation, until it is of a type that has none: then the API server drops that", func(ctx SpecContext) {
		applyService(ctx, "cloud", "  annotations: {"+v1alpha1.AnnotationAdopt+": web}\nspec: {type: LoadBalancer, loadBalancerClass: example.com/fast, ports: [{name: app, port: 8080, targetPort: app}]}")
		given(ctx, spec(8080, "LoadBalancer"))
		applyService(ctx, "cloud", "spec: {loadBalancerClass: example.com/fast}")
		before := the(ctx, service)
		for _, expose := range []string{"ClusterIP", "NodePort", "LoadBalancer", "NodePort", "ClusterIP", "LoadBalancer"} {
			given(ctx, spec(8080, expose))
			after := the(ctx, service)
			Expect(after.Spec.Type).To(BeEquivalentTo(expose))
			Expect(after.UID).To(Equal(before.UID))
			Expect(after.Spec.ClusterIPs).To(Equal(before.Spec.ClusterIPs))
			Expect(after.Spec.LoadBalancerClass).To(BeNil())
		}
		expectNoFailures()
	})
})
