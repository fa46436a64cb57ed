package integration

import (
	"os"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// anyOtherField returns the manifests in that section of the README, by the name of the Application.
func anyOtherField() map[string]string {
	GinkgoHelper()
	readme, err := os.ReadFile("../../README.md")
	Expect(err).NotTo(HaveOccurred())
	_, section, found := strings.Cut(string(readme), "\n## Any other field\n")
	Expect(found).To(BeTrue(), "the README has such a section")
	section, _, _ = strings.Cut(section, "\n## ")
	manifests := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(section, -1) {
		app := &v1alpha1.Application{}
		Expect(yaml.UnmarshalStrict([]byte(block[1]), app)).To(Succeed())
		manifests[app.Name] = block[1]
	}
	return manifests
}

var _ = Describe("The README's examples of any other field", func() {
	It("do what they say, as printed", func(ctx SpecContext) {
		manifests := anyOtherField()
		expected := map[string]func(deployment *appsv1.Deployment, service *corev1.Service){
			"resources-and-probes": func(deployment *appsv1.Deployment, _ *corev1.Service) {
				pod := deployment.Spec.Template.Spec
				Expect(pod.Containers).To(HaveExactElements(
					And(HaveField("Name", "app"), HaveField("Image", "nginx:1.29"), HaveField("SecurityContext.RunAsNonRoot", HaveValue(BeTrue())),
						HaveField("Lifecycle.PreStop.Sleep.Seconds", BeEquivalentTo(5))),
					And(HaveField("Name", "exporter"), HaveField("ReadinessProbe.HTTPGet.Path", "/metrics"), HaveField("Resources.Limits", HaveLen(1)))))
				Expect(pod.TerminationGracePeriodSeconds).To(HaveValue(BeEquivalentTo(60)))
			},
			"sidecar": func(deployment *appsv1.Deployment, _ *corev1.Service) {
				pod := deployment.Spec.Template.Spec
				Expect(pod.Volumes).To(ConsistOf(HaveField("EmptyDir.SizeLimit.String()", "1Gi")))
				Expect(pod.Containers).To(HaveExactElements(HaveField("VolumeMounts", ConsistOf(HaveField("MountPath", "/var/log/nginx")))))
				Expect(pod.InitContainers).To(HaveExactElements(And(
					HaveField("RestartPolicy", HaveValue(Equal(corev1.ContainerRestartPolicyAlways))), HaveField("VolumeMounts", HaveLen(1)))))
			},
			"load-balancer": func(_ *appsv1.Deployment, service *corev1.Service) {
				Expect(service.Annotations).To(HaveKeyWithValue("service.beta.kubernetes.io/aws-load-balancer-scheme", "internal"))
				Expect(service.Spec.Type).To(Equal(corev1.ServiceTypeLoadBalancer))
				Expect(service.Spec.ExternalTrafficPolicy).To(Equal(corev1.ServiceExternalTrafficPolicyLocal))
				Expect(service.Spec.LoadBalancerSourceRanges).To(ConsistOf("192.0.2.0/24"))
			},
			"spread": func(deployment *appsv1.Deployment, _ *corev1.Service) {
				Expect(deployment.Spec.Strategy).To(Equal(appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}))
				Expect(deployment.Spec.Template.Spec.TopologySpreadConstraints).To(ConsistOf(
					HaveField("LabelSelector.MatchLabels", Equal(map[string]string{v1alpha1.LabelApp: "spread"}))))
			},
			"second-port": func(deployment *appsv1.Deployment, service *corev1.Service) {
				Expect(deployment.Spec.Template.Spec.Containers[0].Ports).To(ConsistOf(
					HaveField("ContainerPort", BeEquivalentTo(80)), HaveField("ContainerPort", BeEquivalentTo(9113))))
				Expect(service.Spec.Ports).To(ConsistOf(
					HaveField("TargetPort.StrVal", "app"), And(HaveField("Port", BeEquivalentTo(9113)), HaveField("TargetPort.StrVal", "metrics"))))
			},
		}
		Expect(manifests).To(HaveLen(len(expected)))
		for name, check := range expected {
			By("applying " + name)
			Expect(manifests).To(HaveKey(name))
			kubectl(ctx, "apply", "--server-side", "--filename="+writeFile(manifests[name]))
			app := &v1alpha1.Application{}
			app.Namespace, app.Name = namespace, name
			Eventually(ctx, func(g Gomega) {
				g.Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
				g.Expect(app).To(beSynced())
			}).Should(Succeed())
			deployment, service := &appsv1.Deployment{}, &corev1.Service{}
			Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(app), deployment)).To(Succeed())
			if app.Spec.Expose != "" {
				Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(app), service)).To(Succeed())
			}
			check(deployment, service)
		}
		expectNoFailures()
	})
})
