package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	"github.com/onsi/gomega/types"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("FR-39: the operator without one of its rights", func() {
	// heals waits until the missing right is back and all is well, without a touch of the Application.
	heals := func(ctx context.Context, grant func()) {
		GinkgoHelper()
		By("granting it")
		grant()
		eventuallySynced(ctx)
		Expect(the(ctx, application).Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)))
	}

	It("to create Deployments makes the Service, and says so", func(ctx SpecContext) {
		grant := revoke(ctx, "create", "apps", "deployments")
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beForbidden("Deployment", `cannot create resource "deployments"`))
		Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))

		By("counting the attempts while it is missing: they get rarer")
		mark := now()
		Consistently(func() int { return appliesTo("deployments", mark) }).WithTimeout(3 * quiet).Should(BeNumerically("<=", 5))
		Expect(appliesTo("applications/status", mark)).To(BeZero(), "the same status is written again")
		Expect(eventWritesSince(mark)).To(BeZero(), "an Event is repeated")
		heals(ctx, grant)
	})

	It("to patch Services changes the Deployment, and says so", func(ctx SpecContext) {
		given(ctx, exposedSpec)
		grant := revoke(ctx, "patch", "", "services")
		write(ctx, "{image: registry.example/web:2, port: 9090, expose: ClusterIP}")
		Eventually(ctx, application).Should(beForbidden("Service", `cannot patch resource "services"`))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))
		heals(ctx, grant)
		Expect(the(ctx, service).Spec.Ports).To(ConsistOf(HaveField("Port", BeEquivalentTo(9090))))
	})

	It("to delete Services says so", func(ctx SpecContext) {
		given(ctx, exposedSpec)
		grant := revoke(ctx, "delete", "", "services")
		write(ctx, "{image: registry.example/web:1, port: 8080}")
		Eventually(ctx, application).Should(beForbidden("Service", `cannot delete resource "services"`))
		heals(ctx, grant)
		eventuallyGone(ctx, theService())
	})

	It("to read Deployments says so", func(ctx SpecContext) {
		grant := revoke(ctx, "get", "apps", "deployments")
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beForbiddenTo("Reading", "Deployment", `cannot get resource "deployments"`))
		Expect(the(ctx, application)).To(haveCondition(v1alpha1.ConditionAvailable, "Unknown", v1alpha1.ReasonDeploymentUnknown))
		heals(ctx, grant)
	})

	It("to read Deployments keeps what it knows of one that it has lost sight of", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
		grant := revoke(ctx, "get", "apps", "deployments")
		kubectl(ctx, "label", "deployment/web", v1alpha1.LabelOwner+"-")
		Eventually(ctx, application).Should(And(
			beForbiddenTo("Reading", "Deployment", `cannot get resource "deployments"`),
			haveCondition(v1alpha1.ConditionAvailable, "Unknown", v1alpha1.ReasonDeploymentUnknown),
			HaveField("Status.DeploymentStatus.AvailableReplicas", BeEquivalentTo(2)),
			HaveField("Status.Phase", v1alpha1.PhaseRunning),
		))
		heals(ctx, grant)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
	})

	It("to write the status does its work, and says so in its log", func(ctx SpecContext) {
		grant := revoke(ctx, "patch", v1alpha1.GroupName, "applications/status")
		write(ctx, exposedSpec)
		Eventually(ctx, deployment).Should(HaveField("Spec.Template.Spec.Containers", HaveLen(1)))
		Eventually(ctx, service).Should(HaveField("Spec.Ports", HaveLen(1)))
		Eventually(loggedErrors).Should(ContainElement(And(ContainSubstring("cannot patch resource"), ContainSubstring("applications/status"))))
		heals(ctx, grant)
	})

	DescribeTable("does not begin, and says why:",
		func(ctx SpecContext, verb, group, resource string) {
			grant := revoke(ctx, verb, group, resource)
			kubeconfig, err := env.KubeconfigFor(harness.OperatorUser)
			Expect(err).NotTo(HaveOccurred())
			expectOneLine(run(ctx, "--kubeconfig="+kubeconfig), And(
				ContainSubstring("the operator's user lacks rights"),
				ContainSubstring(fmt.Sprintf("cannot %s resource %q", verb, resource)),
				ContainSubstring("kubectl apply --server-side -k deploy/rbac")))

			By("granting it: the next start, as a kubelet brings it about, goes well")
			grant()
			session := run(ctx, "--kubeconfig="+kubeconfig)
			Eventually(session.Err).Should(gbytes.Say("Starting workers"))
			Eventually(session.Interrupt()).Should(gexec.Exit(0))
		},
		Entry("to list Applications", "list", v1alpha1.GroupName, "applications"),
		Entry("to watch Deployments", "watch", "apps", "deployments"),
		Entry("to list Services", "list", "", "services"),
	)

	It("to watch Services, lost on the way, does its work, and says so in its log", func(ctx SpecContext) {
		grant := revoke(ctx, "watch", "", "services")
		By("breaking the watches that were begun before")
		Expect(env.StopAPIServer()).To(Succeed())
		Expect(env.StartAPIServer(ctx)).To(Succeed())
		given(ctx, exposedSpec)
		Eventually(env.OperatorLog).Should(ContainSubstring(`cannot watch resource \"services\"`))
		heals(ctx, grant)

		By("changing the Service: the operator sees it again")
		edit(ctx, "somebody", theService(), "{spec: {ports: [{port: 8080, targetPort: 9999}]}}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonFieldConflict))
	})

	It("to set what blocks the deletion of an Application says so", func(ctx SpecContext) {
		// The API server has OwnerReferencesPermissionEnforcement, see the suite.
		grant := revoke(ctx, "update", v1alpha1.GroupName, "applications/finalizers")
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beForbidden("Deployment", "cannot set blockOwnerDeletion"))
		heals(ctx, grant)
	})

	It("to delete Deployments cannot let go of one, and says so", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, deletionPolicy: Orphan}")
		grant := revoke(ctx, "delete", "apps", "deployments")
		Expect(env.Client.Delete(ctx, theApplication())).To(Succeed())
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonForbidden,
			ContainSubstring("cannot set an ownerRef on a resource you can't delete")))
		grant()
		eventuallyGone(ctx, theApplication())
		Expect(the(ctx, deployment).OwnerReferences).To(BeEmpty())
	})

	It("to set the finalizer applies nothing, and says so", func(ctx SpecContext) {
		grant := revoke(ctx, "patch", v1alpha1.GroupName, "applications")
		write(ctx, "{image: registry.example/web:1, deletionPolicy: Orphan}")
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonForbidden,
			ContainSubstring(`cannot patch resource "applications"`)))

		By("and once, though somebody holds a field of the status in which it says so")
		hold(ctx, "somebody", `{"phase": "Running"}`)
		Eventually(ctx, application).Should(HaveField("Status.Conflicts", ConsistOf(onStatus(".status.phase", "somebody"))))
		waitForQuiet()
		Expect(the(ctx, application).Status.Conflicts).To(HaveLen(1))
		release(ctx, "somebody")
		heals(ctx, grant)
	})

	It("to write Events does its work, and says so in its log", func(ctx SpecContext) {
		grant := revoke(ctx, "create", "events.k8s.io", "events")
		given(ctx, exposedSpec)
		Eventually(env.OperatorLog).Should(ContainSubstring(`cannot create resource \"events\"`))
		heals(ctx, grant)
	})
})

