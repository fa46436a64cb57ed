package integration

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// fittingSpec is that of a Deployment made by hand which an Application could take over.
const fittingSpec = `
spec:
  replicas: 2
  selector: {matchLabels: {app: web, owner: application-operator}}
  template:
    metadata: {labels: {app: web, owner: application-operator}}
    spec: {containers: [{name: app, image: "registry.example/web:1"}]}`

// consent is the annotation, as a part of a manifest's metadata.
func consent(name string) string {
	return fmt.Sprintf("  annotations: {%s: %q}", v1alpha1.AnnotationAdopt, name)
}

// consentTo sets the annotation on an object that exists, as kubectl annotate does.
func consentTo(ctx context.Context, name, object string) {
	GinkgoHelper()
	kubectl(ctx, "annotate", "--overwrite", object, v1alpha1.AnnotationAdopt+"="+name)
}

var _ = Describe("A child that consents to its adoption", func() {
	It("is taken by one unforced apply, with everything that it has", func(ctx SpecContext) {
		By("making both children by hand, without a label of the operator's")
		applyDeployment(ctx, "somebody", consent(web)+fittingSpec)
		applyService(ctx, "somebody", consent(web)+"\nspec: {ports: [{name: app, port: 8080, targetPort: app}], sessionAffinity: ClientIP}")
		deploymentBefore, serviceBefore := the(ctx, deployment), the(ctx, service)

		By("writing the Application of their name")
		given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")
		app := the(ctx, application)
		child, service := the(ctx, deployment), the(ctx, service)
		Expect(child).To(beControlledBy(app))
		Expect(child.UID).To(Equal(deploymentBefore.UID))
		Expect(child.Spec.Template.Spec.Containers).To(ConsistOf(HaveField("Ports", ConsistOf(HaveField("ContainerPort", BeEquivalentTo(8080))))))
		Expect(service).To(beControlledBy(app))
		Expect(service.UID).To(Equal(serviceBefore.UID))
		Expect(service.Spec.ClusterIP).To(Equal(serviceBefore.Spec.ClusterIP))
		Expect(service.Spec.SessionAffinity).To(BeEquivalentTo("ClientIP"))
		Expect(appliesTo("deployments", begin)).To(Equal(1))
		Expect(appliesTo("services", begin)).To(Equal(1))
		expectNoFailures()

		By("letting its maker go: what the spec wants stays, and nothing else does")
		applyDeployment(ctx, "somebody", "")
		given(ctx, "{image: registry.example/web:2, replicas: 2, port: 8080, expose: ClusterIP}")
		Expect(the(ctx, deployment).Annotations).NotTo(HaveKey(v1alpha1.AnnotationAdopt))
		Expect(the(ctx, deployment)).To(beControlledBy(app), "consent is needed once")
	})

	It("may do so later: that wakes the operator", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", fittingSpec)
		applyService(ctx, "somebody", "spec: {ports: [{name: http, port: 80}]}")
		write(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP}")
		Eventually(ctx, application).Should(beRefused("Deployment"))

		consentTo(ctx, web, "deployment/web")
		Eventually(ctx, application).Should(beRefused("Service"))
		Eventually(ctx, deployment).Should(beControlledBy(the(ctx, application)))
		consentTo(ctx, web, "service/web")
		eventuallySynced(ctx)
		Expect(the(ctx, service).Spec.Ports).To(ConsistOf(HaveField("Port", BeEquivalentTo(80)), HaveField("Port", BeEquivalentTo(8080))))
	})

	It("may do so while the operator is down", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", fittingSpec)
		write(ctx, "{image: registry.example/web:1}")
		Eventually(ctx, application).Should(beRefused("Deployment"))
		whileOperatorIsDown(ctx, func() { consentTo(ctx, web, "deployment/web") })
		eventuallySynced(ctx)
	})

	DescribeTable("is refused, untouched and with the reason, if it",
		func(ctx SpecContext, metadata, spec string, reason types.GomegaMatcher) {
			applyDeployment(ctx, "somebody", metadata+spec)
			before := snapshot(the(ctx, deployment))
			write(ctx, exposedSpec)
			Eventually(ctx, application).Should(beRefused("Deployment", reason))
			Eventually(ctx, service).Should(beControlledBy(the(ctx, application)))
			waitForQuiet()
			Expect(snapshot(the(ctx, deployment))).To(Equal(before))
			Expect(appliesTo("deployments", begin)).To(BeZero())
			Eventually(ctx, notes).WithArguments(v1alpha1.ReasonResourceExists).Should(ConsistOf(reason))
		},
		Entry("names another Application", consent("other"), fittingSpec, ContainSubstring("does not belong to this Application")),
		Entry("names nobody", consent(""), fittingSpec, ContainSubstring("does not belong to this Application")),
		Entry("FR-22: has another selector", consent(web), foreignDeployment,
			And(ContainSubstring("cannot be done"), ContainSubstring(`"made=by-hand"`), ContainSubstring("cannot be changed"))),
		Entry("is controlled by something else", consent(web)+
			"\n  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gateway, uid: 11111111-2222-3333-4444-555555555555, controller: true}]",
			fittingSpec, And(ContainSubstring("cannot be done"), ContainSubstring("ConfigMap gateway controls it"))),
	)

	It("is not seized by consent on the Application instead", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", fittingSpec)
		Expect(env.ApplyYAML(ctx, author, namespace, fmt.Sprintf(
			"{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: web, annotations: {%s: web}}, spec: {image: registry.example/web:2}}",
			v1alpha1.AnnotationAdopt))).To(Succeed())
		Eventually(ctx, application).Should(beRefused("Deployment"))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:1"))
	})

	It("is not taken while the Application is paused", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", consent(web)+fittingSpec)
		before := snapshot(the(ctx, deployment))
		write(ctx, "{image: registry.example/web:1, paused: true}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonPaused))
		Expect(snapshot(the(ctx, deployment))).To(Equal(before))
		given(ctx, "{image: registry.example/web:1}")
		Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))
	})

	It("follows the policy Abort where it is contested: nothing of it is taken", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", consent(web)+fittingSpec)
		before := snapshot(the(ctx, deployment))
		write(ctx, "{image: registry.example/web:2}")
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "somebody", byApply)))
		waitForQuiet()
		Expect(snapshot(the(ctx, deployment))).To(Equal(before))

		By("agreeing")
		given(ctx, "{image: registry.example/web:1}")
		Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))
	})

	It("hears of changes although it is not taken yet and has no label of the operator's", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", consent(web)+fittingSpec)
		write(ctx, "{image: registry.example/web:2}")
		Eventually(ctx, application).Should(haveConflicts(onDeployment(imageField, "somebody", byApply)))
		waitForQuiet()

		By("letting its owner agree: nothing but the value changes, neither metadata nor who owns it")
		applyDeployment(ctx, "somebody", consent(web)+strings.ReplaceAll(fittingSpec, "web:1", "web:2"))
		eventuallySynced(ctx)
		Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))
	})

	It("follows the policy Yield where it is contested: all but that is taken", func(ctx SpecContext) {
		applyDeployment(ctx, "somebody", consent(web)+fittingSpec)
		write(ctx, "{image: registry.example/web:2, conflictPolicy: Yield, env: [{name: NEW, value: a}]}")
		Eventually(ctx, application).Should(haveYielded(onDeployment(imageField, "somebody", byApply)))
		child := the(ctx, deployment)
		Expect(child).To(beControlledBy(the(ctx, application)))
		Expect(child.Spec.Template.Spec.Containers).To(ConsistOf(And(
			HaveField("Image", "registry.example/web:1"), HaveField("Env", ConsistOf(HaveField("Name", "NEW"))))))
		expectNoFailures()
	})

	It("FR-12: is never plainly Synced while entries of kubectl apply, which the spec does not have, run on", func(ctx SpecContext) {
		By("applying by client-side apply an OLD env entry and an extra port")
		kubectl(ctx, "apply", "-f", writeFile(deploymentManifest(consent(web)+`
spec:
  selector: {matchLabels: {app: web, owner: application-operator}}
  template:
    metadata: {labels: {app: web, owner: application-operator}}
    spec:
      containers: [{name: app, image: "registry.example/web:1", env: [{name: OLD, value: a}], ports: [{name: app, containerPort: 8080}, {containerPort: 9090}]}]`)))
		const withOld = "{image: registry.example/web:1, port: 8080, env: [{name: OLD, value: a}]}"
		write(ctx, withOld)
		Eventually(ctx, deployment).Should(beControlledBy(the(ctx, application)))

		By("running under a service account of theirs: that is named, and the API server's defaults, which kubectl owns as well, are not")
		edit(ctx, "kubectl-client-side-apply", theDeployment(), "{spec: {template: {spec: {serviceAccountName: theirs, nodeSelector: {disk: fast}}}}}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced, And(
			ContainSubstring(`.spec.template.spec.serviceAccountName of "kubectl-client-side-apply"`), ContainSubstring(".spec.template.spec.nodeSelector of"),
			Not(ContainSubstring("terminationGracePeriodSeconds")), Not(ContainSubstring("dnsPolicy")))))

		By("removing OLD: the API server keeps it, since kubectl still owns it")
		write(ctx, "{image: registry.example/web:1, port: 8080}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced, And(
			ContainSubstring(`env[name="OLD"]`), ContainSubstring("containerPort=9090"), ContainSubstring(`"kubectl-client-side-apply"`))))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Env).To(HaveLen(1))

		By("following the message: their manager removes them")
		edit(ctx, "kubectl-client-side-apply", theDeployment(),
			`{spec: {template: {spec: {containers: [{name: app, env: [{name: OLD, $patch: delete}], ports: [{containerPort: 9090, $patch: delete}]}]}}}}`)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced, Not(ContainSubstring("OLD"))))
	})

	It("FR-12: names entries that nobody owns any more, also of a child of its own", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP}")
		editApp(ctx, "ops", "env: [{name: OLD, value: a}]")
		edit(ctx, "ops", theService(), "{spec: {ports: [{port: 90, name: old, targetPort: 90}]}}")
		waitForQuiet()
		Expect(the(ctx, application)).To(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced, Not(ContainSubstring("OLD"))), "it is somebody's")
		forget(ctx, "ops", theDeployment())
		forget(ctx, "ops", theService())
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced, And(
			ContainSubstring(`%s of nobody`, appField(`env[name="OLD"]`)), ContainSubstring(`.spec.ports[port=90,protocol="TCP"] of nobody`))))
		waitForQuiet()
		mark := now()
		touch(ctx, "again")
		expectNoWrites(mark)
		edit(ctx, "ops", theService(), "{spec: {ports: [{port: 90, $patch: delete}]}}")
		editApp(ctx, "ops", "env: [{name: OLD, $patch: delete}]")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonSynced, Not(ContainSubstring("of nobody"))))
	})

	It("FR-12: is folded in by --legacy-field-managers=kubectl-client-side-apply, leftovers and all", func(ctx SpecContext) {
		kubectl(ctx, "apply", "-f", writeFile(deploymentManifest(consent(web)+`
spec:
  selector: {matchLabels: {app: web, owner: application-operator}}
  template:
    metadata: {labels: {app: web, owner: application-operator}}
    spec: {containers: [{name: app, image: "registry.example/web:1", env: [{name: OLD, value: a}]}]}`)))
		DeferCleanup(func(ctx SpecContext) { Expect(env.RestartOperator(ctx, operatorFlags...)).To(Succeed()) })
		Expect(env.RestartOperator(ctx, append(operatorFlags, "--legacy-field-managers=kubectl-client-side-apply")...)).To(Succeed())
		given(ctx, "{image: registry.example/web:1}")
		Eventually(ctx, deployment).Should(HaveField("Spec.Template.Spec.Containers", ConsistOf(HaveField("Env", BeEmpty()))))
		waitForQuiet()
		mark := now()
		touch(ctx, "again")
		expectNoWrites(mark)
	})
})
