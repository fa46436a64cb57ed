package plugin

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// manifest returns the Application web with this spec, as YAML.
func manifest(spec string) string {
	return fmt.Sprintf(`{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: web, namespace: %s}, spec: %s}`, namespace, spec)
}

// write applies the Application web as the manager "author".
func write(ctx context.Context, spec string) {
	GinkgoHelper()
	Expect(env.ApplyYAML(ctx, "author", namespace, manifest(spec))).To(Succeed())
}

// given writes the Application and waits until the operator has made it true.
func given(ctx context.Context, spec string) {
	GinkgoHelper()
	write(ctx, spec)
	Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
}

// contested waits until the operator has reported conflicts about the newest spec.
func contested(ctx context.Context) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) []v1alpha1.FieldConflict { return theApplication(ctx).Status.Conflicts }).ShouldNot(BeEmpty())
}

// synced returns the status of the condition Synced, once it is about the newest spec.
func synced(ctx context.Context) metav1.ConditionStatus {
	app := theApplication(ctx)
	condition := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionSynced)
	if condition == nil || condition.ObservedGeneration != app.Generation {
		return metav1.ConditionUnknown
	}
	return condition.Status
}

func theApplication(ctx context.Context) *v1alpha1.Application {
	GinkgoHelper()
	return get(ctx, &v1alpha1.Application{})
}

func theDeployment(ctx context.Context) *appsv1.Deployment {
	GinkgoHelper()
	return get(ctx, &appsv1.Deployment{})
}

func theService(ctx context.Context) *corev1.Service {
	GinkgoHelper()
	return get(ctx, &corev1.Service{})
}

// get reads the object called web.
func get[T client.Object](ctx context.Context, object T) T {
	GinkgoHelper()
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "web"}, object)).To(Succeed())
	return object
}

// edit changes the object as kubectl edit would, under the manager's name.
func edit(ctx context.Context, manager string, object client.Object, patch string) {
	GinkgoHelper()
	Expect(env.StrategicMergeYAML(ctx, manager, object, patch)).To(Succeed())
}

// scale scales the Deployment through its subresource, as kubectl scale and autoscalers do.
func scale(ctx context.Context, manager string, replicas int32) {
	GinkgoHelper()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	Expect(env.Client.SubResource("scale").Update(ctx, theDeployment(ctx), client.WithSubResourceBody(scale), client.FieldOwner(manager))).To(Succeed())
}
