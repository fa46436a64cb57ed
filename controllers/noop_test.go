package controllers

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

const (
	somePartialDeployment = `{"metadata": {"annotations": {"example.com/team": "shop"}}, "spec": {"strategy": {"rollingUpdate": {"maxSurge": 1}}, "template": {"spec": {
		"containers": [{"name": "app", "securityContext": {"runAsNonRoot": true}, "volumeMounts": [{"name": "data", "mountPath": "/data"}]},
			{"name": "proxy", "image": "proxy:1", "resources": {"limits": {"memory": "64Mi"}}, "readinessProbe": {"tcpSocket": {"port": 15000}}}],
		"volumes": [{"name": "data", "emptyDir": {"sizeLimit": "1Gi"}}], "tolerations": [{"key": "spot", "operator": "Exists"}]}}}}`
	somePartialService = `{"metadata": {"annotations": {"example.com/scheme": "internal"}}, "spec": {"ports": [{"name": "metrics", "port": 9090}]}}`
)

// atRest makes the server hold app and children that are just as it wants them, each with a record of owners that says so.
func atRest(t testing.TB, r *Reconciler, s *server, app *v1alpha1.Application) {
	t.Helper()
	for kind, live := range map[string]client.Object{"Deployment": &appsv1.Deployment{}, "Service": &corev1.Service{}} {
		intent := r.wants.of(r.childTypes, app).intents[kind]
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(intent.Object().Object, live); err != nil {
			t.Fatal(err)
		}
		live.SetUID("child-uid")
		live.SetResourceVersion("200")
		recordOwner(t, live, intent)
		s.has(live)
	}
	s.has(app)
	if err := reconcileWeb(t, r); err != nil {
		t.Fatal(err)
	}
	app.Status = s.status
	intent, err := r.newStatusIntent(app, &app.Status)
	if err != nil {
		t.Fatal(err)
	}
	recordOwner(t, app, intent)
	app.ResourceVersion = "2000" // later than what the server answered
	s.requests = nil
}

func recordOwner(t testing.TB, object client.Object, intent *ownership.Intent) {
	t.Helper()
	fields, err := intent.Fields().ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	object.SetManagedFields(append(object.GetManagedFields(), metav1.ManagedFieldsEntry{
		Manager: intent.Manager().Name, Operation: intent.Manager().Operation, Subresource: intent.Manager().Subresource,
		APIVersion: intent.Object().GetAPIVersion(), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(fields)),
	}))
}

func appAtRest(t testing.TB, partial bool) (*Reconciler, *server) {
	t.Helper()
	r, s, _ := newReconciler(t)
	app := newApp()
	if partial {
		app.Spec.Deployment, app.Spec.Service = rawJSON(somePartialDeployment), rawJSON(somePartialService)
	}
	atRest(t, r, s, app)
	return r, s
}

// TestNoOp: what is as wanted needs no request, with and without partial objects, even by an operator that has just
// started.
func TestNoOp(t *testing.T) {
	for _, partial := range []bool{false, true} {
		r, s := appAtRest(t, partial)
		for range 2 {
			if err := reconcileWeb(t, r); err != nil {
				t.Fatal(err)
			}
			r.wants = newWants()
		}
		expectRequests(t, s)
	}
}

// BenchmarkNoOp measures a reconcile that finds nothing to do, with and without partial objects, and what it would cost to
// work out at each reconcile what is wanted.
func BenchmarkNoOp(b *testing.B) {
	for _, c := range []struct {
		name            string
		partial, forget bool
	}{
		{"plain", false, false},
		{"partial", true, false},
		{"plain-not-remembered", false, true},
		{"partial-not-remembered", true, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, s := appAtRest(b, c.partial)
			b.ReportAllocs()
			for b.Loop() {
				if c.forget {
					r.wants = newWants()
				}
				if err := reconcileWeb(b, r); err != nil {
					b.Fatal(err)
				}
			}
			expectRequests(b, s)
		})
	}
}
