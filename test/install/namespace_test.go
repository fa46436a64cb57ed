package install

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("The operator of a single namespace", Ordered, func() {
	const (
		namespace = "shop"
		account   = "system:serviceaccount:" + namespace + ":application-operator"
	)
	folder := func() string { return overlay("namespace: "+namespace, "single-namespace") }

	BeforeAll(func(ctx SpecContext) {
		Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
		install(ctx, folder())
	})

	It("is installed into a namespace that stays as it is, and has no rights outside of it", func(ctx SpecContext) {
		shop := &corev1.Namespace{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: namespace}, shop)).To(Succeed())
		Expect(shop.Labels).To(HaveLen(1), "its name, as the API server labels each: %v", shop.Labels)

		bindings := &rbacv1.ClusterRoleBindingList{}
		Expect(env.Client.List(ctx, bindings)).To(Succeed())
		for _, binding := range bindings.Items {
			if binding.Name == "application-operator" {
				Expect(binding.Subjects).NotTo(ContainElement(HaveField("Namespace", namespace)))
			}
		}
		binding := &rbacv1.RoleBinding{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "application-operator"}, binding)).To(Succeed())
		Expect(binding.RoleRef).To(Equal(rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "application-operator"}))
		Expect(binding.Subjects).To(ConsistOf(rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "application-operator"}))
	})

	It("does all its work there, and nothing elsewhere", func(ctx SpecContext) {
		elsewhere, err := env.CreateNamespace(ctx)
		Expect(err).NotTo(HaveOccurred())
		begin, err := env.Audit().Mark()
		Expect(err).NotTo(HaveOccurred())
		operator, err := env.StartOperatorAs(ctx, account, append(selection(ctx, namespace), "--leader-elect", "--leader-election-namespace="+namespace)...)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(operator.Stop)

		for _, name := range []string{elsewhere, namespace} {
			Expect(env.ApplyYAML(ctx, "user", name, `{apiVersion: application.mycompany.io/v1alpha1, kind: Application,
				metadata: {name: web}, spec: {image: registry.example/web:1, port: 8080, expose: ClusterIP}}`)).To(Succeed())
		}
		for _, child := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}} {
			Eventually(func(ctx context.Context) error {
				return env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "web"}, child)
			}).WithContext(ctx).Should(Succeed())
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: elsewhere, Name: "web"}, child)).To(MatchError(ContainSubstring("not found")))
		}
		Eventually(func(ctx context.Context) (*v1alpha1.Application, error) {
			app := &v1alpha1.Application{}
			return app, env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "web"}, app)
		}).WithContext(ctx).Should(HaveField("Status.ObservedGeneration", BeEquivalentTo(1)))
		Expect(operator.Stop()).To(Succeed())
		Expect(env.Denied(account, begin)).To(BeEmpty())
		// It needed what this little takes, and is granted more.
		Expect(env.UnusedRights(ctx, account, begin)).To(And(
			ContainElement(harness.Right{Verb: "delete", Resource: "services"}),
			Not(ContainElement(harness.Right{Verb: "create", Resource: "services"})),
			Not(ContainElement(harness.Right{Verb: "create", Resource: "deployments.apps"})),
			Not(ContainElement(harness.Right{Verb: "patch", Resource: "applications.application.mycompany.io/status"})),
			Not(ContainElement(HaveField("Resource", "leases.coordination.k8s.io")))))
	})

	It("is known there to the guard, which denies others what it may", func(ctx SpecContext) {
		install(ctx, overlay("namespace: "+namespace, "single-namespace", "guard-deny"))
		DeferCleanup(func(ctx SpecContext) {
			_, err := env.Kubectl(ctx, "delete", "validatingadmissionpolicies,validatingadmissionpolicybindings", "--selector", "app.kubernetes.io/name=application-operator")
			Expect(err).NotTo(HaveOccurred())
		})
		operator, err := env.StartOperatorAs(ctx, account, selection(ctx, namespace)...)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(operator.Stop)
		apply := func(command string) {
			GinkgoHelper()
			Expect(env.ApplyYAML(ctx, "user", namespace, `{apiVersion: application.mycompany.io/v1alpha1, kind: Application,
				metadata: {name: guarded}, spec: {image: registry.example/web:1, command: [`+command+`]}}`)).To(Succeed())
		}
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "guarded"}}
		command := func(ctx context.Context) ([]string, error) {
			if err := env.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
				return nil, err
			}
			return deployment.Spec.Template.Spec.Containers[0].Command, nil
		}
		apply("a")
		Eventually(command).WithContext(ctx).Should(HaveExactElements("a"))
		Eventually(func() error {
			_, err := env.Kubectl(ctx, "set", "image", "deployment/guarded", "app=registry.example/web:2", "--namespace", namespace, "--dry-run=server")
			return err
		}).Should(MatchError(ContainSubstring("comes from spec.image of Application guarded")))
		apply("b")
		Eventually(command).WithContext(ctx).Should(HaveExactElements("b"))
	})
})

// selection returns the flags of the installed operator that say what it watches, as a kubelet would expand them.
func selection(ctx context.Context, namespace string) []string {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "application-operator"}, deployment)).To(Succeed())
	main := deployment.Spec.Template.Spec.Containers[0]
	Expect(main.Env).To(ContainElement(And(
		HaveField("Name", "POD_NAMESPACE"), HaveField("ValueFrom.FieldRef.FieldPath", "metadata.namespace"))))
	var flags []string
	for _, arg := range main.Args {
		if strings.HasPrefix(arg, "--watch-namespaces") {
			flags = append(flags, strings.ReplaceAll(arg, "$(POD_NAMESPACE)", namespace))
		}
	}
	return flags
}
