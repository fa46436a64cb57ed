package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

var (
	applications = schema.GroupResource{Group: "application.mycompany.io", Resource: "applications"}
	listAll      = "/apis/application.mycompany.io/v1alpha1/applications"
)

// preflightCases has what can be wrong with a cluster, and what people are told about it.
var preflightCases = []struct {
	name string
	err  error
	says []string
}{
	{"no CRD", apierrors.NewNotFound(applications, ""), []string{"does not serve applications.application.mycompany.io v1alpha1", "CustomResourceDefinition", "kubectl apply --server-side -k deploy/crd"}},
	{"no rights", apierrors.NewForbidden(applications, "", errors.New(`user "joe" cannot list`)), []string{"lacks rights", `user "joe" cannot list`, "-k deploy/rbac"}},
	{"no entry", apierrors.NewUnauthorized("token expired"), []string{"does not accept the operator's credentials", "token expired", "kubeconfig"}},
	{"ill", apierrors.NewServiceUnavailable("etcd is down"), []string{"does not answer", "etcd is down"}},
}

func TestExplainPreflight(t *testing.T) {
	for _, c := range preflightCases {
		got := explainPreflight("https://api:6443", c.err)
		checkSentence(t, c.name, got.Error(), c.says)
		if c.name != "no CRD" && !errors.Is(got, c.err) {
			t.Errorf("%s: the cause is lost", c.name)
		}
		if c.name != "no rights" && !strings.Contains(got.Error(), "https://api:6443") {
			t.Errorf("%s: which server? %s", c.name, got)
		}
	}
	checkSentence(t, "no connection", explainPreflight("https://api:6443", context.DeadlineExceeded).Error(), []string{"does not answer", "deadline"})
}

// checkSentence: one line, with all of the parts.
func checkSentence(t *testing.T, name, got string, parts []string) {
	t.Helper()
	if strings.Contains(strings.TrimSpace(got), "\n") {
		t.Errorf("%s: more than one line: %q", name, got)
	}
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s: %q lacks %q", name, got, part)
		}
	}
}

// TestRunFailsWithASentence, soon and with exit code 1, whatever is wrong with the cluster.
func TestRunFailsWithASentence(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	check := func(name, kubeconfig string, says []string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), []string{"--kubeconfig", kubeconfig}, &stdout, &stderr); code != 1 {
			t.Errorf("%s: exit code %d, want 1", name, code)
		}
		checkSentence(t, name, stderr.String(), append(says, "application-operator: "))
		if stdout.Len() > 0 {
			t.Errorf("%s: stdout %q", name, stdout.String())
		}
	}
	for _, c := range preflightCases {
		server := newAPIServer(t, map[string]any{listAll: c.err})
		check(c.name, kubeconfig(t, server.URL), c.says)
	}
	gone := newAPIServer(t, nil)
	gone.Close()
	check("no server", kubeconfig(t, gone.URL), []string{"does not answer", "refused"})
	check("no file", filepath.Join(t.TempDir(), "missing"), []string{"no configuration of a cluster", "missing", "--kubeconfig"})
}

func TestPreflightAsksForWhatTheOperatorWatches(t *testing.T) {
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}}
	// paths of what is watched, in a namespace or all.
	paths := func(in string) []string {
		return []string{
			"/apis/application.mycompany.io/v1alpha1" + in + "/applications", "/apis/apps/v1" + in + "/deployments", "/api/v1" + in + "/services",
		}
	}
	a, b := paths("/namespaces/a"), paths("/namespaces/b")
	for _, c := range []struct {
		name       string
		namespaces []string
		paths      []string
		forbidden  string
	}{
		{"all namespaces", nil, paths(""), ""},
		{"two namespaces", []string{"a", "b"}, append(a, b...), ""},
		{"no rights in the second", []string{"a", "b"}, append(a, b...), b[0]},
		{"no right to read Deployments", nil, paths(""), paths("")[1]},
		{"no right to read Services", nil, paths(""), paths("")[2]},
	} {
		answers := map[string]any{}
		var want []string
		for _, path := range c.paths {
			answers[path] = list
			want = append(want, path+"?limit=1")
			if path == c.forbidden {
				answers[path] = apierrors.NewForbidden(applications, "", errors.New("no"))
				break
			}
			want = append(want, path+"?timeout=1s&timeoutSeconds=1&watch=true")
		}
		server := newAPIServer(t, answers)
		err := preflight(t.Context(), &rest.Config{Host: server.URL}, c.namespaces)
		if (err != nil) != (c.forbidden != "") {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(want, server.asked()); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestPreflightOfABadConfiguration(t *testing.T) {
	err := preflight(t.Context(), &rest.Config{Host: "https://api\x00"}, nil)
	if err == nil || !strings.Contains(err.Error(), "creating a client") {
		t.Errorf("got %v", err)
	}
}
