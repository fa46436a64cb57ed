package e2e

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// expectTruth asserts that no version of an Application ever claimed more than was true when it was written, and that
// no condition flapped.
func (w *witness) expectTruth(ctx context.Context, s *space, name string) {
	GinkgoHelper()
	w.catchUp(ctx, s)
	versions := history[*v1alpha1.Application](w.applications, name)
	Expect(versions).NotTo(BeEmpty())
	for i, app := range versions {
		if conditionOf(app, v1alpha1.ConditionReady) == rolledOut {
			w.expectRolledOut(app)
		} else {
			Expect(kstatus(app)).NotTo(Equal(statusCurrent), describe(app))
		}
		if i > 0 {
			expectSteadyTimes(versions[i-1], app)
		}
	}
}

// expectRolledOut asserts that an Application's Deployment and pods served its spec when this version was written.
func (w *witness) expectRolledOut(app *v1alpha1.Application) {
	GinkgoHelper()
	Expect(app.Status.Phase).To(Equal(v1alpha1.PhaseRunning), describe(app))
	deployment, ok := w.deployments.at(app.ResourceVersion)[app.Name].(*appsv1.Deployment)
	Expect(ok).To(BeTrue(), "Ready without a Deployment: %s", describe(app))

	container := deployment.Spec.Template.Spec.Containers[0]
	Expect(container.Image).To(Equal(app.Spec.Image), "Ready, but the Deployment has another image: %s", describe(app))
	if app.Spec.Port != nil {
		Expect(container.Ports).To(ContainElement(HaveField("ContainerPort", *app.Spec.Port)), describe(app))
	}
	replicas := ptr.Deref(deployment.Spec.Replicas, 1)
	if app.Spec.Replicas != nil {
		Expect(replicas).To(Equal(*app.Spec.Replicas), "Ready, but the Deployment has another size: %s", describe(app))
	}
	status := deployment.Status
	Expect(status.ObservedGeneration).To(Equal(deployment.Generation), "Ready, but the Deployment was not looked at: %s", describe(app))
	Expect([]int32{status.Replicas, status.UpdatedReplicas, status.AvailableReplicas}).To(HaveEach(replicas),
		"Ready, but the Deployment is not rolled out: %s", describe(app))

	serving := int32(0)
	for _, object := range w.pods.at(app.ResourceVersion) {
		pod := object.(*corev1.Pod)
		if pod.Labels[v1alpha1.LabelApp] == app.Name && pod.DeletionTimestamp == nil &&
			pod.Spec.Containers[0].Image == app.Spec.Image && podReady(pod) {
			serving++
		}
	}
	Expect(serving).To(BeNumerically(">=", replicas), "Ready, but not all pods serve: %s", describe(app))
}

// expectSteadyTimes asserts that a condition's time moves just when its status does.
func expectSteadyTimes(before, after *v1alpha1.Application) {
	GinkgoHelper()
	if before.UID != after.UID {
		return
	}
	for _, is := range after.Status.Conditions {
		was := apimeta.FindStatusCondition(before.Status.Conditions, is.Type)
		if was != nil && was.Status == is.Status {
			Expect(is.LastTransitionTime).To(Equal(was.LastTransitionTime), "%s stayed %s: %s", is.Type, is.Status, describe(after))
		}
	}
}

// course returns how a condition went from version to version, each step once.
func (w *witness) course(ctx context.Context, s *space, name, conditionType string) []string {
	GinkgoHelper()
	w.catchUp(ctx, s)
	var steps []string
	for _, app := range history[*v1alpha1.Application](w.applications, name) {
		if step := conditionOf(app, conditionType); step != "outdated" {
			steps = append(steps, step)
		}
	}
	return slices.Compact(steps)
}

// phases returns how the phase went.
func (w *witness) phases(ctx context.Context, s *space, name string) []v1alpha1.ApplicationPhase {
	GinkgoHelper()
	w.catchUp(ctx, s)
	var steps []v1alpha1.ApplicationPhase
	for _, app := range history[*v1alpha1.Application](w.applications, name) {
		if app.Status.Phase != "" {
			steps = append(steps, app.Status.Phase)
		}
	}
	return slices.Compact(steps)
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func describe(app *v1alpha1.Application) string {
	return fmt.Sprintf("%s at %s: generation %d, observed %d, phase %s, conditions %+v",
		app.Name, app.ResourceVersion, app.Generation, app.Status.ObservedGeneration, app.Status.Phase, app.Status.Conditions)
}
