package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Every story is about one Application of this name, written by this field manager.
const (
	web    = "web"
	author = "author"
)

// quiet is how long nothing must happen to count as rest.
const quiet = time.Second

func key() client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: web} }

// get reads the object of the story that has the wanted type.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context) (P, error) {
	object := P(new(T))
	err := env.Client.Get(ctx, key(), object)
	return object, err
}

// application, deployment and service read what is there now. They suit Eventually.
func application(ctx context.Context) (*v1alpha1.Application, error) {
	return get[v1alpha1.Application](ctx)
}
func deployment(ctx context.Context) (*appsv1.Deployment, error) { return get[appsv1.Deployment](ctx) }
func service(ctx context.Context) (*corev1.Service, error)       { return get[corev1.Service](ctx) }

// the returns what must be there.
func the[T client.Object](ctx context.Context, read func(context.Context) (T, error)) T {
	GinkgoHelper()
	object, err := read(ctx)
	Expect(err).NotTo(HaveOccurred())
	return object
}

// stub names an object of the story without having read it.
func stub[T client.Object](object T) T {
	object.SetNamespace(namespace)
	object.SetName(web)
	return object
}

func theApplication() *v1alpha1.Application { return stub(&v1alpha1.Application{}) }
func theDeployment() *appsv1.Deployment     { return stub(&appsv1.Deployment{}) }
func theService() *corev1.Service           { return stub(&corev1.Service{}) }

func manifest(spec string) string {
	return fmt.Sprintf("{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: %s}, spec: %s}", web, spec)
}

// write applies the Application with that spec, in YAML's flow style.
func write(ctx context.Context, spec string) {
	GinkgoHelper()
	Expect(env.ApplyYAML(ctx, author, namespace, manifest(spec))).To(Succeed())
}

// given writes the Application and waits until the operator reports that all is as the spec wants it.
func given(ctx context.Context, spec string) {
	GinkgoHelper()
	write(ctx, spec)
	eventuallySynced(ctx)
}

// touch wakes the operator without changing anything that it cares about.
func touch(ctx context.Context, value string) {
	GinkgoHelper()
	Expect(env.MergeYAML(ctx, "toucher", theApplication(), fmt.Sprintf("{metadata: {labels: {touched: %q}}}", value))).To(Succeed())
}

// edit changes an object as kubectl edit does: managedFields record an Update.
func edit(ctx context.Context, manager string, object client.Object, patch string) {
	GinkgoHelper()
	Expect(env.StrategicMergeYAML(ctx, manager, object, patch)).To(Succeed())
}

// applyDeployment and applyService apply a part of a child by Server-Side Apply, as another field manager does.
func applyDeployment(ctx context.Context, manager, rest string, options ...client.ApplyOption) {
	GinkgoHelper()
	Expect(env.ApplyYAML(ctx, manager, namespace, deploymentManifest(rest), options...)).To(Succeed())
}

func applyService(ctx context.Context, manager, rest string, options ...client.ApplyOption) {
	GinkgoHelper()
	Expect(env.ApplyYAML(ctx, manager, namespace, childManifest("v1", "Service", rest), options...)).To(Succeed())
}

func deploymentManifest(rest string) string { return childManifest("apps/v1", "Deployment", rest) }

// childManifest completes a child's manifest: the rest goes on in its metadata. Without the rest it claims nothing, so
// that applying it releases everything.
func childManifest(apiVersion, kind, rest string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n%s", apiVersion, kind, web, rest)
}

// scale sets the Deployment's replicas through the scale subresource.
func scale(ctx context.Context, manager string, replicas int32) {
	GinkgoHelper()
	body := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	Expect(env.Client.SubResource("scale").Update(ctx, theDeployment(), client.WithSubResourceBody(body), client.FieldOwner(manager))).To(Succeed())
}

// rollOut does what the Deployment controller and the kubelets would do in the end.
func rollOut(ctx context.Context) {
	GinkgoHelper()
	child := the(ctx, deployment)
	replicas := ptr.Deref(child.Spec.Replicas, 1)
	child.Status = appsv1.DeploymentStatus{
		ObservedGeneration: child.Generation,
		Replicas:           replicas,
		UpdatedReplicas:    replicas,
		ReadyReplicas:      replicas,
		AvailableReplicas:  replicas,
		Conditions: []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue,
			Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability.",
			LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		}},
	}
	Expect(env.Client.Status().Update(ctx, child, client.FieldOwner("kube-controller-manager"))).To(Succeed())
}

// kubectl runs kubectl in the spec's namespace.
func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	output, err := env.Kubectl(ctx, append([]string{"--namespace=" + namespace}, args...)...)
	Expect(err).NotTo(HaveOccurred())
	return output
}

// whileOperatorIsDown does something between a graceful stop and the next start.
func whileOperatorIsDown(ctx context.Context, do func()) {
	GinkgoHelper()
	By("stopping the operator")
	Expect(env.StopOperator()).To(Succeed())
	defer func() { // also if do fails: other stories need it
		GinkgoHelper()
		By("starting the operator")
		Expect(env.StartOperator(ctx, operatorFlags...)).To(Succeed())
	}()
	do()
}

// writeFile writes a file for kubectl, which goes with the spec, and returns its path.
func writeFile(content string) string {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "object.yaml")
	Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	return path
}

// probeDeployment is what somebody else might create, to see what the API server makes of it.
func probeDeployment() *appsv1.Deployment {
	labels := map[string]string{"probe": "probe"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](9),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "registry.example/probe:1"}}},
			},
		},
	}
}
