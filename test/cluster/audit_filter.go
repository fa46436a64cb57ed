package cluster

import (
	"slices"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Filter selects events of an audit log.
type Filter func(Event) bool

// ByUser selects requests of a user, such as
// "system:serviceaccount:kube-system:deployment-controller".
func ByUser(name string) Filter {
	return func(e Event) bool { return e.User.Username == name }
}

// ByUserAgent selects requests whose user agent starts so.
func ByUserAgent(prefix string) Filter {
	return func(e Event) bool { return strings.HasPrefix(e.UserAgent, prefix) }
}

// ByFieldManager selects requests that name this field manager.
func ByFieldManager(name string) Filter {
	return func(e Event) bool { return e.FieldManager() == name }
}

// WithVerb selects requests by their verb; an apply is a "patch".
func WithVerb(verbs ...string) Filter {
	return func(e Event) bool { return slices.Contains(verbs, e.Verb) }
}

// Writes selects requests that can change something.
func Writes() Filter {
	return WithVerb("create", "update", "patch", "delete", "deletecollection")
}

// Forced selects forced applies.
func Forced() Filter {
	return Event.Forced
}

// OnResource selects requests by their resource, in the plural. "pods" stands for
// the Pods themselves, "pods/status" for that subresource, "pods/*" for both and
// every other subresource.
func OnResource(resource string) Filter {
	name, subresource, _ := strings.Cut(resource, "/")
	return func(e Event) bool {
		ref := e.ObjectRef
		return ref != nil && ref.Resource == name && (subresource == "*" || ref.Subresource == subresource)
	}
}

// InAPIGroup selects requests by their API group, "" being the core one.
func InAPIGroup(group string) Filter {
	return func(e Event) bool { return e.ObjectRef != nil && e.ObjectRef.APIGroup == group }
}

// InNamespace selects requests by the namespace of their object.
func InNamespace(name string) Filter {
	return func(e Event) bool { return e.ObjectRef != nil && e.ObjectRef.Namespace == name }
}

// Named selects requests by the name of their object. A create has it only if the
// client set it.
func Named(name string) Filter {
	return func(e Event) bool { return e.ObjectRef != nil && e.ObjectRef.Name == name }
}

// WithCode selects requests by the status code of their response.
func WithCode(codes ...int) Filter {
	return func(e Event) bool { return slices.Contains(codes, e.Code()) }
}

// Complete selects the final event of each request, and so leaves out the one
// that tells that a watch has started.
func Complete() Filter {
	return func(e Event) bool { return e.Stage == auditv1.StageResponseComplete }
}

// Any selects events that pass at least one of the filters.
func Any(filters ...Filter) Filter {
	return func(e Event) bool {
		return slices.ContainsFunc(filters, func(f Filter) bool { return f(e) })
	}
}

// Except selects events that pass none of the filters.
func Except(filters ...Filter) Filter {
	excluded := Any(filters...)
	return func(e Event) bool { return !excluded(e) }
}

func all(filters []Filter, e Event) bool {
	for _, filter := range filters {
		if !filter(e) {
			return false
		}
	}
	return true
}
