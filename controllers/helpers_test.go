package controllers

import (
	"encoding/json"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

const appUID types.UID = "6f0e9d7c-7a0b-4c56-9a43-0d6b8b7d1c11"

var (
	webKey = client.ObjectKey{Namespace: "shop", Name: "web"}
	// start is a time with a fraction of a second, which conditions cannot hold.
	start = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
)

// newApp returns an Application that wants a Deployment and a Service.
func newApp() *v1alpha1.Application {
	return &v1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: webKey.Namespace, Name: webKey.Name, UID: appUID, Generation: 4, ResourceVersion: "100"},
		Spec:       v1alpha1.ApplicationSpec{Image: "registry.example/web:1.4", Port: new(int32(8080)), Expose: v1alpha1.ExposeClusterIP},
	}
}

// newPartialApp returns an Application that wants something in each of spec.deployment and spec.service.
func newPartialApp() *v1alpha1.Application {
	app := newApp()
	app.Spec.Deployment = &runtime.RawExtension{Raw: []byte(`{"spec": {"strategy": {"type": "Recreate"}, "template": {"spec": {"containers": [
		{"name": "app", "env": [{"name": "B", "value": "b"}]}, {"name": "proxy", "image": "envoy"}]}}}}`)}
	app.Spec.Service = &runtime.RawExtension{Raw: []byte(`{"spec": {"sessionAffinity": "ClientIP"}}`)}
	return app
}

// contest returns the result of a child of which these fields are contested.
func contest(t *testing.T, app *v1alpha1.Application, kind string, conflicts ...ownership.Conflict) *childResult {
	t.Helper()
	intents, err := buildIntents(applyconfigurations.NewTypeConverter(clientgoscheme.Scheme), app)
	if err != nil {
		t.Fatal(err)
	}
	return &childResult{kind: kind, name: app.Name, intent: intents[kind], conflicts: conflicts}
}

func childMeta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: webKey.Namespace, Name: webKey.Name, UID: "child-uid", Generation: 2, ResourceVersion: "200",
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.Kind, Name: webKey.Name, UID: appUID, Controller: new(true),
		}},
	}
}

// newDeployment returns a Deployment of three pods whose roll-out is complete, after the given changes.
func newDeployment(changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := &appsv1.Deployment{
		ObjectMeta: childMeta(),
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(3))},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", Message: "ReplicaSet has successfully progressed."},
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."},
			},
		},
	}
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

func newService() *corev1.Service {
	return &corev1.Service{ObjectMeta: childMeta(), Status: corev1.ServiceStatus{
		LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.7"}}},
	}}
}

// withCondition sets a condition of the Deployment.
func withCondition(conditionType appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		set := appsv1.DeploymentCondition{Type: conditionType, Status: status, Reason: reason, Message: reason}
		for i := range d.Status.Conditions {
			if d.Status.Conditions[i].Type == conditionType {
				d.Status.Conditions[i] = set
				return
			}
		}
		d.Status.Conditions = append(d.Status.Conditions, set)
	}
}

// counts sets the numbers of pods: all, of the new template, available.
func counts(total, updated, available int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = total, updated, available
	}
}

// unchangedResults are those of two children that are as wanted.
func unchangedResults() (deployment, service *childResult) {
	return &childResult{kind: "Deployment", name: "web", outcome: outcomeUnchanged, live: newDeployment()},
		&childResult{kind: "Service", name: "web", outcome: outcomeUnchanged, live: newService()}
}

func condition(t *testing.T, status v1alpha1.ApplicationStatus, conditionType string) metav1.Condition {
	t.Helper()
	found := apimeta.FindStatusCondition(status.Conditions, conditionType)
	if found == nil {
		t.Fatalf("no condition %s among %v", conditionType, status.Conditions)
	}
	return *found
}

// asStored returns what the API server would hand out of a status that was applied.
func asStored(t *testing.T, status v1alpha1.ApplicationStatus) v1alpha1.ApplicationStatus {
	t.Helper()
	encoded, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	stored := v1alpha1.ApplicationStatus{}
	if err := json.Unmarshal(encoded, &stored); err != nil {
		t.Fatal(err)
	}
	return stored
}
