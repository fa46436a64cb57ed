package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("A namespace that is being deleted", func() {
	const (
		applications = 25
		// Each event of the end of an Application's children may make the operator try to bring both back.
		tries = 8
		// held is longer than the next retries would take.
		held = 12 * time.Second
	)

	It("FR-40: is left in peace, however long it takes", func(ctx context.Context) {
		s := newSpace(ctx)
		w := s.watch()
		for n := range applications {
			s.apply(ctx, fmt.Sprint("web-", n), "image: '"+goodImage+"', replicas: 1, port: 80, expose: ClusterIP")
		}
		for n := range applications {
			s.expectReady(ctx, fmt.Sprint("web-", n))
		}
		By("putting something into it that holds it, and keeping the Applications from being deleted with the rest")
		anchor := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "anchor", Finalizers: []string{"test.example/anchor"}}}
		Expect(env.Client.Create(ctx, anchor)).To(Succeed())
		release := s.keepApplications(ctx)
		expectRest(ctx)
		deleted := mark()
		Expect(env.Client.Delete(ctx, s.namespace())).To(Succeed())
		Eventually(s.items).WithContext(ctx).WithArguments(&appsv1.DeploymentList{}).Should(BeZero())
		Eventually(s.items).WithContext(ctx).WithArguments(&corev1.ServiceList{}).Should(BeZero())
		for n := range applications {
			s.expectCondition(ctx, fmt.Sprint("web-", n), v1alpha1.ConditionReady, "False "+v1alpha1.ReasonTerminating)
		}
		expectRest(ctx)
		rest := mark()
		Consistently(func() cluster.Events { return operatorRequests(rest) }).
			WithContext(ctx).WithTimeout(held).WithPolling(time.Second).Should(BeEmpty(), "no retry")

		By("letting the Applications go as well")
		release()
		Eventually(s.items).WithContext(ctx).WithArguments(&v1alpha1.ApplicationList{}).Should(BeZero())
		expectNothingQueued(ctx)

		By("reading what the operator did meanwhile")
		for n := range applications {
			name := fmt.Sprint("web-", n)
			w.expectOneLife(name)
			refused := operatorWrites(deleted, cluster.InNamespace(s.name), cluster.Named(name), cluster.WithCode(403))
			Expect(len(refused)).To(BeNumerically("<=", tries), "a few tries at most: %s", refused)
		}
		Expect(operatorWrites(deleted, cluster.InNamespace(s.name), cluster.WithCode(201))).To(BeEmpty())
		Expect(requestsOfAnyone(deleted, cluster.ByUser(harness.OperatorUser), cluster.OnResource("events"))).To(BeEmpty(), "no Events into a dying namespace")

		By("letting it go")
		Expect(env.MergeYAML(ctx, userManager, anchor, "metadata: {finalizers: null}")).To(Succeed())
		Eventually(func() error {
			return env.Client.Get(ctx, client.ObjectKey{Name: s.name}, &corev1.Namespace{})
		}).WithContext(ctx).Should(MatchError(ContainSubstring("not found")))
	})
})

func (s *space) namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
}

// items counts the objects of a kind in the space.
func (s *space) items(ctx context.Context, list client.ObjectList) (int, error) {
	err := env.Client.List(ctx, list, client.InNamespace(s.name))
	return apimeta.LenList(list), err
}

// keepApplications makes a policy refuse to delete the Applications of the space, until release is called.
func (s *space) keepApplications(ctx context.Context) (release func()) {
	GinkgoHelper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	Expect(env.ApplyYAML(ctx, userManager, "", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %s}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [application.mycompany.io], apiVersions: ["*"], operations: [DELETE], resources: [applications]}
  validations:
  - {expression: "false", message: Applications are kept}
`, s.name))).To(Succeed())
	Expect(env.ApplyYAML(ctx, userManager, "", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %s}
spec:
  policyName: %[1]s
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}}
`, s.name))).To(Succeed())
	release = func() {
		for _, object := range []client.Object{binding, policy} {
			Expect(client.IgnoreNotFound(env.Client.Delete(context.Background(), object))).To(Succeed())
		}
	}
	DeferCleanup(release)
	Eventually(func() error {
		return env.Client.Delete(ctx, s.application(ctx, "web-0"), client.DryRunAll)
	}).WithContext(ctx).Should(MatchError(ContainSubstring("Applications are kept")))
	return release
}
