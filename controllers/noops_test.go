package controllers

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// TestNoOps: an apply counts as proven in vain only where nothing has changed that could make it another.
func TestNoOps(t *testing.T) {
	intents := func() *ownership.Intent {
		built, err := buildIntents(applyconfigurations.NewTypeConverter(clientgoscheme.Scheme), newApp())
		if err != nil {
			t.Fatal(err)
		}
		return built[deploymentChild.kind]
	}
	intent, later := intents(), intents()
	entry := func(manager, subresource string, at int64) metav1.ManagedFieldsEntry {
		time := metav1.NewTime(time.Unix(at, 0))
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Operation: metav1.ManagedFieldsOperationUpdate, Time: &time}
	}
	owns := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		entry := entry(manager, subresource, 2)
		entry.FieldsV1 = metav1.NewFieldsV1(fields)
		return entry
	}
	tried := func() *appsv1.Deployment {
		return newDeployment(func(d *appsv1.Deployment) { d.ManagedFields = []metav1.ManagedFieldsEntry{entry("a", "", 1)} })
	}
	for _, c := range []struct {
		name   string
		intent *ownership.Intent
		change func(*appsv1.Deployment)
		want   bool
	}{
		{"the same", intent, func(*appsv1.Deployment) {}, true},
		{"a roll-out goes on", intent, func(d *appsv1.Deployment) {
			d.ResourceVersion, d.Status.ReadyReplicas = "201", 7
			d.ManagedFields = append(d.ManagedFields, entry("kube-controller-manager", "status", 2))
		}, true},
		{"the status gets another owner", intent, func(d *appsv1.Deployment) {
			d.ManagedFields = append(d.ManagedFields, owns("a", "status", `{"f:status":{"f:replicas":{}}}`))
		}, true},
		{"an annotation gets another owner, through the status", intent, func(d *appsv1.Deployment) {
			d.ManagedFields = append(d.ManagedFields, owns("a", "status", `{"f:metadata":{"f:annotations":{"f:a":{}}},"f:status":{"f:replicas":{}}}`))
		}, false},
		{"a manager writes what is there", intent, func(d *appsv1.Deployment) { d.ResourceVersion, d.ManagedFields[0] = "201", entry("a", "", 2) }, true},
		{"another spec", later, func(*appsv1.Deployment) {}, false},
		{"another object of the name", intent, func(d *appsv1.Deployment) { d.UID = "other" }, false},
		{"a field changed", intent, func(d *appsv1.Deployment) { d.Spec.Paused = true }, false},
		{"a label changed, which a policy may look at", intent, func(d *appsv1.Deployment) { d.Labels = map[string]string{"a": "b"} }, false},
		{"another owner", intent, func(d *appsv1.Deployment) { d.ManagedFields[0] = entry("b", "", 1) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNoOps()
			if err := n.record(webKey, deploymentChild.kind, intent, tried(), tried()); err != nil {
				t.Fatal(err)
			}
			live := tried()
			c.change(live)
			unchanged := live.DeepCopy()
			proven, err := n.proven(webKey, deploymentChild.kind, c.intent, live)
			if err != nil || proven != c.want {
				t.Errorf("proven: %v, %v, want %v", proven, err, c.want)
			}
			if !equality.Semantic.DeepEqual(live, unchanged) {
				t.Error("the object, which stems from the cache, was changed")
			}
		})
	}

	wrote := tried()
	wrote.ResourceVersion = "201"
	for name, forget := range map[string]func(*noOps) error{
		"an apply that changed something": func(n *noOps) error { return n.record(webKey, deploymentChild.kind, intent, tried(), wrote) },
		"a creation":                      func(n *noOps) error { return n.record(webKey, deploymentChild.kind, intent, nil, tried()) },
		"the end of the Application":      func(n *noOps) error { n.forget(webKey); return nil },
	} {
		n := newNoOps()
		if err := n.record(webKey, deploymentChild.kind, intent, tried(), tried()); err != nil {
			t.Fatal(err)
		}
		if err := forget(n); err != nil {
			t.Fatal(err)
		}
		for _, live := range []client.Object{tried(), wrote} {
			if proven, err := n.proven(webKey, deploymentChild.kind, intent, live); proven || err != nil {
				t.Errorf("after %s: %v, %v", name, proven, err)
			}
		}
	}
}
