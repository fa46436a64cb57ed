package controllers

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// What is claimed here is about errors and about which requests are sent, never about ownership: that takes a server.

func expectRequests(t testing.TB, s *server, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestReconcileCreates(t *testing.T) {
	r, s, events := newReconciler(t)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s, "apply Deployment", "apply Service", "apply status")
	if diff := cmp.Diff([]string{"Normal Synced"}, events.events); diff != "" {
		t.Errorf("Events (-want +got):\n%s", diff)
	}
	// The cache shows none of this yet. Another reconcile now would do it all again.
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	if len(s.requests) != 3 {
		t.Errorf("a reconcile on an old cache wrote: %v", s.requests[3:])
	}
}

// TestReconcileErrors: how each request can fail, what is returned then, and what is written in spite of it.
func TestReconcileErrors(t *testing.T) {
	surprise := errors.New("surprise")
	all := []string{"apply Deployment", "apply Service", "apply status"}
	children := all[:2]
	for _, c := range []struct {
		name     string
		fails    map[string]error
		requests []string
		returned error // nil: the reconcile counts as done
		terminal bool
		synced   string // reason of Synced, if a status is applied
		events   []string
	}{
		{"the cache does not give the Application", map[string]error{"cached Application": surprise}, nil, surprise, false, "", nil},
		{"the cache does not give the Deployment", map[string]error{"cached Deployment": surprise}, []string{"apply Service"}, surprise, false, "", nil},
		{"the server does not give the Deployment", map[string]error{"stored Deployment": surprise}, []string{"apply Service"}, surprise, false, "", nil},
		{"the server does not give the Application", map[string]error{"stored Application": surprise}, nil, surprise, false, "", nil},
		{"Deployment: 503", map[string]error{"apply Deployment": answered(503, "ServiceUnavailable", "later")}, children, answered(503, "ServiceUnavailable", "later"), false, "", nil},
		{"Deployment: stale", map[string]error{"apply Deployment": staleVersion()}, children, staleVersion(), false, "", nil},
		{"Service: uid", map[string]error{"apply Service": uidMismatch()}, children, uidMismatch(), false, "", nil},
		{"Deployment: typed patch", map[string]error{"apply Deployment": untyped()}, all, untyped(), true, v1alpha1.ReasonInvalid, []string{"Warning Invalid"}},
		{"both invalid", map[string]error{"apply Deployment": invalid(), "apply Service": untyped()}, all, untyped(), true, v1alpha1.ReasonInvalid, []string{"Warning Invalid"}},
		{"one invalid, one forbidden", map[string]error{"apply Deployment": invalid(), "apply Service": overQuota()}, all, overQuota(), false, v1alpha1.ReasonForbidden, []string{"Warning Forbidden"}},
		{"one invalid, one to be tried again", map[string]error{"apply Deployment": staleVersion(), "apply Service": invalid()}, children, staleVersion(), false, "", nil},
		{"Service: webhook", map[string]error{"apply Service": webhookFailed(1)}, all, webhookFailed(1), false, v1alpha1.ReasonApplyFailed, []string{"Warning ApplyFailed"}},
		{"Deployment: field conflict", map[string]error{"apply Deployment": fieldConflict()}, all, nil, false, v1alpha1.ReasonFieldConflict, []string{"Warning FieldConflict"}},
		{"no such namespace", map[string]error{"apply Deployment": apierrors.NewNotFound(namespaces, "shop"), "apply Service": apierrors.NewNotFound(namespaces, "shop")}, all, nil, false, v1alpha1.ReasonTerminating, nil},
		{"namespace terminating", map[string]error{"apply Deployment": namespaceTerminating(), "apply Service": namespaceTerminating()}, all, nil, false, v1alpha1.ReasonTerminating, nil},
		{"status: 500", map[string]error{"apply status": answered(500, "InternalError", "boom")}, all, answered(500, "InternalError", "boom"), false, v1alpha1.ReasonSynced, nil},
		{"status: 422", map[string]error{"apply status": invalid()}, all, invalid(), false, v1alpha1.ReasonSynced, nil},
		// The newer object is an event on its way.
		{"status: the Application has changed", map[string]error{"apply status": uidMismatch()}, all, nil, false, v1alpha1.ReasonSynced, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, events := newReconciler(t)
			maps.Copy(s.fails, c.fails)
			err := reconcileWeb(t, r)
			switch {
			case c.returned == nil && err != nil:
				t.Errorf("returned %v", err)
			case c.returned != nil && (err == nil || !strings.Contains(err.Error(), c.returned.Error())):
				t.Errorf("returned %v, want %v", err, c.returned)
			}
			if got := errors.Is(err, reconcile.TerminalError(nil)); got != c.terminal {
				t.Errorf("terminal: %t, want %t (%v)", got, c.terminal, err)
			}
			expectRequests(t, s, c.requests...)
			if c.synced != "" {
				if got := condition(t, s.status, "Synced").Reason; got != c.synced {
					t.Errorf("Synced says %s, want %s", got, c.synced)
				}
			}
			if diff := cmp.Diff(c.events, events.events); diff != "" {
				t.Errorf("Events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReconcileTellsOfARefusalOnce: the operator's own status write, or a restart, brings the Application round again.
func TestReconcileTellsOfARefusalOnce(t *testing.T) {
	r, s, _ := newReconciler(t)
	s.fails["apply Deployment"] = invalid()
	if err := reconcileWeb(t, r); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Fatalf("the first time: %v", err)
	}
	told := newApp()
	told.Status = s.status

	for _, c := range []struct {
		name  string
		fails error
		told  bool
	}{
		{"the same", invalid(), true},
		{"in other words", untyped(), false},
		{"by a quota, which may be raised", overQuota(), false},
	} {
		r, s, _ := newReconciler(t)
		s.fails["apply Deployment"] = c.fails
		s.cached["Application"], s.stored["Application"] = told.DeepCopy(), told.DeepCopy()
		if err := reconcileWeb(t, r); (err == nil) != c.told {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestReconcileConflictIsReported(t *testing.T) {
	r, s, _ := newReconciler(t)
	s.fails["apply Deployment"] = fieldConflict()
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	want := []v1alpha1.FieldConflict{{
		Kind: "Deployment", Name: "web", Field: ".spec.replicas", Manager: "kubectl", Operation: byUpdate, Subresource: "scale", APIVersion: "apps/v1",
	}}
	if diff := cmp.Diff(want, s.status.Conflicts); diff != "" {
		t.Errorf("status.conflicts (-want +got):\n%s", diff)
	}
}

// TestReconcileOfWhatIsGone: nothing is written for an Application that is gone, going or replaced. Whatever were created
// would outlive it.
func TestReconcileOfWhatIsGone(t *testing.T) {
	deleting := newApp()
	deleting.DeletionTimestamp, deleting.Finalizers = &metav1.Time{Time: start}, []string{"example.com/guard"}
	successor := newApp()
	successor.UID = types.UID("successor")
	for _, c := range []struct {
		name     string
		arrange  func(*server)
		requests []string
	}{
		{"gone", func(s *server) { delete(s.cached, "Application") }, nil},
		{"going", func(s *server) { s.cached["Application"] = deleting }, nil},
		{"gone, but the cache does not know", func(s *server) { delete(s.stored, "Application") }, nil},
		{"going, but the cache does not know", func(s *server) { s.stored["Application"] = deleting }, nil},
		{"replaced, but the cache does not know", func(s *server) { s.stored["Application"] = successor }, nil},
		{"gone before the status", func(s *server) { s.fails["apply status"] = apierrors.NewNotFound(deployments, "web") }, []string{"apply Deployment", "apply Service", "apply status"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			c.arrange(s)
			if err := reconcileWeb(t, r); err != nil {
				t.Errorf("returned %v", err)
			}
			expectRequests(t, s, c.requests...)
		})
	}
}

func TestReconcileForgets(t *testing.T) {
	for _, name := range []string{"gone", "going"} {
		t.Run(name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			r.writes.recordApply(webKey, "Deployment", at("a", "11", false))
			r.strangers.watch(newApp(), deploymentChild)
			if name == "gone" {
				delete(s.cached, "Application")
			} else {
				s.cached["Application"].SetDeletionTimestamp(&metav1.Time{Time: start})
			}
			if err := reconcileWeb(t, r); err != nil {
				t.Fatal(err)
			}
			// The operator may have written the Application, its finalizer, while it is going.
			if (name == "gone" && len(r.writes.last) != 0) || len(r.strangers.watched) != 0 {
				t.Errorf("remembered: %v, %v", r.writes.last, r.strangers.watched)
			}
		})
	}
}

// TestReconcileOnOldCache: a cache that does not show the operator's own last write is nothing to decide on.
func TestReconcileOnOldCache(t *testing.T) {
	r, s, _ := newReconciler(t)
	r.writes.recordApply(webKey, "Application", at(appUID, "101", false))
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	expectRequests(t, s)

	r, s, _ = newReconciler(t)
	s.has(newDeployment())
	r.writes.recordApply(webKey, "Deployment", at("child-uid", "201", false))
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	if s.asked("apply Deployment") || s.asked("apply status") {
		t.Errorf("requests %v: neither a Deployment nor a status can be judged yet", s.requests)
	}
}

// TestRefuse: who is in the way, whether that passes by itself, and that it is watched.
func TestRefuse(t *testing.T) {
	owner := func(apiVersion, kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "other", Controller: new(true)}}
	}
	ours := v1alpha1.SchemeGroupVersion.String()
	for _, c := range []struct {
		name     string
		owners   []metav1.OwnerReference
		deleting bool
		reason   string
		stalled  bool
		says     string
	}{
		{"nobody's", nil, false, v1alpha1.ReasonResourceExists, true, "give the Application another name"},
		{"somebody's", owner("example.com/v1", "Site", "front"), false, v1alpha1.ReasonResourceExists, true, "controlled by Site front"},
		{"another Application's", owner(ours, "Application", "front"), false, v1alpha1.ReasonResourceExists, true, "controlled by Application front"},
		{"another group's Application", owner("argoproj.io/v1alpha1", "Application", "web"), false, v1alpha1.ReasonResourceExists, true, "controlled by Application web"},
		// The garbage collector removes it. Nobody need act, so this must not be taken for failure.
		{"a former Application's", owner(ours, "Application", "web"), false, v1alpha1.ReasonTerminating, false, "belongs to an earlier Application"},
		{"nobody's, and going", nil, true, v1alpha1.ReasonTerminating, false, "is being deleted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			live := newDeployment()
			live.OwnerReferences = c.owners
			if c.deleting {
				live.DeletionTimestamp = &metav1.Time{Time: start}
			}
			s.stored["Deployment"] = live // it need not carry the labels of the cache
			if err := reconcileWeb(t, r); err != nil {
				t.Fatal(err)
			}
			if s.asked("apply Deployment") {
				t.Error("it was touched")
			}
			synced := condition(t, s.status, "Synced")
			if synced.Reason != c.reason || !strings.Contains(synced.Message, c.says) || !strings.Contains(synced.Message, "Deployment web") {
				t.Errorf("Synced: %s, %q; want %s, %q", synced.Reason, synced.Message, c.reason, c.says)
			}
			if got := apimeta.IsStatusConditionTrue(s.status.Conditions, "Stalled"); got != c.stalled {
				t.Errorf("Stalled: %t, want %t", got, c.stalled)
			}
			if s.status.DeploymentStatus != nil {
				t.Error("somebody else's Deployment is reported as this Application's")
			}
			if _, watched := r.strangers.watched[webKey]["Deployment"]; !watched {
				t.Error("nothing will tell when it goes away")
			}
			if !slices.Contains(s.requests, "apply Service") {
				t.Error("the Service was held up")
			}
		})
	}
}
