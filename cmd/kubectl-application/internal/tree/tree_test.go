package tree

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// world is a file of testdata: the objects that a cluster has.
type world struct {
	Application *v1alpha1.Application
	Deployment  *appsv1.Deployment
	Service     *corev1.Service
	ReplicaSets []appsv1.ReplicaSet
	Pods        []corev1.Pod
	Unknown     []string
}

func TestTree(t *testing.T) {
	files, err := filepath.Glob("testdata/*.input.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			encoded, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var w world
			if err := yaml.UnmarshalStrict(encoded, &w); err != nil {
				t.Fatal(err)
			}
			found := &objects{application: w.Application, deployment: w.Deployment, service: w.Service, replicaSets: w.ReplicaSets, pods: w.Pods, unknown: map[string]bool{}}
			for _, kind := range w.Unknown {
				found.unknown[kind] = true
			}
			var out bytes.Buffer
			if err := write(&out, rows(found, now)); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".input.yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("%s, written anew with -update (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func TestDeploymentStatus(t *testing.T) {
	condition := func(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus) appsv1.DeploymentCondition {
		return appsv1.DeploymentCondition{Type: kind, Status: status}
	}
	available := condition(appsv1.DeploymentAvailable, corev1.ConditionTrue)
	for want, deployment := range map[string]appsv1.Deployment{
		"Available": {
			Spec:   appsv1.DeploymentSpec{Replicas: new(int32(2))},
			Status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, Conditions: []appsv1.DeploymentCondition{available}},
		},
		"not available": {
			Spec:   appsv1.DeploymentSpec{Replicas: new(int32(2))},
			Status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2},
		},
		"rolling out": {
			Spec:   appsv1.DeploymentSpec{Replicas: new(int32(2))},
			Status: appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 2, Conditions: []appsv1.DeploymentCondition{available}},
		},
		"stuck": {
			Spec:   appsv1.DeploymentSpec{Replicas: new(int32(2))},
			Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{available, condition(appsv1.DeploymentProgressing, corev1.ConditionFalse)}},
		},
		"Terminating": {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}},
	} {
		if got := deploymentStatus(&deployment); got != want {
			t.Errorf("status is %q, not %q", got, want)
		}
	}
}

func TestPodStatus(t *testing.T) {
	for want, pod := range map[string]corev1.Pod{
		"Running":     {Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		"Pending":     {},
		"Evicted":     {Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}},
		"Terminating": {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		"ImagePullBackOff": {Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}},
		}}},
		"OOMKilled": {Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}},
		}}},
		"Error": {Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}},
		}}},
	} {
		if got := podStatus(&pod); got != want {
			t.Errorf("status is %q, not %q", got, want)
		}
	}
}
