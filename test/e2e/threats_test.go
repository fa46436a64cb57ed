package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// What the README's threat model says of somebody who may create Applications, and nothing else.
var _ = Describe("An author of Applications", func() {
	var s *space

	// create creates an Application as somebody who has no other right.
	create := func(ctx context.Context, name string) {
		GinkgoHelper()
		author := "author-of-" + s.name
		Expect(env.Client.Create(ctx, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "author"},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{v1alpha1.Resource}, Verbs: []string{"create"}}},
		})).To(Succeed())
		Expect(env.Client.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "author"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "author"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: author}},
		})).To(Succeed())
		c, err := client.New(env.ConfigFor(author), client.Options{Scheme: env.Client.Scheme(), Mapper: env.Client.RESTMapper()})
		Expect(err).NotTo(HaveOccurred())
		app := &v1alpha1.Application{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name},
			Spec:       v1alpha1.ApplicationSpec{Image: goodImage},
		}
		// The authorizer hears of a role a little later.
		Eventually(func() error { return c.Create(ctx, app.DeepCopy()) }).WithContext(ctx).Should(Succeed())
	}

	BeforeEach(func(ctx context.Context) { s = newSpace(ctx) })

	It("gets no pod past the namespace's Pod Security", func(ctx context.Context) {
		Expect(env.MergeYAML(ctx, "platform", s.namespace(), "{metadata: {labels: {pod-security.kubernetes.io/enforce: restricted}}}")).To(Succeed())
		create(ctx, "web")
		s.expectCondition(ctx, "web", v1alpha1.ConditionReady, "False "+v1alpha1.ReasonReplicaFailure)
		Expect(s.application(ctx, "web").Status.DeploymentStatus.Conditions).To(ContainElement(HaveField("Message", ContainSubstring("violates PodSecurity"))))
		Expect(s.pods(ctx, "web")).To(BeEmpty())
	})

	It("gets no pod past the namespace's quota", func(ctx context.Context) {
		Expect(env.Client.Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "none"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		})).To(Succeed())
		Eventually(func(ctx context.Context) (corev1.ResourceList, error) {
			quota := &corev1.ResourceQuota{}
			err := env.Client.Get(ctx, s.key("none"), quota)
			return quota.Status.Hard, err
		}).WithContext(ctx).Should(HaveKey(corev1.ResourcePods))
		create(ctx, "web")
		s.expectCondition(ctx, "web", v1alpha1.ConditionReady, "False "+v1alpha1.ReasonReplicaFailure)
		Expect(s.application(ctx, "web").Status.DeploymentStatus.Conditions).To(ContainElement(HaveField("Message", ContainSubstring("exceeded quota: none"))))
		Expect(s.pods(ctx, "web")).To(BeEmpty())
	})

	It("cannot take over what is there already", func(ctx context.Context) {
		s.kubectl(ctx, "create", "deployment", "web", "--image=registry.example/other:1")
		before := s.deployment(ctx, "web")
		create(ctx, "web")
		s.expectCondition(ctx, "web", v1alpha1.ConditionReady, "False "+v1alpha1.ReasonResourceExists)
		after := &appsv1.Deployment{}
		Expect(env.Client.Get(ctx, s.key("web"), after)).To(Succeed())
		Expect(after.UID).To(Equal(before.UID))
		Expect(after.Generation).To(Equal(before.Generation))
		Expect(after.OwnerReferences).To(BeEmpty())
		Expect(managersOf(after, "spec", "template")).NotTo(ContainElement(HavePrefix(v1alpha1.FieldManager)))
	})
})
