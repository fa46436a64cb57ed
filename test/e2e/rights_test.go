package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/harness"
)

// provedElsewhere are rights that this suite does not need.
var provedElsewhere = []harness.Right{
	// An API server that enforces OwnerReferencesPermissionEnforcement asks for these when an owner reference is set or
	// taken. The suite integration proves for each that the operator fails without it.
	{Verb: "update", Resource: "applications.application.mycompany.io/finalizers"},
	{Verb: "delete", Resource: "deployments.apps"},
	// An Event that repeats about an unchanged Application. The suite upgrade has one.
	{Verb: "patch", Resource: "events.events.k8s.io"},
	// Whoever wants to see the metrics is asked for. The suite production has it.
	{Verb: "create", Resource: "tokenreviews.authentication.k8s.io"},
	{Verb: "create", Resource: "subjectaccessreviews.authorization.k8s.io"},
	// Of API servers that cannot send the initial state by a watch, which this one can.
	{Verb: "list", Resource: "leases.coordination.k8s.io"},
}

// expectLeastPrivilege asserts, of all that the suite played, that the operator was denied nothing, and that it was
// granted nothing that it did not need.
func expectLeastPrivilege(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Denied(harness.OperatorUser, 0)).To(BeEmpty())
	played, _ := GinkgoConfiguration()
	if len(played.FocusStrings)+len(played.SkipStrings)+len(played.FocusFiles)+len(played.SkipFiles) > 0 || played.LabelFilter != "" {
		return // a part of the suite needs a part of the rights
	}
	Expect(env.UnusedRights(ctx, harness.OperatorUser, 0)).To(ConsistOf(provedElsewhere), "granted, and never needed")
}

var _ = Describe("The shipped roles", func() {
	It("let the operator read no Secret, and nothing else that is none of its business", func(ctx context.Context) {
		for _, right := range []harness.Right{
			{Verb: "get", Resource: "secrets"}, {Verb: "list", Resource: "secrets"}, {Verb: "watch", Resource: "secrets"},
			{Verb: "get", Resource: "configmaps"}, {Verb: "list", Resource: "configmaps"},
			{Verb: "create", Resource: "pods"}, {Verb: "create", Resource: "pods/exec"}, {Verb: "get", Resource: "pods/log"},
			{Verb: "create", Resource: "serviceaccounts/token"}, {Verb: "impersonate", Resource: "users"},
			{Verb: "update", Resource: "deployments.apps"}, {Verb: "update", Resource: "services"},
			{Verb: "create", Resource: "applications.application.mycompany.io"}, {Verb: "delete", Resource: "applications.application.mycompany.io"},
			{Verb: "update", Resource: "applications.application.mycompany.io"},
			{Verb: "bind", Resource: "clusterroles.rbac.authorization.k8s.io"}, {Verb: "patch", Resource: "roles.rbac.authorization.k8s.io"},
			{Verb: "patch", Resource: "customresourcedefinitions.apiextensions.k8s.io"},
		} {
			for _, namespace := range []string{"", "default", harness.OperatorNamespace} {
				Expect(may(ctx, harness.OperatorUser, namespace, right)).To(BeFalse(), "%s in %q", right, namespace)
			}
		}
	})

	It("make Applications part of what viewers, editors and administrators of a namespace may", func(ctx context.Context) {
		s, other := newSpace(ctx), newSpace(ctx)
		for _, role := range []string{"view", "edit", "admin"} {
			Expect(env.Client.Create(ctx, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: role},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.name + ":" + role}},
			})).To(Succeed())
		}
		const everybody, writers, nobody = "view edit admin", "edit admin", ""
		for _, granted := range []struct{ verbs, subresource, to string }{
			{"get list watch", "", everybody},
			{"get", "/status", everybody},
			{"get", "/scale", everybody},
			{"create update patch delete deletecollection", "", writers},
			{"update patch", "/scale", writers},
			{"update patch", "/status", nobody},
			{"update", "/finalizers", nobody},
		} {
			for verb := range strings.FieldsSeq(granted.verbs) {
				right := harness.Right{Verb: verb, Resource: v1alpha1.Resource + "." + v1alpha1.GroupName + granted.subresource}
				for _, role := range []string{"view", "edit", "admin"} {
					expected := strings.Contains(granted.to, role)
					// The controller that aggregates roles takes a moment.
					Eventually(may).WithContext(ctx).WithArguments(s.name+":"+role, s.name, right).Should(Equal(expected), "%s by %s", right, role)
					Expect(may(ctx, s.name+":"+role, other.name, right)).To(BeFalse(), "%s by %s elsewhere", right, role)
				}
			}
		}
	})
})

// may asks the API server's authorizer.
func may(ctx context.Context, user, namespace string, right harness.Right) (bool, error) {
	resource, subresource, _ := strings.Cut(right.Resource, "/")
	resource, group, _ := strings.Cut(resource, ".")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: right.Verb, Group: group, Resource: resource, Subresource: subresource,
		},
	}}
	err := env.Client.Create(ctx, review)
	return review.Status.Allowed, err
}
