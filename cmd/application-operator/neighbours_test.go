package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// reviews answers questions about rights: only these verbs are allowed, and only on the Leases of operators.
func reviews(t *testing.T, verbs ...string) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		review := &authorizationv1.SelfSubjectAccessReview{}
		if err := json.NewDecoder(request.Body).Decode(review); err != nil {
			t.Error(err)
			return
		}
		asked := review.Spec.ResourceAttributes
		if asked.Group != "coordination.k8s.io" || asked.Resource != "leases" || asked.Namespace != "" || asked.Name != "application-operator.application.mycompany.io" {
			t.Errorf("asked for %v", asked)
		}
		review.Status.Allowed = strings.Contains(strings.Join(verbs, " "), asked.Verb)
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

func TestNeighbours(t *testing.T) {
	for _, c := range []struct {
		name  string
		verbs []string
		sees  bool
	}{
		{"all rights", []string{"list", "watch"}, true},
		{"half of them", []string{"list"}, false},
		{"none", nil, false},
	} {
		o := &options{leaderElect: true, leaderElection: "ops"}
		if err := o.setUpNeighbours(t.Context(), logr.Discard(), reviews(t, c.verbs...)); err != nil {
			t.Fatal(err)
		}
		if o.controller.SeesNeighbours != c.sees || o.controller.Lease.String() != "ops/application-operator.application.mycompany.io" {
			t.Errorf("%s: sees %t, Lease %s", c.name, o.controller.SeesNeighbours, o.controller.Lease)
		}
	}
	o := &options{}
	if err := o.setUpNeighbours(t.Context(), logr.Discard(), reviews(t, "list", "watch")); err != nil || o.controller.Lease.Name != "" {
		t.Errorf("without leader election: Lease %s, error %v", o.controller.Lease, err)
	}
	o = &options{leaderElect: true}
	if err := o.setUpNeighbours(t.Context(), logr.Discard(), reviews(t)); err == nil || !strings.Contains(err.Error(), "--leader-election-namespace") {
		t.Errorf("outside of a cluster: %v", err)
	}
	if err := (&options{}).setUpNeighbours(t.Context(), logr.Discard(), &rest.Config{Host: "http://127.0.0.1:1"}); err == nil {
		t.Error("an API server that does not answer is no error")
	}
}
