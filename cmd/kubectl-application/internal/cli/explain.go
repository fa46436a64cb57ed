package cli

import (
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
)

// Request is what was asked of the API server, for errors about it.
type Request struct {
	// Verb is the verb of RBAC: get, list, patch…
	Verb string
	// Resource may name a subresource: deployments/status.
	Resource schema.GroupResource
	// Namespace is empty for all namespaces and for what has none.
	Namespace string
	// Name is empty for lists.
	Name string
}

// Explain adds to an API server's error what the user can do about it. The error stays in the chain.
func Explain(err error, request Request) error {
	switch {
	case err == nil:
		return nil
	case isAbsentKind(err) && request.Resource == ApplicationResource:
		return explained(err, "this cluster does not serve %s, so the operator is not installed in it: install it with \"kubectl apply --server-side -k deploy/default\", or choose another cluster with --context",
			ApplicationResource)
	case isAbsentKind(err):
		return explained(err, "this cluster does not serve %s: see \"kubectl api-resources\" for what it does serve", request.Resource)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("you may not %s %s%s: ask for a role that allows the verb %q on the resource %q of API group %q, and check it with \"kubectl auth can-i %s %s%s\": %w",
			request.Verb, request.Resource, inNamespace(request.Namespace),
			request.Verb, request.Resource.Resource, request.Resource.Group,
			request.Verb, request.Resource, namespaceFlag(request.Namespace), err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server does not know you: log in again, or choose another user with --context or --user: %w", err)
	case apierrors.IsNotFound(err):
		advice := ""
		if request.Namespace != "" {
			advice = ", or choose another namespace with --namespace"
		}
		return explained(err, "%s %q not found%s: list what there is with \"kubectl get %s%s\"%s",
			request.Resource, request.Name, inNamespace(request.Namespace), request.Resource, namespaceFlag(request.Namespace), advice)
	}
	return explainConfig(err)
}

// explainedError says in its own words what the API server's error means.
type explainedError struct {
	words string
	err   error
}

func explained(err error, format string, args ...any) error {
	return &explainedError{words: fmt.Sprintf(format, args...), err: err}
}

func (e *explainedError) Error() string { return e.words }

func (e *explainedError) Unwrap() error { return e.err }

// isAbsentKind reports whether the cluster has no such kind at all. A mapper that has an old answer at hand is told by the
// API server, which then names no object.
func isAbsentKind(err error) bool {
	if meta.IsNoMatchError(err) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == ""
}

// explainConfig is about errors that have to do with no request in particular.
func explainConfig(err error) error {
	if clientcmd.IsEmptyConfig(err) {
		return fmt.Errorf("no cluster is configured: name a kubeconfig with --kubeconfig or KUBECONFIG: %w", err)
	}
	if unreachable, ok := errors.AsType[*url.Error](err); ok {
		if address, parseErr := url.Parse(unreachable.URL); parseErr == nil {
			return fmt.Errorf("the API server at %s does not answer: check that it runs and that --context chooses the right cluster: %w", address.Host, err)
		}
	}
	return err
}

func inNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return fmt.Sprintf(" in namespace %q", namespace)
}

func namespaceFlag(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " --namespace " + namespace
}
