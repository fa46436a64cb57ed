package harness

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/test/cluster"
)

// Right is one thing that a role permits, or that a request needed.
type Right struct {
	Verb string
	// Resource is in the plural, with the API group and the subresource: "deployments.apps", "applications.example/status",
	// "services". For what is no resource it is the path.
	Resource string
}

// String reads as "patch deployments.apps".
func (r Right) String() string { return r.Verb + " " + r.Resource }

func newRight(verb, group, resource string) Right {
	name, subresource, _ := strings.Cut(resource, "/")
	if group != "" {
		name += "." + group
	}
	if subresource != "" {
		name += "/" + subresource
	}
	return Right{Verb: verb, Resource: name}
}

// Denied returns the requests of a user since mark that no role permitted.
func (e *Environment) Denied(user string, mark cluster.Mark) (cluster.Events, error) {
	return e.Audit().Since(mark, cluster.ByUser(user), cluster.Complete(), func(event cluster.Event) bool {
		return event.Annotations["authorization.k8s.io/decision"] == "forbid"
	})
}

// UnusedRights returns the rights that are granted to a service account by name, as "system:serviceaccount:…", and that
// none of its requests since mark needed. What everybody may do who is authenticated is not counted as granted.
func (e *Environment) UnusedRights(ctx context.Context, user string, mark cluster.Mark) ([]Right, error) {
	granted, err := e.granted(ctx, user)
	if err != nil {
		return nil, err
	}
	events, err := e.Audit().Since(mark, cluster.ByUser(user))
	if err != nil {
		return nil, err
	}
	used := map[Right]bool{}
	for _, event := range events {
		right := needed(event)
		used[right] = true
		if event.Verb == "patch" && event.Code() == http.StatusCreated {
			// The API server then asked for this, too.
			used[Right{Verb: "create", Resource: right.Resource}] = true
		}
	}
	return slices.DeleteFunc(granted, func(right Right) bool { return used[right] }), nil
}

// needed returns the right that a request needed.
func needed(event cluster.Event) Right {
	if event.ObjectRef == nil || event.ObjectRef.Resource == "" {
		path := event.RequestURI
		if uri, err := url.ParseRequestURI(path); err == nil {
			path = uri.Path
		}
		return Right{Verb: event.Verb, Resource: path}
	}
	resource := event.ObjectRef.Resource
	if event.ObjectRef.Subresource != "" {
		resource += "/" + event.ObjectRef.Subresource
	}
	return newRight(event.Verb, event.ObjectRef.APIGroup, resource)
}

// granted returns every right that a binding gives to the service account, each once.
func (e *Environment) granted(ctx context.Context, user string) ([]Right, error) {
	clusterBindings, bindings := &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}
	if err := e.Client.List(ctx, clusterBindings); err != nil {
		return nil, fmt.Errorf("listing the bindings: %w", err)
	}
	if err := e.Client.List(ctx, bindings); err != nil {
		return nil, fmt.Errorf("listing the bindings: %w", err)
	}
	var rights []Right
	add := func(namespace string, subjects []rbacv1.Subject, role rbacv1.RoleRef) error {
		if !slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool { return subjectName(&s) == user }) {
			return nil
		}
		rules, err := e.rules(ctx, namespace, role)
		for i := range rules {
			rights = append(rights, rightsOf(&rules[i])...)
		}
		return err
	}
	for i := range clusterBindings.Items {
		b := &clusterBindings.Items[i]
		if err := add("", b.Subjects, b.RoleRef); err != nil {
			return nil, err
		}
	}
	for i := range bindings.Items {
		b := &bindings.Items[i]
		if err := add(b.Namespace, b.Subjects, b.RoleRef); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(rights, func(a, b Right) int {
		return strings.Compare(a.Resource+" "+a.Verb, b.Resource+" "+b.Verb)
	})
	return slices.Compact(rights), nil
}

func subjectName(s *rbacv1.Subject) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return "system:serviceaccount:" + s.Namespace + ":" + s.Name
	}
	return s.Name
}

func (e *Environment) rules(ctx context.Context, namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "ClusterRole" {
		role := &rbacv1.ClusterRole{}
		err := e.Client.Get(ctx, client.ObjectKey{Name: ref.Name}, role)
		return role.Rules, err
	}
	role := &rbacv1.Role{}
	err := e.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, role)
	return role.Rules, err
}

func rightsOf(rule *rbacv1.PolicyRule) []Right {
	var rights []Right
	for _, verb := range rule.Verbs {
		for _, path := range rule.NonResourceURLs {
			rights = append(rights, Right{Verb: verb, Resource: path})
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				rights = append(rights, newRight(verb, group, resource))
			}
		}
	}
	return rights
}
