package cluster

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestControllers holds what can share one cluster with controllers.
func TestControllers(t *testing.T) {
	c := start(t, Options{Controllers: true, Nodes: 2, CRDs: []string{"testdata"}})
	client := kubernetes.NewForConfigOrDie(c.Config())
	t.Run("Nodes", func(t *testing.T) { testNodes(t, client) })
	t.Run("Rollout", func(t *testing.T) { testRollout(t, client) })
	t.Run("BrokenImage", func(t *testing.T) { testBrokenImage(t, client) })
	t.Run("CustomOwner", func(t *testing.T) { testCustomOwner(t, c, client) })
	t.Run("NamespaceDeletion", func(t *testing.T) { testNamespaceDeletion(t, client) })
	t.Run("Restart", func(t *testing.T) { testControllersSurviveRestart(t, c, client) })
}

func testNodes(t *testing.T, client kubernetes.Interface) {
	g := NewWithT(t)
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(nodes.Items).To(HaveLen(2))
	for _, node := range nodes.Items {
		g.Expect(schedulable(&node)).To(BeTrue(), node.Name)
	}
}

func testRollout(t *testing.T, client kubernetes.Interface) {
	g := NewWithT(t)
	createDeployment(t, client, "rollout", "example/app:1")
	expectReady(t, client, "rollout", "example/app:1")

	deployments := client.AppsV1().Deployments("default")
	patch := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"example/app:2"}]}}}}`)
	_, err := deployments.Patch(t.Context(), "rollout", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	expectReady(t, client, "rollout", "example/app:2")

	g.Expect(deployments.Delete(t.Context(), "rollout", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(func() ([]corev1.Pod, error) { return pods(t, client, "rollout") }).Should(BeEmpty(), "the garbage collector removes Pods of a deleted Deployment")
}

func testBrokenImage(t *testing.T, client kubernetes.Interface) {
	g := NewWithT(t)
	createDeployment(t, client, "broken", "example/"+BrokenImage+":1")

	g.Eventually(func() (string, error) {
		list, err := pods(t, client, "broken")
		return waitingReasons(list), err
	}).Should(Equal("ImagePullBackOff ImagePullBackOff"))
	// The Deployment's own deadline passes: long after a working image is ready.
	g.Eventually(func() (string, error) {
		d, err := client.AppsV1().Deployments("default").Get(t.Context(), "broken", metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		for _, condition := range d.Status.Conditions {
			if condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse {
				return condition.Reason, nil
			}
		}
		return "", nil
	}).Should(Equal("ProgressDeadlineExceeded"))
	list, err := pods(t, client, "broken")
	g.Expect(err).NotTo(HaveOccurred())
	for _, pod := range list {
		g.Expect(pod.Status.Phase).To(Equal(corev1.PodPending))
		g.Expect(podReady(&pod)).To(BeFalse())
	}
}

// testCustomOwner shows that the garbage collector knows the custom resources
// that Start installed from the beginning.
func testCustomOwner(t *testing.T, c *Cluster, client kubernetes.Interface) {
	g := NewWithT(t)
	apply, err := c.KubectlCommand(t.Context(), "create", "--filename=-", "-o=jsonpath={.metadata.uid}")
	g.Expect(err).NotTo(HaveOccurred())
	apply.Stdin = strings.NewReader(`{"apiVersion": "cluster.test/v1", "kind": "Example", "metadata": {"name": "owner", "namespace": "default"}}`)
	uid, err := apply.Output()
	g.Expect(err).NotTo(HaveOccurred())

	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name:            "owned",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "cluster.test/v1", Kind: "Example", Name: "owner", UID: types.UID(uid)}},
	}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	_, err = c.Kubectl(t.Context(), "delete", "example", "owner", "--namespace=default")
	g.Expect(err).NotTo(HaveOccurred())
	// Much less than the half minute after which it looks for new resources.
	g.Eventually(func() error {
		_, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "owned", metav1.GetOptions{})
		return err
	}).WithTimeout(patience).Should(MatchError(apierrors.IsNotFound, "is not found"))
}

func testNamespaceDeletion(t *testing.T, client kubernetes.Interface) {
	g := NewWithT(t)
	namespaces := client.CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().ConfigMaps("leaving").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "content"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(namespaces.Delete(t.Context(), "leaving", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(func() error {
		_, err := namespaces.Get(t.Context(), "leaving", metav1.GetOptions{})
		return err
	}).Should(MatchError(apierrors.IsNotFound, "is not found"))
}

func testControllersSurviveRestart(t *testing.T, c *Cluster, client kubernetes.Interface) {
	g := NewWithT(t)
	g.Expect(c.StopAPIServer()).To(Succeed())
	g.Expect(c.StartAPIServer(t.Context())).To(Succeed())
	createDeployment(t, client, "after-restart", "example/app:1")
	expectReady(t, client, "after-restart", "example/app:1")
	g.Expect(c.failure()).To(Succeed())
}

func createDeployment(t *testing.T, client kubernetes.Interface, name, image string) {
	t.Helper()
	labels := map[string]string{"app": name}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas:                new(int32(2)),
			ProgressDeadlineSeconds: new(int32(5)),
			Selector:                &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: image}}},
			},
		},
	}
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// expectReady waits until the Deployment's only Pods are ready ones of the image.
func expectReady(t *testing.T, client kubernetes.Interface, name, image string) {
	t.Helper()
	g := NewWithT(t)
	g.Eventually(func(g Gomega) {
		list, err := pods(t, client, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list).To(HaveLen(2))
		for _, pod := range list {
			g.Expect(pod.Spec.Containers[0].Image).To(Equal(image))
			g.Expect(pod.Status.PodIP).NotTo(BeEmpty())
			g.Expect(podReady(&pod)).To(BeTrue())
		}
		d, err := client.AppsV1().Deployments("default").Get(t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(d.Status.ObservedGeneration).To(Equal(d.Generation))
		g.Expect(d.Status.AvailableReplicas).To(BeEquivalentTo(2))
	}).Should(Succeed())
}

func pods(t *testing.T, client kubernetes.Interface, app string) ([]corev1.Pod, error) {
	list, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func podReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func waitingReasons(pods []corev1.Pod) string {
	var reasons []string
	for _, pod := range pods {
		for _, status := range pod.Status.ContainerStatuses {
			if status.State.Waiting != nil {
				reasons = append(reasons, status.State.Waiting.Reason)
			}
		}
	}
	return strings.Join(reasons, " ")
}
