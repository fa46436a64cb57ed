package production

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("The guard that denies", func() {
	const denied = "comes from "

	// edit tries a strategic merge patch of a child of the Application web.
	edit := func(ctx context.Context, as client.Client, child client.Object, namespace, patch string) error {
		child.SetNamespace(namespace)
		child.SetName("web")
		return as.Patch(ctx, child, client.RawPatch(types.StrategicMergePatchType, []byte(patch)), client.DryRunAll)
	}
	app := func(fields string) string {
		return `{"spec":{"template":{"spec":{"containers":[{"name":"app",` + fields + `}]}}}}`
	}

	It("lets an operator of any namespace work, and nobody who has but its name", func(ctx SpecContext) {
		shop, office := newNamespace(ctx), newNamespace(ctx)
		account := "system:serviceaccount:" + office + ":application-operator"
		bind(ctx, office, shop, "ClusterRole", "application-operator")
		operator, err := env.StartOperatorAs(ctx, account, "--watch-namespaces="+shop)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(operator.Stop)
		apply(ctx, shop, "web", "{image: registry.example/web:1, replicas: 2, port: 80, expose: ClusterIP, command: [a], env: [{name: A, value: a}]}")
		Eventually(synced(shop, "web")).WithContext(ctx).Should(Equal("Synced"))
		installGuard(ctx, "guard-deny", shop)

		apply(ctx, shop, "web", "{image: registry.example/web:2, replicas: 3, port: 81, expose: NodePort, command: [b], env: [{name: A, value: b}], deployment: {spec: {minReadySeconds: 3}}}")
		Eventually(synced(shop, "web")).WithContext(ctx).Should(Equal("Synced"))
		Expect(imageOf(shop, "web")(ctx)).To(Equal("registry.example/web:2"))
		apply(ctx, shop, "web", "{image: registry.example/web:2, port: 81, expose: NodePort, env: [{name: A, value: c}], deployment: {spec: {minReadySeconds: 4}}}")
		Eventually(synced(shop, "web")).WithContext(ctx).Should(Equal("Synced"))

		By("being edited by its namesake")
		another := newNamespace(ctx)
		Expect(env.Client.Create(ctx, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "editor"},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{appsv1.GroupName}, Resources: []string{"deployments"}, Verbs: []string{"patch"}}},
		})).To(Succeed())
		bind(ctx, another, shop, "Role", "editor")
		namesake, err := client.New(env.ConfigFor("system:serviceaccount:"+another+":application-operator"), client.Options{Scheme: env.Client.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(ctx context.Context) error {
			return edit(ctx, namesake, &appsv1.Deployment{}, shop, `{"spec":{"revisionHistoryLimit":3}}`)
		}).WithContext(ctx).Should(Succeed())
		Expect(edit(ctx, namesake, &appsv1.Deployment{}, shop, app(`"image":"other"`))).To(MatchError(ContainSubstring(denied + "spec.image of Application web")))
	})

	It("covers what the Application says in its own words, whoever removes the owner at once, and no paused one", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		start(ctx, "guarded", "--watch-namespaces="+namespace)
		spec := func(rest string) string {
			return "{image: registry.example/web:1, port: 80, expose: ClusterIP, " + rest + `
				deployment: {metadata: {annotations: {team: red}}, spec: {minReadySeconds: 3, template: {spec: {containers: [{name: proxy, image: envoy}]}}}},
				service: {spec: {sessionAffinity: ClientIP}}}`
		}
		apply(ctx, namespace, "web", spec(""))
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("Synced"))
		installGuard(ctx, "guard-deny", namespace)

		changes := []struct {
			child   client.Object
			patch   string
			message string
		}{
			{&appsv1.Deployment{}, `{"spec":{"minReadySeconds":4}}`, "Application web: change it there"},
			{&appsv1.Deployment{}, `{"spec":{"minReadySeconds":null}}`, "Application web: change it there"},
			{&appsv1.Deployment{}, `{"metadata":{"annotations":{"team":"blue"}}}`, "Application web: change it there"},
			{&appsv1.Deployment{}, `{"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"other"}]}}}}`, "Application web: change it there"},
			{&appsv1.Deployment{}, `{"spec":{"template":{"spec":{"containers":[{"name":"proxy","$patch":"delete"}]}}}}`, "Application web: change it there"},
			{&appsv1.Deployment{}, `{"metadata":{"ownerReferences":null},` + app(`"image":"other"`)[1:], "spec.image of Application web"},
			{&appsv1.Deployment{}, `{"metadata":{"labels":{"owner":null}},` + app(`"image":"other"`)[1:], "spec.image of Application web"},
			{&corev1.Service{}, `{"spec":{"sessionAffinity":"None"}}`, "Application web: change it there"},
			{&corev1.Service{}, `{"metadata":{"ownerReferences":null},"spec":{"type":"NodePort"}}`, "spec.expose of Application web"},
		}
		for _, change := range changes {
			Expect(edit(ctx, env.Client, change.child, namespace, change.patch)).To(MatchError(ContainSubstring(denied+change.message)), change.patch)
		}

		By("changing what the Application does not say, or to what it says")
		for _, patch := range []string{
			`{"spec":{"progressDeadlineSeconds":30,"minReadySeconds":3}}`,
			`{"metadata":{"annotations":{"team":"red","mine":"1"},"labels":{"mine":"1"}}}`,
			`{"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"envoy","tty":true},{"name":"mine","image":"mine"}]}}}}`,
			app(`"image":"registry.example/web:1","tty":true`),
		} {
			Expect(edit(ctx, env.Client, &appsv1.Deployment{}, namespace, patch)).To(Succeed(), patch)
		}

		By("pausing it")
		apply(ctx, namespace, "web", spec("paused: true,"))
		for _, change := range changes {
			Eventually(func(ctx context.Context) error { return edit(ctx, env.Client, change.child, namespace, change.patch) }).
				WithContext(ctx).Should(Succeed(), change.patch)
		}
	})
})

// bind gives the ServiceAccount application-operator of a namespace, its office, the rights of a role in another.
func bind(ctx context.Context, office, namespace, kind, role string) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: office, Name: "application-operator"}},
	})).To(Succeed())
}
