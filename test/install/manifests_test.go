package install

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("The manifests", func() {
	It("are applied by one command without a warning, and once more without a change", func(ctx SpecContext) {
		folder := overlay("")
		Expect(install(ctx, folder)).To(ContainSubstring("deployment.apps/application-operator serverside-applied"))
		before := versions(ctx)
		install(ctx, folder)
		Expect(versions(ctx)).To(Equal(before))
	})

	It("may have each of the components, and all that go together", func(ctx SpecContext) {
		install(ctx, overlay(""))
		Expect(env.InstallCRDs(filepath.Join("testdata", "kinds-of-others.yaml"))).To(Succeed())
		Expect(components()).To(ContainElements("network-policy", "single-namespace"))
		for _, component := range components() {
			if component == "single-namespace" {
				continue // it takes a namespace: see there
			}
			By(component)
			// A dry run passes validation and admission, and leaves nothing that would warn or deny in other stories.
			install(ctx, overlay("", component), "--dry-run=server")
		}
		By("all together")
		install(ctx, overlay("", together()...), "--dry-run=server")
	})

	It("name nothing that the operator does not know", func(ctx SpecContext) {
		install(ctx, overlay(""))
		args := container(ctx).Args
		Expect(args).To(ContainElement("--leader-elect"))
		output, err := env.OperatorCommand(ctx, append(slices.Clone(args), "--version")...).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
		Expect(string(output)).To(HavePrefix("application-operator v"))
	})

	It("make pods that the strictest level of Pod Security admits, and only such", func(ctx SpecContext) {
		install(ctx, overlay(""))
		namespace := &corev1.Namespace{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.OperatorNamespace}, namespace)).To(Succeed())
		Expect(namespace.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))

		pod := podOf(operatorDeployment(ctx))
		Expect(env.Client.Create(ctx, pod, client.DryRunAll)).To(Succeed())

		By("loosening each of its bolts")
		for what, loosen := range map[string]func(*corev1.Pod){
			"runAsNonRoot": func(p *corev1.Pod) { p.Spec.SecurityContext.RunAsNonRoot = nil },
			"seccomp":      func(p *corev1.Pod) { p.Spec.SecurityContext.SeccompProfile = nil },
			"escalation":   func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil },
			"capabilities": func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.Capabilities = nil },
		} {
			loose := podOf(operatorDeployment(ctx))
			loosen(loose)
			Expect(env.Client.Create(ctx, loose, client.DryRunAll)).To(MatchError(ContainSubstring("violates PodSecurity")), what)
		}
		Expect(container(ctx).SecurityContext.ReadOnlyRootFilesystem).To(HaveValue(BeTrue()))
	})

	It("run two replicas that are disrupted one at a time and are given the time to stop", func(ctx SpecContext) {
		install(ctx, overlay(""))
		deployment := operatorDeployment(ctx)
		Expect(deployment.Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(deployment.Spec.Template.Spec.TerminationGracePeriodSeconds).To(HaveValue(BeNumerically(">", 30)), "longer than the manager's own grace period")

		budget := &policyv1.PodDisruptionBudget{}
		Expect(env.Client.Get(ctx, operatorKey, budget)).To(Succeed())
		Expect(budget.Spec.MaxUnavailable).To(HaveValue(Equal(intstr.FromInt32(1))))
		Expect(budget.Spec.Selector).To(selectLabels(deployment.Spec.Template.Labels))
	})

	It("have a Service that leads to the port of the metrics, and probes that lead to the port of health", func(ctx SpecContext) {
		install(ctx, overlay(""))
		service := &corev1.Service{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "application-operator-metrics"}, service)).To(Succeed())
		Expect(labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(operatorDeployment(ctx).Spec.Template.Labels))).To(BeTrue())
		Expect(service.Spec.Ports).To(ConsistOf(HaveField("TargetPort", intstr.FromString("metrics"))))

		main := container(ctx)
		ports := map[string]string{}
		for _, port := range main.Ports {
			ports[port.Name] = strconv.Itoa(int(port.ContainerPort))
		}
		Expect(main.Args).To(ContainElements(
			"--metrics-bind-address=:"+ports["metrics"], "--health-probe-bind-address=:"+ports["health"]))
		Expect(main.LivenessProbe.HTTPGet.Port).To(Equal(intstr.FromString("health")))
		Expect(main.ReadinessProbe.HTTPGet.Port).To(Equal(intstr.FromString("health")))
	})

	It("name the image in one place", func(ctx SpecContext) {
		rendered := render(ctx, overlay("images: [{name: mycompany.io/application-operator, newName: registry.example/operator, newTag: v9.9.9}]", together()...))
		var images []string
		for document := range strings.SplitSeq(rendered, "\n---\n") {
			if strings.Contains(document, "\nkind: CustomResourceDefinition\n") {
				continue // its descriptions have examples
			}
			for line := range strings.Lines(document) {
				if image, found := strings.CutPrefix(strings.TrimSpace(line), "image: "); found {
					images = append(images, image)
				}
			}
		}
		Expect(images).To(ConsistOf("registry.example/operator:v9.9.9"))
	})

	It("follow an overlay into another namespace, with all components", func(ctx SpecContext) {
		install(ctx, overlay(""))
		Expect(env.InstallCRDs(filepath.Join("testdata", "kinds-of-others.yaml"))).To(Succeed())
		Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}})).To(Succeed())
		folder := overlay("namespace: elsewhere\ntransformers: [DEPLOY/components/webhook-cert-manager/namespace]", together()...)
		Expect(render(ctx, folder)).NotTo(ContainSubstring(harness.OperatorNamespace))
		Expect(render(ctx, folder)).To(And(
			ContainSubstring("- application-operator-webhook.elsewhere.svc\n"),
			ContainSubstring("cert-manager.io/inject-ca-from: elsewhere/application-operator-webhook\n")))
		install(ctx, folder, "--dry-run=server")
	})
})

var operatorKey = client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "application-operator"}

func operatorDeployment(ctx context.Context) *appsv1.Deployment {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	Expect(env.Client.Get(ctx, operatorKey, deployment)).To(Succeed())
	return deployment
}

func container(ctx context.Context) *corev1.Container {
	GinkgoHelper()
	containers := operatorDeployment(ctx).Spec.Template.Spec.Containers
	Expect(containers).To(HaveLen(1))
	return &containers[0]
}

// podOf returns a pod as the controllers would make it of the Deployment.
func podOf(deployment *appsv1.Deployment) *corev1.Pod {
	template := deployment.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.GenerateName = deployment.Namespace, deployment.Name+"-"
	pod.Spec.AutomountServiceAccountToken = new(false) // nobody makes the account's volume here
	return pod
}

func selectLabels(set map[string]string) types.GomegaMatcher {
	return WithTransform(func(selector *metav1.LabelSelector) (bool, error) {
		s, err := metav1.LabelSelectorAsSelector(selector)
		return err == nil && !s.Empty() && s.Matches(labels.Set(set)), err
	}, BeTrue())
}

// versions returns the resource version of each object of the default installation, by kind and name.
func versions(ctx context.Context) string {
	GinkgoHelper()
	output, err := env.Kubectl(ctx, "get", "-k", overlay(""), "--output",
		`jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	Expect(err).NotTo(HaveOccurred())
	Expect(strings.Count(output, "\n")).To(BeNumerically(">=", 12))
	return output
}
