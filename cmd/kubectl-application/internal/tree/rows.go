package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// row is one line of the tree, and those beneath it.
type row struct {
	name, ready, status, conflicts, age string
	children                            []row
}

// revisionAnnotation is where the Deployment controller counts its ReplicaSets.
const revisionAnnotation = "deployment.kubernetes.io/revision"

func rows(found *objects, now time.Time) row {
	app := found.application
	return row{
		name:      "Application/" + app.Name,
		ready:     conditionStatus(app, v1alpha1.ConditionReady),
		status:    applicationStatus(app),
		conflicts: count(app, ""),
		age:       age(app, now),
		children:  slices.Concat(deploymentRow(found, now), serviceRow(found, now)),
	}
}

func conditionStatus(app *v1alpha1.Application, conditionType string) string {
	if condition := meta.FindStatusCondition(app.Status.Conditions, conditionType); condition != nil {
		return string(condition.Status)
	}
	return "Unknown"
}

func applicationStatus(app *v1alpha1.Application) string {
	switch {
	case app.DeletionTimestamp != nil:
		return "Terminating"
	case app.Status.Phase == "":
		return "not seen by the operator yet"
	}
	status := string(app.Status.Phase)
	if synced := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionSynced); synced != nil {
		status += ", " + synced.Reason
		if synced.ObservedGeneration != app.Generation {
			status += " (of an older spec)"
		}
	}
	return status
}

// count returns how many fields are contested, in objects of the kind or in all.
func count(app *v1alpha1.Application, kind string) string {
	fields := map[string]bool{}
	for _, conflict := range app.Status.Conflicts {
		if kind == "" || conflict.Kind == kind {
			fields[conflict.Kind+" "+conflict.Field] = true // which may have several owners
		}
	}
	return strconv.Itoa(len(fields))
}

func deploymentRow(found *objects, now time.Time) []row {
	deployment := found.deployment
	if deployment == nil {
		return absentRow(found, "Deployment", true)
	}
	return []row{{
		name:      "Deployment/" + deployment.Name,
		ready:     fmt.Sprintf("%d/%d", deployment.Status.ReadyReplicas, ptr.Deref(deployment.Spec.Replicas, 1)),
		status:    strange(found.application, deployment, deploymentStatus(deployment)),
		conflicts: count(found.application, "Deployment"),
		age:       age(deployment, now),
		children:  replicaSetRows(found, now),
	}}
}

func deploymentStatus(deployment *appsv1.Deployment) string {
	status := func(conditionType appsv1.DeploymentConditionType) corev1.ConditionStatus {
		for _, condition := range deployment.Status.Conditions {
			if condition.Type == conditionType {
				return condition.Status
			}
		}
		return corev1.ConditionUnknown
	}
	switch {
	case deployment.DeletionTimestamp != nil:
		return "Terminating"
	case status(appsv1.DeploymentProgressing) == corev1.ConditionFalse:
		return "stuck"
	case deployment.Status.ObservedGeneration != deployment.Generation,
		deployment.Status.UpdatedReplicas < ptr.Deref(deployment.Spec.Replicas, 1),
		deployment.Status.Replicas > deployment.Status.UpdatedReplicas:
		return "rolling out"
	case status(appsv1.DeploymentAvailable) == corev1.ConditionTrue:
		return "Available"
	}
	return "not available"
}

func serviceRow(found *objects, now time.Time) []row {
	service := found.service
	if service == nil {
		return absentRow(found, "Service", found.application.Spec.Expose != "")
	}
	return []row{{
		name:      "Service/" + service.Name,
		status:    strange(found.application, service, serviceStatus(service)),
		conflicts: count(found.application, "Service"),
		age:       age(service, now),
	}}
}

func serviceStatus(service *corev1.Service) string {
	parts := []string{string(service.Spec.Type)}
	if ip := service.Spec.ClusterIP; ip != "" {
		parts = append(parts, ip)
	}
	for _, port := range service.Spec.Ports {
		parts = append(parts, fmt.Sprintf("%d/%s", port.Port, port.Protocol))
	}
	return strings.Join(parts, " ")
}

// absentRow tells why there is nothing to be seen of a child, if there should be something.
func absentRow(found *objects, kind string, wanted bool) []row {
	r := row{name: kind + "/" + found.application.Name, conflicts: count(found.application, kind)}
	switch {
	case found.unknown[kind]:
		r.status = "not readable, see below"
	case wanted:
		r.status = "does not exist"
	default:
		return nil
	}
	return []row{r}
}

// strange says so if the object is of the child's name only.
func strange(app *v1alpha1.Application, object metav1.Object, status string) string {
	if metav1.IsControlledBy(object, app) {
		return status
	}
	return "not the Application's: " + status
}

func replicaSetRows(found *objects, now time.Time) []row {
	var (
		shown  []appsv1.ReplicaSet
		hidden int
	)
	for _, replicaSet := range found.replicaSets {
		if !metav1.IsControlledBy(&replicaSet, found.deployment) {
			continue
		}
		if ptr.Deref(replicaSet.Spec.Replicas, 1) == 0 && replicaSet.Status.Replicas == 0 {
			hidden++
			continue
		}
		shown = append(shown, replicaSet)
	}
	slices.SortFunc(shown, func(a, b appsv1.ReplicaSet) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	result := make([]row, 0, len(shown)+1)
	for i := range shown {
		result = append(result, replicaSetRow(found, &shown[i], now))
	}
	switch {
	case hidden == 1:
		result = append(result, row{name: "1 ReplicaSet without pods"})
	case hidden > 1:
		result = append(result, row{name: fmt.Sprintf("%d ReplicaSets without pods", hidden)})
	}
	return result
}

func replicaSetRow(found *objects, replicaSet *appsv1.ReplicaSet, now time.Time) row {
	r := row{
		name:  "ReplicaSet/" + replicaSet.Name,
		ready: fmt.Sprintf("%d/%d", replicaSet.Status.ReadyReplicas, ptr.Deref(replicaSet.Spec.Replicas, 1)),
		age:   age(replicaSet, now),
	}
	if revision := replicaSet.Annotations[revisionAnnotation]; revision != "" {
		r.status = "revision " + revision
	}
	var pods []corev1.Pod
	for _, pod := range found.pods {
		if metav1.IsControlledBy(&pod, replicaSet) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	for i := range pods {
		r.children = append(r.children, podRow(&pods[i], now))
	}
	return r
}

func podRow(pod *corev1.Pod, now time.Time) row {
	ready := 0
	for _, status := range pod.Status.ContainerStatuses {
		if status.Ready {
			ready++
		}
	}
	return row{
		name:   "Pod/" + pod.Name,
		ready:  fmt.Sprintf("%d/%d", ready, len(pod.Spec.Containers)),
		status: podStatus(pod),
		age:    age(pod, now),
	}
}

// podStatus returns the most telling word about a pod.
func podStatus(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return "Terminating"
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		switch {
		case status.State.Waiting != nil && status.State.Waiting.Reason != "":
			return status.State.Waiting.Reason
		case status.State.Terminated != nil && status.State.Terminated.ExitCode != 0:
			return cmp.Or(status.State.Terminated.Reason, "Error")
		}
	}
	return cmp.Or(pod.Status.Reason, string(pod.Status.Phase), "Pending")
}

func age(object metav1.Object, now time.Time) string {
	created := object.GetCreationTimestamp()
	if created.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(0, now.Sub(created.Time)))
}