// beForbidden matches an Application of which a child may not be written.
func beForbidden(kind, words string) types.GomegaMatcher {
	return beForbiddenTo("Writing", kind, words)
}

func beForbiddenTo(verb, kind, words string) types.GomegaMatcher {
	message := And(ContainSubstring(verb+" "+kind+" web is forbidden"), ContainSubstring(words))
	return And(
		haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonForbidden, message),
		haveCondition(v1alpha1.ConditionReady, "False", v1alpha1.ReasonForbidden),
		haveCondition(v1alpha1.ConditionStalled, "True", v1alpha1.ReasonForbidden),
	)
}

// revoke takes a right out of the operator's role, until grant is called or the spec ends.
func revoke(ctx context.Context, verb, group, resource string) (grant func()) {
	GinkgoHelper()
	By(fmt.Sprintf("revoking the right to %s %s", verb, resource))
	mayBeDenied = true
	role := &rbacv1.ClusterRole{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: "application-operator"}, role)).To(Succeed())
	shipped := slices.Clone(role.Rules)
	var rest []rbacv1.PolicyRule
	for _, rule := range shipped {
		if slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) {
			Expect(rule.Verbs).To(ContainElement(verb), "the role never had it")
			rule.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
		}
		if len(rule.Verbs) > 0 {
			rest = append(rest, rule)
		}
	}
	set := func(ctx context.Context, rules []rbacv1.PolicyRule, allowed bool) {
		GinkgoHelper()
		role.Rules = rules
		Expect(env.Client.Update(ctx, role)).To(Succeed())
		Eventually(ctx, func(ctx context.Context) (bool, error) { return operatorMay(ctx, verb, group, resource) }).Should(Equal(allowed))
	}
	set(ctx, rest, false)
	DeferCleanup(func(ctx SpecContext) { set(ctx, shipped, true) })
	return func() { set(ctx, shipped, true) }
}

// operatorMay asks the API server's authorizer, which hears of a changed role a little later.
func operatorMay(ctx context.Context, verb, group, resource string) (bool, error) {
	resource, subresource, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: harness.OperatorUser,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource,
		},
	}}
	err := env.Client.Create(ctx, review)
	return review.Status.Allowed, err
}
