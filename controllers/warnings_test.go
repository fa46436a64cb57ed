package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

func TestSpecField(t *testing.T) {
	const app = `.spec.template.spec.containers[name="app"]`
	for _, c := range []struct{ kind, field, want string }{
		{"Deployment", ".spec.replicas", "spec.replicas"},
		{"Deployment", app + ".image", "spec.image"},
		{"Deployment", app + `.env[name="A"].value`, `spec.env[name="A"].value`},
		{"Deployment", app + ".resources.limits.cpu", "spec.resources.limits.cpu"},
		{"Deployment", app + `.ports[containerPort=80,protocol="TCP"].name`, "spec.port"},
		{"Deployment", `.spec.template.spec.containers[name="sidecar"].image`, "A part of the spec"},
		{"Deployment", ".metadata.labels.app", "A part of the spec"},
		{"Deployment", `.spec.template.spec.containers[name="proxy"].image`, `spec.deployment.spec.template.spec.containers[name="proxy"].image`},
		{"Deployment", app + `.env[name="B"].value`, "spec.deployment" + app + `.env[name="B"].value`},
		{"Deployment", ".spec.strategy.rollingUpdate.maxSurge against .spec.strategy.type", "spec.deployment.spec.strategy.type"},
		{"Service", ".spec.sessionAffinity", "spec.service.spec.sessionAffinity"},
		{"Service", ".spec.type", "spec.expose"},
		{"Service", `.spec.ports[port=80,protocol="TCP"].targetPort`, "spec.port"},
	} {
		app := newPartialApp()
		field, against, _ := strings.Cut(c.field, " against ")
		if got := contest(t, app, c.kind).specField(app, ownership.Conflict{Field: field, Against: against}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.field, got, c.want)
		}
	}
}

func TestConflictWarnings(t *testing.T) {
	on := func(field, manager, subresource string) ownership.Conflict {
		return ownership.Conflict{Field: field, Manager: manager, Operation: byUpdate, Subresource: subresource}
	}
	held := "Deployment web is left as it is until then, with all its other fields; spec.conflictPolicy Yield would apply these"
	var many []ownership.Conflict
	for i := range maxListedFields + 2 {
		many = append(many, on(fmt.Sprintf(`.spec.template.spec.containers[name="app"].env[name="V%d"].value`, i), "vault", ""))
	}
	for _, c := range []struct {
		name      string
		policy    v1alpha1.ConflictPolicy
		contested []ownership.Conflict
		want      admission.Warnings
	}{
		{"none", "", nil, nil},
		{"one", "", []ownership.Conflict{on(".spec.replicas", "kubectl", "scale")}, admission.Warnings{
			"spec.replicas will not take effect: .spec.replicas of Deployment web is owned by kubectl (scale)", held}},
		{"two owners, one with an odd name", v1alpha1.ConflictYield, []ownership.Conflict{on(".spec.replicas", "kubectl", "scale"), on(".spec.replicas", "an odd\nname", "")}, admission.Warnings{
			`spec.replicas will not take effect: .spec.replicas of Deployment web is owned by "an odd\nname" and kubectl (scale)`}},
	} {
		app := newApp()
		app.Spec.ConflictPolicy = c.policy
		got := conflictWarnings(app, contest(t, app, "Deployment"), c.contested)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	got := conflictWarnings(newApp(), contest(t, newApp(), "Deployment"), many)
	if len(got) != maxListedFields+2 || got[maxListedFields] != "2 more fields of Deployment web will not take effect" {
		t.Errorf("%d warnings: %q", len(got), got[len(got)-2])
	}
}

// cachedDeployment is a cache that holds at most a Deployment.
type cachedDeployment struct {
	client.Reader
	deployment *appsv1.Deployment
	err        error
}

func (c *cachedDeployment) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	deployment, ok := into.(*appsv1.Deployment)
	switch {
	case c.err != nil:
		return c.err
	case !ok || c.deployment == nil:
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	c.deployment.DeepCopyInto(deployment)
	return nil
}

// TestWarnerNeverDenies: whatever goes wrong, the user's request goes through.
func TestWarnerNeverDenies(t *testing.T) {
	foreign := newDeployment(func(d *appsv1.Deployment) { d.OwnerReferences = nil })
	going := newDeployment(func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{Time: start} })
	paused := newApp()
	paused.Spec.Paused = true
	deleted := newApp()
	deleted.DeletionTimestamp = &metav1.Time{Time: start}
	misspelt := newApp()
	misspelt.Spec.Deployment = &runtime.RawExtension{Raw: []byte(`{"spec": {"template": {"spec": {"contianers": []}}}}`)}
	for _, c := range []struct {
		name  string
		cache *cachedDeployment
		app   *v1alpha1.Application
		want  int
	}{
		{"no child", &cachedDeployment{}, newApp(), 0},
		{"no cache", &cachedDeployment{err: errors.New("not synced")}, newApp(), 0},
		{"an object of somebody else", &cachedDeployment{deployment: foreign}, newApp(), 1},
		{"the same, but nothing will be applied", &cachedDeployment{deployment: foreign}, paused, 0},
		{"the same, at the end of the Application", &cachedDeployment{deployment: foreign}, deleted, 0},
		{"a child that is going", &cachedDeployment{deployment: going}, newApp(), 0},
		{"a partial object that fits no Deployment", &cachedDeployment{}, misspelt, 1},
	} {
		w := &warner{cache: c.cache, childTypes: applyconfigurations.NewTypeConverter(scheme.Scheme), legacyManagers: []string{v1alpha1.FieldManager}}
		for verb, validate := range map[string]func() (admission.Warnings, error){
			"create": func() (admission.Warnings, error) { return w.ValidateCreate(t.Context(), c.app) },
			"update": func() (admission.Warnings, error) { return w.ValidateUpdate(t.Context(), newApp(), c.app) },
		} {
			if got, err := validate(); len(got) != c.want || err != nil {
				t.Errorf("%s: %s: warnings %q, error %v", c.name, verb, got, err)
			}
		}
		if got, err := w.ValidateDelete(t.Context(), c.app); got != nil || err != nil {
			t.Errorf("%s: delete: warnings %q, error %v", c.name, got, err)
		}
	}
}
