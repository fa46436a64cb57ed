package plugin

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

var _ = Describe("tree", func() {
	It("shows what came of an Application", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")
		Eventually(func() string { return succeeds(ctx, "tree", "web") }).Should(MatchRegexp(`^NAME +READY +STATUS +CONFLICTS +AGE
Application/web +True +Running, Synced +0 +\w+
├─ Deployment/web +2/2 +Available +0 +\w+
│  └─ ReplicaSet/web-\w+ +2/2 +revision 1 +\w+
│     ├─ Pod/web-\w+-\w+ +1/1 +Running +\w+
│     └─ Pod/web-\w+-\w+ +1/1 +Running +\w+
└─ Service/web +ClusterIP 10\.\S+ 8080/TCP +0 +\w+
$`))

		scale(ctx, "hpa", 3)
		contested(ctx)
		Expect(succeeds(ctx, "tree", "web")).To(And(
			MatchRegexp(`(?m)^Application/web +False +\w+, FieldConflict +1 `),
			MatchRegexp(`(?m)^├─ Deployment/web +\d/3 +.* +1 `),
		))
	})

	It("shows what the user may see, and says what is missing", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		allow(ctx, "reader",
			rbacv1.PolicyRule{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{v1alpha1.Resource}, Verbs: []string{"get"}},
			rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments", "replicasets"}, Verbs: []string{"get", "list"}},
		)
		var r result
		Eventually(func() string { // rights arrive a little later
			r = plugin(ctx, "tree", "web", "--as=reader")
			return r.stdout
		}).Should(ContainSubstring("ReplicaSet/web-"))
		Expect(r.code).To(Equal(1))
		Expect(r.stdout).To(MatchRegexp(`Service/web +not readable, see below`))
		Expect(r.stderr).To(And(
			ContainSubstring(`you may not get services in namespace "`+namespace+`"`),
			ContainSubstring(`you may not list pods in namespace "`+namespace+`"`),
		))
	})
})

// allow grants a user rights in the spec's namespace.
func allow(ctx SpecContext, user string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Name: user, Namespace: namespace}
	Expect(env.Client.Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules})).To(Succeed())
	Expect(env.Client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	})).To(Succeed())
}
