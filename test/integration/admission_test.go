package integration

import (
	"context"
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("What stands between the operator and the API server's store", func() {
	It("FR-37: may be a quota: reported, and overcome when it is raised", func(ctx SpecContext) {
		const deployments = corev1.ResourceName("count/deployments.apps")
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "few"}}
		setQuota := func(limit string) {
			// The quota controller, if there were one, would fill the status.
			hard := corev1.ResourceList{deployments: resource.MustParse(limit)}
			quota.Spec.Hard = hard
			Expect(env.Client.Update(ctx, quota)).To(Succeed())
			quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{deployments: resource.MustParse("0")}}
			Expect(env.Client.Status().Update(ctx, quota)).To(Succeed())
		}
		Expect(env.Client.Create(ctx, quota)).To(Succeed())
		setQuota("0")
		eventuallyDryRun(ctx, MatchError(ContainSubstring("exceeded quota")))

		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beForbidden("Deployment", "exceeded quota: few"))
		Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))

		By("raising it")
		setQuota("5")
		eventuallySynced(ctx)
	})

	It("may be a policy that denies: reported in its words, and overcome when it goes", func(ctx SpecContext) {
		name := addPolicy(ctx, "Validating", `
  validations: [{expression: "object.spec.replicas <= 3", message: "at most three, says the platform team"}]`)
		eventuallyDryRun(ctx, MatchError(ContainSubstring("at most three")))

		write(ctx, "{image: registry.example/web:1, replicas: 4, port: 8080, expose: ClusterIP}")
		Eventually(ctx, application).Should(beForbidden("Deployment", "at most three, says the platform team"))
		Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))

		By("obeying: an edit helps at once")
		given(ctx, "{image: registry.example/web:1, replicas: 3, port: 8080, expose: ClusterIP}")

		By("asking for too many again, and then getting rid of the policy")
		write(ctx, "{image: registry.example/web:1, replicas: 4, port: 8080, expose: ClusterIP}")
		Eventually(ctx, application).Should(beForbidden("Deployment", "at most three, says the platform team"))
		kubectl(ctx, "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", name)
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
	})

	It("may be a policy that fails: reported in its words, and overcome when it goes", func(ctx SpecContext) {
		name := addPolicy(ctx, "Mutating", `
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{spec: Object.spec{replicas: int(object.metadata.labels["no-such-label"])}}`)
		eventuallyDryRun(ctx, MatchError(ContainSubstring("no such key")))

		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beForbidden("Deployment", "no such key"))
		kubectl(ctx, "delete", "mutatingadmissionpolicy,mutatingadmissionpolicybinding", name)
		eventuallySynced(ctx)
	})

	It("FR-33: may be a policy that rewrites: no loop, no conflict", func(ctx SpecContext) {
		By("having a policy pull all images through a mirror, and leave a note")
		addPolicy(ctx, "Mutating", `
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{
          metadata: Object.metadata{annotations: {"mirror.example/by": "policy"}},
          spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers:
            object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{
              name: c.name, image: c.image.replace("registry.example", "mirror.example")})}}}
        }`)
		Eventually(ctx, func(ctx context.Context) (string, error) {
			probe := probeDeployment()
			err := env.Client.Create(ctx, probe, client.DryRunAll)
			return probe.Spec.Template.Spec.Containers[0].Image, err
		}).Should(HavePrefix("mirror.example/"))

		// The status does not claim that the live image is the spec's.
		mutated := haveCondition("Synced", "True", "FieldsMutated", ContainSubstring(`containers[name="app"].image`))
		write(ctx, "{image: registry.example/web:1}")
		Eventually(ctx, application).Should(mutated)
		before := the(ctx, deployment)
		Expect(before.Spec.Template.Spec.Containers[0].Image).To(Equal("mirror.example/web:1"))
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition("Ready", "True", "RolledOut"))
		before = the(ctx, deployment)

		By("waking the operator twenty times")
		waitForQuiet()
		mark := now()
		for i := range 20 {
			touch(ctx, strconv.Itoa(i))
		}
		waitForQuiet()
		Expect(appliesTo("deployments", mark)).To(BeZero())
		Expect(snapshot(the(ctx, deployment))).To(Equal(snapshot(before)))
		Expect(the(ctx, application)).To(mutated)

		By("changing the image: one new generation, that is one roll-out")
		write(ctx, "{image: registry.example/web:2}")
		Eventually(ctx, application).Should(mutated)
		waitForQuiet()
		after := the(ctx, deployment)
		Expect(after.Spec.Template.Spec.Containers[0].Image).To(Equal("mirror.example/web:2"))
		Expect(after.Generation).To(Equal(before.Generation + 1))
		Expect(the(ctx, application)).To(mutated)
	})
})

// addPolicy adds an admission policy, of kind Validating or Mutating, for the Deployments of the spec's namespace. It
// goes with the spec.
func addPolicy(ctx context.Context, kind, spec string) (name string) {
	GinkgoHelper()
	By("adding a policy: " + kind)
	name = namespace
	const version = "admissionregistration.k8s.io/v1"
	Expect(env.CreateYAML(ctx, "platform", "", fmt.Sprintf(`
apiVersion: %s
kind: %sAdmissionPolicy
metadata: {name: %s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}]%s`,
		version, kind, name, namespace, spec))).To(Succeed())
	actions := ""
	if kind == "Validating" {
		actions = ", validationActions: [Deny]"
	}
	Expect(env.CreateYAML(ctx, "platform", "", fmt.Sprintf(
		"{apiVersion: %s, kind: %sAdmissionPolicyBinding, metadata: {name: %s}, spec: {policyName: %s%s}}",
		version, kind, name, name, actions))).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		kubectl(ctx, "delete", "--ignore-not-found", fmt.Sprintf("%[1]sadmissionpolicybinding,%[1]sadmissionpolicy", kind), name)
	})
	return name
}

// eventuallyDryRun waits until a Deployment that somebody else would create meets with what the matcher wants: quotas
// and policies take effect a little later.
func eventuallyDryRun(ctx context.Context, matcher types.GomegaMatcher) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) error { return env.Client.Create(ctx, probeDeployment(), client.DryRunAll) }).Should(matcher)
}
