package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// leaves returns those of the leaves that the operator owns in the Deployment which lie within a path.
func leaves(ctx context.Context, path string) (list []string) {
	GinkgoHelper()
	for _, leaf := range ownedByOperator(the(ctx, deployment)) {
		if matches, err := lieWithin(path).Match(leaf); err == nil && matches {
			list = append(list, leaf)
		}
	}
	return list
}

var _ = Describe("A partial Deployment or Service", func() {
	const pod = ".spec.template.spec"

	It("extends what the rest of the spec asks for, and only what it names is owned", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		before := ownedByOperator(the(ctx, deployment))
		given(ctx, partialPod("{containers: [{name: app, securityContext: {runAsNonRoot: true}}, {name: proxy, image: proxy}], terminationGracePeriodSeconds: 5}"))
		Expect(podSpec(ctx).Containers).To(HaveExactElements(
			And(HaveField("Name", "app"), HaveField("Image", "registry.example/web:1"), HaveField("SecurityContext.RunAsNonRoot", HaveValue(BeTrue()))),
			And(HaveField("Name", "proxy"), HaveField("Image", "proxy"))))
		Expect(ownedByOperator(the(ctx, deployment))).To(ConsistOf(append(before,
			pod+`.containers[name="app"].securityContext.runAsNonRoot`, pod+`.containers[name="proxy"].name`,
			pod+`.containers[name="proxy"].image`, pod+".terminationGracePeriodSeconds")))

		By("letting go of it")
		given(ctx, "{image: registry.example/web:1}")
		Expect(podSpec(ctx).Containers).To(HaveExactElements(And(HaveField("Name", "app"), HaveField("SecurityContext", BeNil()))))
		Expect(podSpec(ctx).TerminationGracePeriodSeconds).To(HaveValue(BeEquivalentTo(30)))
		Expect(ownedByOperator(the(ctx, deployment))).To(Equal(before))
	})

	It("may hold empty values, which are owned if the kind tells them from none, and else as good as nothing, like nulls", func(ctx SpecContext) {
		given(ctx, `{image: registry.example/web:1, deployment: {metadata: {annotations: {}}, spec: {strategy: null, minReadySeconds: null, paused: false, template: {spec: {
			dnsPolicy: "", restartPolicy: "", schedulerName: "", terminationGracePeriodSeconds: 0, enableServiceLinks: false,
			nodeSelector: {}, tolerations: [], affinity: null, hostAliases: null, containers: [{name: app, args: [], env: null, workingDir: null,
				imagePullPolicy: "", terminationMessagePath: "", livenessProbe: {httpGet: {port: 80, path: "", scheme: ""}, periodSeconds: 0, failureThreshold: 0}}],
			volumes: [{name: scratch, emptyDir: {medium: ""}}]}}}}}`)
		Expect(ownedByOperator(the(ctx, deployment))).To(ContainElements(pod+".terminationGracePeriodSeconds", pod+".enableServiceLinks",
			pod+`.volumes[name="scratch"].emptyDir`))
		for _, field := range []string{
			".metadata.annotations", ".spec.strategy", ".spec.minReadySeconds", ".spec.paused", pod + ".affinity", pod + ".hostAliases", pod + ".dnsPolicy",
			pod + ".nodeSelector", pod + ".tolerations", pod + `.containers[name="app"].args`, pod + `.containers[name="app"].livenessProbe.periodSeconds`,
		} {
			Expect(leaves(ctx, field)).To(BeEmpty(), field)
		}
		expectRest(ctx)

		By("filling what was empty, and emptying it again")
		given(ctx, partialPod("{nodeSelector: {disk: ssd}, tolerations: [{key: a, operator: Exists}], containers: [{name: app, args: [a]}]}"))
		given(ctx, partialPod("{nodeSelector: {}, tolerations: [], containers: [{name: app, args: []}]}"))
		Expect(podSpec(ctx)).To(And(HaveField("NodeSelector", BeEmpty()), HaveField("Tolerations", BeEmpty())))
		Expect(podSpec(ctx).Containers[0].Args).To(BeEmpty())
		expectRest(ctx)
		expectNoFailures()
	})

	It("needs no request while nothing changes, in whatever form its values are written", func(ctx SpecContext) {
		given(ctx, partialPod(`{tolerations: [{key: a, operator: Exists, effect: ""}], containers: [{name: app,
			resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: 0.5}}, ports: [{containerPort: 53}, {containerPort: 53, protocol: UDP}],
			env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: EMPTY, value: ""}]}]}`))
		expectRest(ctx)
	})

	It("needs no request, either, for empty values in a Service, which the API server replaces", func(ctx SpecContext) {
		given(ctx, partialService("NodePort", `{clusterIP: "", clusterIPs: [], ipFamilies: [], sessionAffinity: "", externalTrafficPolicy: "", internalTrafficPolicy: Cluster,
			ports: [{name: more, port: 9090, protocol: "", targetPort: 0, nodePort: 0}]}`))
		expectRest(ctx)
	})

	DescribeTable("is refused as a whole, and nothing of the spec is applied:",
		func(ctx SpecContext, partial, message string) {
			given(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP, replicas: 2}")
			mark := now()
			write(ctx, "{image: registry.example/web:2, port: 8081, expose: NodePort, replicas: 2, "+partial+"}")
			Eventually(ctx, application).Should(And(
				haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonInvalid, Equal("The spec is invalid, and nothing of it is applied: "+message)),
				haveCondition(v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalid),
				haveCondition(v1alpha1.ConditionStalled, "True", v1alpha1.ReasonInvalid),
				HaveField("Status.Phase", v1alpha1.PhaseFailed)))
			waitForQuiet()
			Expect(writesSince(mark, cluster.OnResource("deployments"))).To(BeEmpty())
			Expect(writesSince(mark, cluster.OnResource("services"))).To(BeEmpty())

			By("correcting it")
			given(ctx, "{image: registry.example/web:2, port: 8081, expose: NodePort, replicas: 2}")
			Expect(podSpec(ctx).Containers[0].Image).To(Equal("registry.example/web:2"))
		},
		Entry("a misspelt field", "deployment: {spec: {template: {spec: {contianers: [{name: app}]}}}}",
			"spec.deployment.spec.template.spec.contianers: there is no such field; did you mean containers?"),
		Entry("a wrong type, in the Service", "service: {spec: {externalIPs: {a: b}}}",
			"spec.service.spec.externalIPs: it must be a list, not an object"),
		Entry("what two fields set", "deployment: {spec: {replicas: 3}}",
			"spec.deployment.spec.replicas: spec.replicas sets this field as well: keep one of the two"),
		Entry("what is the operator's", "service: {metadata: {name: other}, spec: {selector: {app: other}}}",
			"spec.service.metadata.name: it says which object this is, which the operator knows: remove it; "+
				"spec.service.spec.selector: it selects the pods, which the operator sees to: remove it"),
		Entry("several things in both", "deployment: {spec: {minReadySeconds: ten}}, service: {spec: {typ: NodePort}}",
			"spec.deployment.spec.minReadySeconds: it must be a number, not a string; spec.service.spec.typ: there is no such field; did you mean type?"),
	)

	It("is refused by the API server itself where a list with keys is none", func(ctx SpecContext) {
		for spec, message := range map[string]string{
			partialPod("{containers: [{name: a}, {name: a}]}"):                                         "duplicate entries for key",
			partialPod("{containers: {name: a}}"):                                                      "containers: expected list",
			partialPod("{containers: [{image: a}]}"):                                                   "name",
			"{image: registry.example/web:1, deployment: text}":                                        "spec.deployment: expected map",
			partialService("ClusterIP", "{ports: [{port: 53}, {port: 53, protocol: TCP}]}"):            "duplicate entries for key",
			partialService("ClusterIP", "{ports: [{name: more, port: 53, protocol: [TCP]}]}"):          "protocol",
			partialService("ClusterIP", "{ports: [{name: more, port: many}]}"):                         "port",
			partialPod("{topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1}]}"):               "whenUnsatisfiable",
			partialPod("{containers: [{name: app, ports: [{containerPort: 1}, {containerPort: 1}]}]}"): "duplicate entries for key",
		} {
			Expect(env.ApplyYAML(ctx, author, namespace, manifest(spec))).To(MatchError(ContainSubstring(message)), spec)
		}
	})

	It("is merged in the Application, too, entry by entry: GitOps owns the image, the team its resources", func(ctx SpecContext) {
		gitops := func(image string) string {
			return manifest("{image: " + image + ", deployment: {spec: {template: {spec: {containers: [{name: proxy, image: proxy}], tolerations: [{key: a}]}}}}}")
		}
		team := func(rest string) string {
			return manifest("{deployment: {spec: {template: {spec: {containers: [{name: app, resources: {limits: {cpu: 1}}, env: [{name: TEAM, value: a}]}" + rest + "}}}}}")
		}
		Expect(env.ApplyYAML(ctx, "gitops", namespace, gitops("web:1"))).To(Succeed())
		Expect(env.ApplyYAML(ctx, "team", namespace, team("]"))).To(Succeed())
		eventuallySynced(ctx)
		Expect(podSpec(ctx).Containers).To(ConsistOf(
			And(HaveField("Name", "app"), HaveField("Image", "web:1"), HaveField("Env", HaveLen(1)), HaveField("Resources.Limits", HaveLen(1))),
			HaveField("Name", "proxy")))

		By("meeting: a list without keys is one value, and an entry of one has its fields")
		err := env.ApplyYAML(ctx, "team", namespace, team(", {name: proxy, image: other}], tolerations: [{key: b}]"))
		Expect(err).To(MatchError(apierrors.IsConflict, "IsConflict"))
		Expect(err).To(MatchError(And(ContainSubstring(".spec.deployment.spec.template.spec.tolerations"), ContainSubstring(`containers[name="proxy"].image`))))

		By("letting go, each of what it owns")
		Expect(env.ApplyYAML(ctx, "gitops", namespace, gitops("web:2"))).To(Succeed())
		Expect(env.ApplyYAML(ctx, "team", namespace, manifest("{}"))).To(Succeed())
		eventuallySynced(ctx)
		Expect(podSpec(ctx).Containers).To(ConsistOf(
			And(HaveField("Name", "app"), HaveField("Image", "web:2"), HaveField("Env", BeEmpty())), HaveField("Name", "proxy")))
		Expect(env.ApplyYAML(ctx, "gitops", namespace, manifest("{image: web:3}"))).To(Succeed())
		eventuallySynced(ctx)
		Expect(podSpec(ctx).Containers).To(ConsistOf(HaveField("Image", "web:3")))
	})

	It("hands the replicas over without a move: from one field to the other, and to nobody", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 3}")
		counter := countReplicas(ctx)
		mark := now()
		write(ctx, partialDeployment("{replicas: 3}"))
		eventuallySynced(ctx)
		write(ctx, "{image: registry.example/web:1, replicas: 3}")
		eventuallySynced(ctx)
		Expect(writesSince(mark, cluster.OnResource("deployments"))).To(BeEmpty())
		given(ctx, partialDeployment("{replicas: 4}"))
		given(ctx, partialDeployment("{minReadySeconds: 1}"))
		given(ctx, partialDeployment("{replicas: 4}"))
		given(ctx, "{image: registry.example/web:1}")
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
		Expect(counter.course(ctx)).To(Equal([]int32{3, 4}))
	})

	It("is contested like any other: reported, yielded, taken back", func(ctx SpecContext) {
		const strategy, pool = ".spec.minReadySeconds", ".metadata.annotations.example.com/pool"
		spec := func(policy string, seconds int) string {
			return fmt.Sprintf("{image: registry.example/web:1, port: 8080, expose: ClusterIP, conflictPolicy: %s, deployment: {spec: {minReadySeconds: %d}}, "+
				"service: {metadata: {annotations: {example.com/pool: p%[2]d}}}}", policy, seconds)
		}
		given(ctx, spec("Abort", 1))
		edit(ctx, "ops", theDeployment(), "{spec: {minReadySeconds: 9}}")
		edit(ctx, "ops", theService(), "{metadata: {annotations: {example.com/pool: theirs}}}")
		Eventually(ctx, application).Should(haveConflicts(onDeployment(strategy, "ops", byUpdate), onService(pool, "ops", byUpdate)))
		write(ctx, spec("Yield", 2))
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonFieldsYielded))
		Expect(the(ctx, deployment).Spec.MinReadySeconds).To(BeEquivalentTo(9))
		edit(ctx, "ops", theDeployment(), "{spec: {minReadySeconds: 2}}")
		edit(ctx, "ops", theService(), "{metadata: {annotations: {example.com/pool: null}}}")
		eventuallySynced(ctx)
		Expect(leaves(ctx, strategy)).To(HaveLen(1))
		Expect(the(ctx, service).Annotations).To(HaveKeyWithValue("example.com/pool", "p2"))
		expectNoFailures()
	})

	It("is told of when the record of owners is wiped, and its entries are none of a stranger's", func(ctx SpecContext) {
		given(ctx, partialPod("{containers: [{name: proxy, image: proxy:1}]}"))
		whileOperatorIsDown(ctx, func() {
			Expect(env.MergeYAML(ctx, "wiper", theDeployment(), "{metadata: {managedFields: [{}]}}")).To(Succeed())
		})
		eventuallySynced(ctx)
		whileOperatorIsDown(ctx, func() {
			Expect(env.MergeYAML(ctx, "wiper", theDeployment(), "{metadata: {managedFields: [{}]}}")).To(Succeed())
			write(ctx, partialPod("{containers: [{name: proxy, image: proxy:2}]}"))
		})
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonOwnershipLost,
			ContainSubstring(pod+`.containers[name="proxy"].image`)))
		edit(ctx, "kubectl-edit", theDeployment(), "{spec: {template: {spec: {containers: [{name: proxy, image: proxy:2}]}}}}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced))

		By("removing the sidecar, which stays as a leftover of nobody")
		write(ctx, "{image: registry.example/web:1}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced,
			ContainSubstring(pod+`.containers[name="proxy"] of "before-first-apply"`)))
	})
})
