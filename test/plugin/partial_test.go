package plugin

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	proxyImage = `.spec.template.spec.containers[name="proxy"].image`
	proxyToken = `.spec.template.spec.containers[name="proxy"].env[name="TOKEN"].value`
	// partialSpec leaves a key that has a default out of the first port.
	partialSpec = `{image: "registry.example/web:ours", port: 8080, expose: ClusterIP,
 deployment: {metadata: {annotations: {example.com/note: ours}}, spec: {template: {spec: {containers: [
   {name: proxy, image: "registry.example/proxy:ours", env: [{name: TOKEN, value: our-secret}],
    ports: [{containerPort: 9000, name: ours}, {containerPort: 9000, protocol: UDP, name: udp}]},
   {name: app, resources: {limits: {cpu: "1"}}}]}}}},
 service: {spec: {sessionAffinity: ClientIP, ports: [{port: 9000, name: ours}]}}}`
)

// A dispute is about one field of spec.deployment or spec.service.
type dispute struct {
	// manager applies config, by force.
	object, manager, config string
	// field and source are where the field is in the child and in the Application.
	field, source string
	wanted, live  any
}

var (
	ofSidecar = dispute{
		"deployment", "injector", `metadata: {name: web}, spec: {template: {spec: {containers: [{name: proxy, image: "registry.example/proxy:theirs"}]}}}`,
		proxyImage, ".spec.deployment" + proxyImage, "registry.example/proxy:ours", "registry.example/proxy:theirs",
	}
	ofMainContainer = dispute{
		"deployment", "injector", `metadata: {name: web}, spec: {template: {spec: {containers: [{name: app, resources: {limits: {cpu: "2"}}}]}}}`,
		`.spec.template.spec.containers[name="app"].resources.limits.cpu`, `.spec.deployment.spec.template.spec.containers[name="app"].resources.limits.cpu`, "1", "2",
	}
	ofPort = dispute{
		"deployment", "injector", `metadata: {name: web}, spec: {template: {spec: {containers: [{name: proxy, ports: [{containerPort: 9000, protocol: TCP, name: theirs}]}]}}}`,
		`.spec.template.spec.containers[name="proxy"].ports[containerPort=9000,protocol="TCP"].name`,
		`.spec.deployment.spec.template.spec.containers[name="proxy"].ports[containerPort=9000,protocol="TCP"].name`, "ours", "theirs",
	}
	ofAnnotation = dispute{
		"deployment", "injector", `metadata: {name: web, annotations: {example.com/note: theirs}}`,
		".metadata.annotations.example.com/note", ".spec.deployment.metadata.annotations.example.com/note", "ours", "theirs",
	}
	ofService = dispute{
		"service", "injector", `metadata: {name: web}, spec: {sessionAffinity: None}`,
		".spec.sessionAffinity", ".spec.service.spec.sessionAffinity", "ClientIP", "None",
	}
)

func (d dispute) begun(ctx context.Context, spec string) {
	GinkgoHelper()
	given(ctx, spec)
	manifest := map[string]string{"deployment": "apiVersion: apps/v1, kind: Deployment", "service": "apiVersion: v1, kind: Service"}[d.object]
	Expect(env.ApplyYAML(ctx, d.manager, namespace, "{"+manifest+", "+d.config+"}", client.ForceOwnership)).To(Succeed())
	contested(ctx)
}

// ownersIn names the owners of a field of the Deployment or the Service.
func ownersIn(ctx context.Context, object, field string) []string {
	GinkgoHelper()
	if object == "service" {
		return ownersOf(theService(ctx), field)
	}
	return ownersOf(theDeployment(ctx), field)
}

