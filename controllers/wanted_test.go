package controllers

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/partial"
)

func rawJSON(content string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(content)}
}

// TestWants: what is wanted is worked out once for each generation of each Application.
func TestWants(t *testing.T) {
	r, _, _ := newReconciler(t)
	app := newApp()
	app.Spec.Deployment = rawJSON(`{"spec": {"paused": true}}`)
	first := r.wants.of(r.childTypes, app)
	if first.err != nil || first.intents["Deployment"] == nil || first.intents["Service"] == nil {
		t.Fatalf("wants %+v", first)
	}
	if paused := first.intents["Deployment"].Object().Object["spec"].(map[string]any)["paused"]; paused != true {
		t.Errorf("the partial Deployment was lost: %v", first.intents["Deployment"].Object())
	}
	if again := r.wants.of(r.childTypes, app.DeepCopy()); again != first {
		t.Error("worked out twice for one generation")
	}
	for name, change := range map[string]func(*v1alpha1.Application){
		"generation": func(app *v1alpha1.Application) { app.Generation++ },
		"uid":        func(app *v1alpha1.Application) { app.UID = "another" },
		"namespace":  func(app *v1alpha1.Application) { app.Namespace = "elsewhere" },
		"name":       func(app *v1alpha1.Application) { app.Name = "other" },
	} {
		changed := app.DeepCopy()
		change(changed)
		changed.Spec.Deployment = nil
		changed.Spec.Expose = ""
		now := r.wants.of(r.childTypes, changed)
		if now == first || now.intents["Service"] != nil || now.intents["Deployment"].Object().GetName() != changed.Name {
			t.Errorf("another %s: wants %+v", name, now)
		}
		r.wants.of(r.childTypes, app)
	}
	r.forget(webKey)
	if len(r.wants.last) != 2 { // those of other keys
		t.Errorf("%d are remembered", len(r.wants.last))
	}
}

// TestInvalidPartial: neither child is touched, whichever the partial object is of, and no retry can help.
func TestInvalidPartial(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.Application)
		path   string
	}{
		{"Deployment", func(app *v1alpha1.Application) { app.Spec.Deployment = rawJSON(`{"spec": {"paused": 1}}`) }, "spec.deployment.spec.paused"},
		{"Service", func(app *v1alpha1.Application) { app.Spec.Service = rawJSON(`{"spec": {"tyype": 1}}`) }, "spec.service.spec.tyype"},
		{"Service that is not wanted", func(app *v1alpha1.Application) {
			app.Spec.Expose, app.Spec.Service = "", rawJSON(`{"metadata": {"labels": {"a": "b"}}}`)
		}, "spec.service"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			app := newApp()
			c.change(app)
			s.has(app, newDeployment(), newService())
			err := reconcileWeb(t, r)
			if !errors.Is(err, reconcile.TerminalError(nil)) || !errors.As(err, new(*partial.InvalidError)) || strings.Count(err.Error(), c.path+":") != 1 {
				t.Errorf("returned %v", err)
			}
			expectRequests(t, s, "apply status")
			synced := condition(t, s.status, v1alpha1.ConditionSynced)
			if synced.Reason != v1alpha1.ReasonInvalid || strings.Count(synced.Message, c.path+":") != 1 {
				t.Errorf("Synced is %s, %q", synced.Reason, synced.Message)
			}
			if s.status.DeploymentStatus == nil || s.status.ServiceStatus == nil {
				t.Error("the children's own reports are gone")
			}
		})
	}
}

// TestInvalidPartialOfStranger: what an object reports that is not the Application's is not reported as its own.
func TestInvalidPartialOfStranger(t *testing.T) {
	r, s, _ := newReconciler(t)
	app, stranger := newApp(), newDeployment()
	app.Spec.Deployment = rawJSON(`{"status": {}}`)
	stranger.OwnerReferences = nil
	s.has(app, stranger)
	if err := reconcileWeb(t, r); err == nil {
		t.Error("no error")
	}
	expectRequests(t, s, "apply status")
	if s.status.DeploymentStatus != nil {
		t.Errorf("deploymentStatus %v", s.status.DeploymentStatus)
	}
}
