package ownership

import (
	"errors"
	"sync"
	"testing"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

func TestNewIntentFromTypedConfiguration(t *testing.T) {
	config := appsv1ac.Deployment("web", "shop").
		WithUID("11111111-2222-3333-4444-555555555555").
		WithLabels(map[string]string{"app": "web"}).
		WithOwnerReferences(metav1ac.OwnerReference().WithAPIVersion("v1").WithKind("A").WithName("web").WithUID("abc")).
		WithSpec(appsv1ac.DeploymentSpec().
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
			WithTemplate(corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(
				corev1ac.Container().WithName("app").WithArgs("a", "b").WithPorts(corev1ac.ContainerPort().WithContainerPort(80)),
			))))
	intent, err := NewIntent(types, us, config)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "manager", intent.Manager(), us)
	wantEqual(t, "fields", paths(intent.Fields()), []string{
		".metadata.labels.app",
		`.metadata.ownerReferences[uid="abc"]`,
		".spec.selector",
		inApp,
		inApp + ".args",
		inApp + ".name",
		inApp + `.ports[containerPort=80,protocol="TCP"]`,
		inApp + `.ports[containerPort=80,protocol="TCP"].containerPort`,
	})

	sent := intent.Object()
	wantEqual(t, "identity", sent.GetName()+"/"+sent.GetNamespace()+"/"+string(sent.GetUID()), "web/shop/11111111-2222-3333-4444-555555555555")
	sent.SetName("changed")
	sent.SetLabels(nil)
	wantEqual(t, "second copy", intent.Object().GetLabels(), map[string]string{"app": "web"})
}

func TestNewIntentErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		config  string
		invalid bool
	}{
		"repeated env name":      {config: identity + container("env: [{name: A, value: a}, {name: A, value: b}]"), invalid: true},
		"repeated port":          {config: identity + container("ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}]"), invalid: true},
		"unknown field":          {config: identity + "spec: {replicaz: 3}", invalid: true},
		"wrong type":             {config: identity + "spec: {replicas: {a: b}}", invalid: true},
		"no kind":                {config: "apiVersion: apps/v1"},
		"no version":             {config: "kind: Deployment"},
		"kind without a schema":  {config: "apiVersion: example.com/v1\nkind: Thing"},
		"apiVersion that is odd": {config: "apiVersion: a/b/c\nkind: Thing"},
	} {
		t.Run(name, func(t *testing.T) {
			intent, err := NewIntent(types, us, fromYAML(t, tc.config))
			if err == nil || intent != nil || errors.Is(err, ErrInvalid) != tc.invalid {
				t.Errorf("intent %v, error %v", intent, err)
			}
		})
	}
	for _, config := range []any{nil, "text", make(chan int), []string{}} {
		if _, err := NewIntent(types, us, config); err == nil {
			t.Errorf("%v passed for an apply configuration", config)
		}
	}
}

func TestIntentIsSafeForConcurrentUse(t *testing.T) {
	live := newHistory(t).apply("gitops", container("image: a")).live()
	intent := newTestIntent(t, container("image: b"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if conflicts, err := intent.Conflicts(live); err != nil || len(conflicts) != 1 {
				t.Errorf("conflicts %v, error %v", conflicts, err)
			}
			if _, err := intent.Compare(live); err != nil {
				t.Error(err)
			}
			if _, err := intent.WithoutFields(intent.Fields()); err != nil {
				t.Error(err)
			}
			_ = intent.Object()
		})
	}
	group.Wait()
}