var _ = Describe("A field of spec.deployment or spec.service", func() {
	DescribeTable("is contested like any other, and each printed way ends that:", func(ctx SpecContext, d dispute, way, outcome string) {
		d.begun(ctx, partialSpec)
		found := listConflicts(ctx, "web")
		Expect(found).To(HaveLen(1))
		Expect(found[0].Field).To(Equal(d.field))
		Expect(found[0].Wanted).To(Equal(d.wanted))
		Expect(found[0].Live).To(Equal(d.live))

		chosen := theWay(found[0].Resolutions, way)
		Expect(chosen.Outcome).To(Equal(outcome))
		if strings.HasPrefix(way, "Let") {
			Expect(chosen.Description).To(ContainSubstring("(" + d.source + ")"))
		}
		for _, command := range chosen.Commands {
			Expect(paste(ctx, command).code).To(BeZero(), command)
		}
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(listConflicts(ctx, "web")).To(BeEmpty())
		owners := map[string][]string{
			"Let the Application want the live value": {"application-operator Apply", d.manager + " Apply"},
			"Let the Application want nothing there":  {d.manager + " Apply"},
			"Take the field":                          {"application-operator Apply"},
			"Write the wanted value":                  {"application-operator Apply", "kubectl-patch Update"},
		}[way]
		Expect(ownersIn(ctx, d.object, d.field)).To(ConsistOf(owners))
	},
		Entry("a sidecar's image, wanted as it is", ofSidecar, "Let the Application want the live value", "KeepLive"),
		Entry("a sidecar's image, left to its owner", ofSidecar, "Let the Application want nothing there", "KeepLive"),
		Entry("a sidecar's image, taken", ofSidecar, "Take the field", "GetWanted"),
		Entry("a sidecar's image, written back", ofSidecar, "Write the wanted value", "GetWanted"),
		Entry("a field of the main container, wanted as it is", ofMainContainer, "Let the Application want the live value", "KeepLive"),
		Entry("a port without its protocol, wanted as it is", ofPort, "Let the Application want the live value", "KeepLive"),
		Entry("a port without its protocol, left to its owner", ofPort, "Let the Application want nothing there", "KeepLive"),
		Entry("an annotation, left to its owner", ofAnnotation, "Let the Application want nothing there", "KeepLive"),
		Entry("a Service's field, wanted as it is", ofService, "Let the Application want the live value", "KeepLive"),
		Entry("a Service's field, left to its owner", ofService, "Let the Application want nothing there", "KeepLive"),
	)

	It("is written to the right one of two ports of one number, and can be left out of the spec", func(ctx SpecContext) {
		const udp = `.spec.ports[port=53,protocol="UDP"].name`
		theirs := dispute{"service", "injector", `metadata: {name: web}, spec: {ports: [{port: 53, protocol: UDP, name: theirs}]}`, udp, ".spec.service" + udp, "dns-udp", "theirs"}
		theirs.begun(ctx, partialPorts)
		for _, command := range theWay(listConflicts(ctx, "web")[0].Resolutions, "Write the wanted value").Commands {
			Expect(paste(ctx, command).code).To(BeZero(), command)
		}
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(portsOf(ctx)).To(Equal("app 8080 TCP, dns 53 TCP, dns-udp 53 UDP"))
	})

	DescribeTable("gives way once what excludes it goes, as printed:", func(ctx SpecContext, way, strategy string) {
		const spec = `{image: "registry.example/web:ours"%}`
		given(ctx, strings.Replace(spec, "%", "", 1))
		Expect(env.ApplyYAML(ctx, "tuner", namespace,
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {strategy: {rollingUpdate: {maxSurge: 2}}}}")).To(Succeed())
		write(ctx, strings.Replace(spec, "%", ", deployment: {spec: {strategy: {type: Recreate}}}", 1))
		contested(ctx)
		found := listConflicts(ctx, "web")
		Expect(found).To(HaveLen(1))
		Expect(found[0].Field).To(Equal(".spec.strategy.rollingUpdate.maxSurge"))

		By("asking for what cannot help")
		taken := plugin(ctx, "take", "web", "--field="+found[0].Field, "--yes")
		Expect(taken.code).To(Equal(1))
		Expect(taken.stderr).To(ContainSubstring(`it belongs to "tuner" (Apply), and excludes what the Application wants of .spec.strategy.type. ` +
			`Let its owner remove it, or remove it yourself: "kubectl application conflicts web" prints how`))

		for _, command := range theWay(found[0].Resolutions, way).Commands {
			Expect(paste(ctx, command).code).To(BeZero(), command)
		}
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(listConflicts(ctx, "web")).To(BeEmpty())
		Expect(theDeployment(ctx).Spec.Strategy.Type).To(BeEquivalentTo(strategy))
	},
		Entry("removed", "Remove it from the deployment", "Recreate"),
		Entry("kept, with the live value", "Let the Application want the live value (.spec.deployment.spec.strategy.type)", "RollingUpdate"),
		Entry("kept, with nothing", "Let the Application want nothing there (.spec.deployment.spec.strategy.type)", "RollingUpdate"),
	)

	DescribeTable("a variable's source goes for its value, and a port for another of its name, as printed:", func(ctx SpecContext, object, config, spec string) {
		given(ctx, `{image: "registry.example/web:ours", port: 8080, expose: ClusterIP}`)
		Expect(env.ApplyYAML(ctx, "rival", namespace, config)).To(Succeed())
		write(ctx, spec)
		contested(ctx)
		for _, c := range listConflicts(ctx, "web") {
			Expect(c.Kind).To(Equal(object))
			for _, command := range theWay(c.Resolutions, "Remove it").Commands {
				Expect(paste(ctx, command).code).To(BeZero(), command)
			}
		}
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(listConflicts(ctx, "web")).To(BeEmpty())
	},
		Entry("a variable of the main container", "Deployment",
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: app, env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: k, optional: true}}}]}]}}}}`,
			`{image: "registry.example/web:ours", port: 8080, expose: ClusterIP, deployment: {spec: {template: {spec: {containers: [{name: app, env: [{name: A, value: x}]}]}}}}}`),
		Entry("a port of the Service", "Service",
			`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 9090, name: extra}]}}`,
			`{image: "registry.example/web:ours", port: 8080, expose: ClusterIP, service: {spec: {ports: [{port: 7070, name: extra}]}}}`),
	)

	It("is rendered, shown with its owners, foretold and released like any other", func(ctx SpecContext) {
		rendered := pluginWithInput(ctx, manifest(partialSpec), "render", "--filename=-")
		Expect(rendered.code).To(BeZero(), rendered.stderr)
		Expect(rendered.stdout).To(And(ContainSubstring("registry.example/proxy:ours"), ContainSubstring("sessionAffinity: ClientIP")))
		Expect(pluginWithInput(ctx, manifest(partialSpec), "render", "--filename=-", "--redact").stdout).NotTo(ContainSubstring("secret"))

		given(ctx, partialSpec)
		Expect(succeeds(ctx, "owners", "web", "--object=deployment", "--field="+proxyImage)).To(MatchRegexp(`proxy:ours.*application-operator`))
		for _, object := range []string{"deployment", "application"} {
			shown := succeeds(ctx, "owners", "web", "--object="+object, "--redact")
			Expect(shown).To(ContainSubstring("TOKEN"))
			Expect(shown).NotTo(ContainSubstring("our-secret"))
		}
		Expect(plugin(ctx, "diff", "web")).To(Equal(result{}))
		next := strings.Replace(strings.Replace(partialSpec, "our-secret", "next-secret", 1), "proxy:ours", "proxy:next", 1)
		foretold := pluginWithInput(ctx, manifest(next), "diff", "--filename=-", "--field-manager=author", "--redact")
		Expect(foretold.code).To(Equal(1), foretold.stderr)
		Expect(foretold.stdout).To(And(ContainSubstring("proxy:next"), Not(ContainSubstring("-secret"))))

		By("releasing it to somebody")
		r := plugin(ctx, "release", "web", "--field="+proxyToken, "--to=vault", "--yes")
		Expect(r.code).To(BeZero(), r.stderr)
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		Expect(paste(ctx, strings.TrimSpace(lines[len(lines)-1])).code).To(BeZero(), r.stdout)
		Eventually(ctx, func(ctx context.Context) []string { return ownersOf(theDeployment(ctx), proxyToken) }).Should(ConsistOf("vault Apply"))
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(theDeployment(ctx).Spec.Template.Spec.Containers).To(ContainElement(HaveField("Env", ContainElement(HaveField("Value", "our-secret")))))
	})

	It("is told to be invalid, which hides no conflict of others", func(ctx SpecContext) {
		write(ctx, `{image: "registry.example/web:ours", deployment: {spec: {template: {spec: {contianers: []}}}}}`)
		Eventually(ctx, synced).Should(Equal(metav1.ConditionFalse))
		r := plugin(ctx, "conflicts")
		Expect(r.code).To(BeZero(), r.stderr)
		const problem = "the spec of Application web is invalid, and the operator applies nothing of it: spec.deployment.spec.template.spec.contianers: "
		Expect(r.stderr).To(And(HavePrefix("Warning: in namespace "+namespace+", "+problem), ContainSubstring("containers"), HaveSuffix("Nothing is contested.\n")))
		for _, command := range []string{"diff", "take"} {
			args := []string{command, "web"}
			if command == "take" {
				args = append(args, "--field=.spec.replicas", "--yes")
			}
			Expect(plugin(ctx, args...).stderr).To(ContainSubstring(problem))
		}
	})
})
