package e2e

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// userManager is the field manager of the people who write Applications.
const userManager = "user"

// space is a namespace in which a story happens.
type space struct {
	name string
}

func newSpace(ctx context.Context) *space {
	GinkgoHelper()
	name, err := env.CreateNamespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	return &space{name: name}
}

// apply applies an Application with this spec, as its user.
func (s *space) apply(ctx context.Context, name, spec string) {
	GinkgoHelper()
	manifest := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec: {%s}\n",
		v1alpha1.SchemeGroupVersion, v1alpha1.Kind, name, spec)
	Expect(env.ApplyYAML(ctx, userManager, s.name, manifest)).To(Succeed())
}

// applyAsPlatform waits for a Deployment and sets a field of its spec, as somebody who cares about nothing else of it.
func (s *space) applyAsPlatform(ctx context.Context, deployment, spec string) {
	GinkgoHelper()
	Eventually(s.exists).WithContext(ctx).WithArguments(deployment, &appsv1.Deployment{}).Should(BeTrue())
	Expect(env.ApplyYAML(ctx, "platform", s.name, fmt.Sprintf(
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {%s}}", deployment, spec))).To(Succeed())
}

// delete deletes an Application, and only the one that is meant.
func (s *space) delete(ctx context.Context, app *v1alpha1.Application) {
	GinkgoHelper()
	Expect(env.Client.Delete(ctx, app, client.Preconditions{UID: &app.UID})).To(Succeed())
}

func (s *space) kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	output, err := env.Kubectl(ctx, append([]string{"--namespace=" + s.name}, args...)...)
	Expect(err).NotTo(HaveOccurred())
	return output
}

func (s *space) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.name, Name: name}
}

func (s *space) application(ctx context.Context, name string) *v1alpha1.Application {
	GinkgoHelper()
	return get(ctx, s, name, &v1alpha1.Application{})
}

func (s *space) deployment(ctx context.Context, name string) *appsv1.Deployment {
	GinkgoHelper()
	return get(ctx, s, name, &appsv1.Deployment{})
}

func (s *space) service(ctx context.Context, name string) *corev1.Service {
	GinkgoHelper()
	return get(ctx, s, name, &corev1.Service{})
}

func get[T client.Object](ctx context.Context, s *space, name string, into T) T {
	GinkgoHelper()
	Expect(env.Client.Get(ctx, s.key(name), into)).To(Succeed())
	return into
}

func (s *space) exists(ctx context.Context, name string, object client.Object) (bool, error) {
	err := env.Client.Get(ctx, s.key(name), object)
	return err == nil, client.IgnoreNotFound(err)
}

// pods lists the pods that an Application selects, those on their way out left out.
func (s *space) pods(ctx context.Context, name string) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := env.Client.List(ctx, list, client.InNamespace(s.name), client.MatchingLabels(v1alpha1.SelectorLabels(name)))
	var staying []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			staying = append(staying, pod)
		}
	}
	return staying, err
}

// replicaSets lists the ReplicaSets of an Application, those scaled to zero as well.
func (s *space) replicaSets(ctx context.Context, name string) []appsv1.ReplicaSet {
	GinkgoHelper()
	list := &appsv1.ReplicaSetList{}
	Expect(env.Client.List(ctx, list, client.InNamespace(s.name), client.MatchingLabels(v1alpha1.SelectorLabels(name)))).To(Succeed())
	return list.Items
}

// events returns the reasons of the operator's Events about an Application, the first Event first.
func (s *space) events(ctx context.Context, name string) ([]string, error) {
	list := &eventsv1.EventList{}
	err := env.Client.List(ctx, list, client.InNamespace(s.name))
	var reasons []string
	for _, event := range list.Items {
		if event.Regarding.Kind == v1alpha1.Kind && event.Regarding.Name == name {
			reasons = append(reasons, event.Type+" "+event.Reason)
		}
	}
	return reasons, err
}

// condition returns "STATUS REASON" of a condition, "absent" without it, and "outdated" as long as the status does not
// speak of the newest spec.
func (s *space) condition(ctx context.Context, name, conditionType string) (string, error) {
	app := &v1alpha1.Application{}
	if err := env.Client.Get(ctx, s.key(name), app); err != nil {
		return "", err
	}
	return conditionOf(app, conditionType), nil
}

func conditionOf(app *v1alpha1.Application, conditionType string) string {
	condition := apimeta.FindStatusCondition(app.Status.Conditions, conditionType)
	switch {
	case app.Status.ObservedGeneration != app.Generation:
		return "outdated"
	case condition == nil:
		return "absent"
	case condition.ObservedGeneration != app.Generation:
		return "outdated"
	default:
		return fmt.Sprintf("%s %s", condition.Status, condition.Reason)
	}
}

const rolledOut = "True " + v1alpha1.ReasonRolledOut

// expectReady waits until the newest spec is Ready, and checks that the rest of the status fits.
func (s *space) expectReady(ctx context.Context, name string) *v1alpha1.Application {
	GinkgoHelper()
	var app *v1alpha1.Application
	// All that follows is about the very version that says Ready.
	Eventually(func() string {
		app = s.application(ctx, name)
		return conditionOf(app, v1alpha1.ConditionReady)
	}).WithContext(ctx).Should(Equal(rolledOut))
	Expect(conditionOf(app, v1alpha1.ConditionSynced)).To(Equal("True " + v1alpha1.ReasonSynced))
	Expect(conditionOf(app, v1alpha1.ConditionStalled)).To(Equal("absent"))
	Expect(app.Status.Phase).To(Equal(v1alpha1.PhaseRunning))
	Expect(app.Status.Conflicts).To(BeEmpty())
	Expect(kstatus(app)).To(Equal(statusCurrent))
	return app
}

func (s *space) expectCondition(ctx context.Context, name, conditionType, want string) {
	GinkgoHelper()
	Eventually(s.condition).WithContext(ctx).WithArguments(name, conditionType).Should(Equal(want))
}

// forceReconciles makes the operator look at an Application again and again, by a label that means nothing to it.
func (s *space) forceReconciles(ctx context.Context, name string, times int) {
	GinkgoHelper()
	for n := range times {
		before, err := reconciles(ctx)
		Expect(err).NotTo(HaveOccurred())
		s.label(ctx, name, "looked-at", fmt.Sprint("n", n, "-", before))
		Eventually(reconciles).WithContext(ctx).Should(BeNumerically(">", before))
		expectNothingQueued(ctx)
	}
}

// label sets a label of an Application; without a value it removes it.
func (s *space) label(ctx context.Context, name, key, value string) {
	GinkgoHelper()
	if value == "" {
		value = "null"
	}
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}}
	Expect(env.MergeYAML(ctx, userManager, app, fmt.Sprintf("metadata: {labels: {%s: %s}}", key, value))).To(Succeed())
}

// uids returns who these pods are, to tell later whether they were restarted.
func uids(pods []corev1.Pod) []types.UID {
	var list []types.UID
	for _, pod := range pods {
		list = append(list, pod.UID)
	}
	return list
}

// managersOf returns the managers of a field, each with its operation and subresource.
func managersOf(object client.Object, field ...any) []string {
	GinkgoHelper()
	managed, err := ownership.Parse(object.GetManagedFields())
	Expect(err).NotTo(HaveOccurred())
	var managers []string
	for _, owner := range managed.Owners(fieldpath.MakePathOrDie(field...)) {
		managers = append(managers, strings.TrimSpace(fmt.Sprintf("%s %s %s", owner.Name, owner.Operation, owner.Subresource)))
	}
	return managers
}
