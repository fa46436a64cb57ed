package cli

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
)

func TestExplain(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	request := Request{Verb: "get", Resource: deployments, Namespace: "shop", Name: "web"}
	for _, test := range []struct {
		name    string
		err     error
		request Request
		want    string
	}{
		{
			name:    "missing rights",
			err:     apierrors.NewForbidden(deployments, "web", errors.New("no")),
			request: request,
			want:    `you may not get deployments.apps in namespace "shop": ask for a role that allows the verb "get" on the resource "deployments" of API group "apps", and check it with "kubectl auth can-i get deployments.apps --namespace shop": deployments.apps "web" is forbidden: no`,
		},
		{
			name:    "missing rights in all namespaces",
			err:     apierrors.NewForbidden(ApplicationResource, "", errors.New("no")),
			request: Request{Verb: "list", Resource: ApplicationResource},
			want:    `you may not list applications.application.mycompany.io: ask for a role that allows the verb "list" on the resource "applications" of API group "application.mycompany.io", and check it with "kubectl auth can-i list applications.application.mycompany.io": applications.application.mycompany.io is forbidden: no`,
		},
		{
			name:    "absent object",
			err:     apierrors.NewNotFound(deployments, "web"),
			request: request,
			want:    `deployments.apps "web" not found in namespace "shop": list what there is with "kubectl get deployments.apps --namespace shop", or choose another namespace with --namespace`,
		},
		{
			name:    "absent object without a namespace",
			err:     apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, "a"),
			request: Request{Verb: "get", Resource: schema.GroupResource{Resource: "nodes"}, Name: "a"},
			want:    `nodes "a" not found: list what there is with "kubectl get nodes"`,
		},
		{
			name:    "no such kind",
			err:     &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "Gadget"}},
			request: Request{Verb: "get", Resource: schema.GroupResource{Group: "example.com", Resource: "gadgets"}},
			want:    `this cluster does not serve gadgets.example.com: see "kubectl api-resources" for what it does serve`,
		},
		{
			name:    "not logged in",
			err:     apierrors.NewUnauthorized("Unauthorized"),
			request: request,
			want:    "the API server does not know you: log in again, or choose another user with --context or --user: Unauthorized",
		},
		{
			name:    "no configuration",
			err:     clientcmd.ErrEmptyConfig,
			request: request,
			want:    "no cluster is configured: name a kubeconfig with --kubeconfig or KUBECONFIG: " + clientcmd.ErrEmptyConfig.Error(),
		},
		{name: "anything else", err: errors.New("what"), request: request, want: "what"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Explain(test.err, test.request)
			if got.Error() != test.want {
				t.Errorf("got:  %s\nwant: %s", got, test.want)
			}
			if !errors.Is(got, test.err) {
				t.Error("the error is no longer in the chain")
			}
		})
	}
	if Explain(nil, request) != nil {
		t.Error("nothing is explained")
	}
}

// A cluster without the operator serves no Applications, and says so in two ways: at once, or to a client that has an old
// list of what it serves.
func TestNoCRD(t *testing.T) {
	for name, groups := range map[string]string{
		"known":     `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`,
		"forgotten": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"application.mycompany.io","versions":[{"groupVersion":"application.mycompany.io/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"application.mycompany.io/v1alpha1","version":"v1alpha1"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				body, code := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`, http.StatusNotFound
				switch r.URL.Path {
				case "/api":
					body, code = `{"kind":"APIVersions","versions":["v1"]}`, http.StatusOK
				case "/apis":
					body, code = groups, http.StatusOK
				case "/api/v1", "/apis/apps/v1":
					body, code = `{"kind":"APIResourceList","apiVersion":"v1","resources":[]}`, http.StatusOK
				case "/apis/application.mycompany.io/v1alpha1":
					body, code = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"application.mycompany.io/v1alpha1","resources":[{"name":"applications","singularName":"application","namespaced":true,"kind":"Application","verbs":["get"]}]}`, http.StatusOK
				}
				w.WriteHeader(code)
				_, _ = w.Write([]byte(body)) // a client that went away
			}))
			defer server.Close()

			f := NewFactory(genericiooptions.NewTestIOStreamsDiscard())
			kubeconfig, cache, namespace := "/dev/null", t.TempDir(), "shop"
			f.Config.KubeConfig, f.Config.APIServer, f.Config.CacheDir, f.Config.Namespace = &kubeconfig, &server.URL, &cache, &namespace
			c, err := f.Client()
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = c.Application(t.Context(), "web")
			want := `this cluster does not serve applications.application.mycompany.io, so the operator is not installed in it: install it with "kubectl apply --server-side -k deploy/default", or choose another cluster with --context`
			if err == nil || err.Error() != want {
				t.Errorf("got:  %v\nwant: %s", err, want)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	f := NewFactory(genericiooptions.NewTestIOStreamsDiscard())
	kubeconfig, cache := "/dev/null", t.TempDir()
	f.Config.KubeConfig, f.Config.APIServer, f.Config.CacheDir = &kubeconfig, &server.URL, &cache
	c, err := f.Client()
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Application(t.Context(), "web")
	want := "the API server at " + strings.TrimPrefix(server.URL, "http://") + " does not answer: check that it runs and that --context chooses the right cluster: "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got:  %v\nwant: %s", err, want)
	}
}
