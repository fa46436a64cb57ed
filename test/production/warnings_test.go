package production

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("The webhook", func() {
	It("warns, as kubectl shows, of what will not take effect, and never stands in the way", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		certificates := newCertificates()
		address := freeAddress()
		operator := start(ctx, "webhook", "--watch-namespaces="+namespace, "--webhook-bind-address="+address, "--webhook-cert-dir="+certificates.folder)
		registerWebhook(ctx, namespace, address, certificates.authority())
		kubectlApply := func(spec string) string {
			return kubectl(ctx, "apply", "--namespace", namespace, "-f", application(spec))
		}

		Expect(kubectlApply("{image: registry.example/web:1, replicas: 2, port: 80, expose: ClusterIP}")).To(Equal(
			"application.application.mycompany.io/web created\n"))
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("Synced"))

		By("having it scaled by kubectl")
		kubectl(ctx, "scale", "deployment/web", "--replicas=5", "--namespace", namespace)
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("FieldConflict"))
		const warning = "Warning: spec.replicas will not take effect: .spec.replicas of Deployment web is owned by kubectl (scale)\n"
		Expect(kubectlApply("{image: registry.example/web:2, replicas: 3, port: 80, expose: ClusterIP}")).To(Equal(warning +
			"Warning: Deployment web is left as it is until then, with all its other fields; spec.conflictPolicy Yield would apply these\n" +
			"application.application.mycompany.io/web configured\n"))
		Expect(kubectlApply("{image: registry.example/web:2, replicas: 3, port: 80, expose: ClusterIP, conflictPolicy: Yield}")).To(Equal(warning +
			"application.application.mycompany.io/web configured\n"))
		Expect(kubectlApply("{image: registry.example/web:2, replicas: 5, port: 80, expose: ClusterIP}")).To(Equal(
			"application.application.mycompany.io/web configured\n"), "what all agree on takes effect")

		By("changing what is no part of the spec")
		kubectlApply("{image: registry.example/web:2, replicas: 4, port: 80, expose: ClusterIP, conflictPolicy: Yield}")
		Expect(kubectl(ctx, "label", "application.application.mycompany.io/web", "team=red", "--namespace", namespace)).NotTo(ContainSubstring("Warning"))

		By("taking up a new certificate")
		next := certificates.rotate()
		Eventually(func() bool { return firstOf(next).Equal(served(address)) }).Should(BeTrue())
		registerWebhook(ctx, namespace, address, next)
		Eventually(func() string {
			return kubectl(ctx, "apply", "--dry-run=server", "--namespace", namespace, "-f", application("{image: registry.example/web:3, replicas: 6, port: 80, expose: ClusterIP, conflictPolicy: Yield}"))
		}).Should(HavePrefix(warning))

		By("going on without the operator")
		Expect(operator.Stop()).To(Succeed())
		Expect(kubectlApply("{image: registry.example/web:4, replicas: 6, port: 80, expose: ClusterIP}")).To(Equal("application.application.mycompany.io/web configured\n"))
	})

	It("names fields of spec.deployment by where they are there, and what no Deployment has", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		certificates := newCertificates()
		address := freeAddress()
		start(ctx, "partial", "--watch-namespaces="+namespace, "--webhook-bind-address="+address, "--webhook-cert-dir="+certificates.folder)
		kubectlApply := func(image, pod string, more ...string) string {
			spec := "{image: registry.example/web:1, conflictPolicy: Yield, deployment: {spec: {template: {spec: {" + pod + ": [{name: proxy, image: " + image + "}]}}}}}"
			return kubectl(ctx, append([]string{"apply", "--namespace", namespace, "-f", application(spec)}, more...)...)
		}
		kubectlApply("registry.example/proxy:1", "containers")
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("Synced"))
		registerWebhook(ctx, namespace, address, certificates.authority())

		By("having another image set by kubectl")
		kubectl(ctx, "set", "image", "deployment/web", "proxy=registry.example/proxy:theirs", "--namespace", namespace)
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("FieldsYielded"))
		const field = `.spec.template.spec.containers[name="proxy"].image`
		Eventually(func() string { return kubectlApply("registry.example/proxy:2", "containers", "--dry-run=server") }).Should(Equal(
			"Warning: spec.deployment" + field + " will not take effect: " + field + " of Deployment web is owned by kubectl-set\n" +
				"application.application.mycompany.io/web configured (server dry run)\n"))

		By("misspelling a field")
		Expect(kubectlApply("registry.example/proxy:2", "contianers")).To(Equal(
			"Warning: The spec is invalid, and nothing of it is applied: spec.deployment.spec.template.spec.contianers: there is no such field; did you mean containers?\n" +
				"application.application.mycompany.io/web configured\n"))
	})

	It("asks the API server nothing", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		certificates := newCertificates()
		address := freeAddress()
		start(ctx, "silent", "--watch-namespaces="+namespace, "--webhook-bind-address="+address, "--webhook-cert-dir="+certificates.folder)
		registerWebhook(ctx, namespace, address, certificates.authority())
		apply(ctx, namespace, "web", "{image: registry.example/web:1, replicas: 2}")
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("Synced"))
		scale(ctx, namespace, "web", 5)
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("FieldConflict"))
		kubectlDryRun := func() string {
			return kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "--namespace", namespace, "-f", application("{image: registry.example/web:1, replicas: 9}"))
		}
		Eventually(kubectlDryRun).Should(ContainSubstring("Warning: spec.replicas will not take effect"))
		before := mark()
		Expect(kubectlDryRun()).To(ContainSubstring("Warning: spec.replicas will not take effect"))
		Expect(requests(before, by("silent"), cluster.Except(cluster.WithVerb("watch"), cluster.OnResource("leases"), cluster.OnResource("events")))).To(BeEmpty())
	})
})

var _ = Describe("The guard", func() {
	var namespace string

	BeforeEach(func(ctx SpecContext) {
		namespace = newNamespace(ctx)
		start(ctx, "guarded", "--watch-namespaces="+namespace)
		apply(ctx, namespace, "web", "{image: registry.example/web:1, replicas: 2, port: 80, expose: ClusterIP, env: [{name: A, value: a}]}")
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("Synced"))
	})

	inNamespace := func(ctx context.Context, args ...string) string {
		GinkgoHelper()
		return kubectl(ctx, append(args, "--namespace", namespace)...)
	}
	const instead = " of Application web: change it there, with kubectl edit applications.application.mycompany.io/web --namespace "

	It("warns who edits by hand what comes from an Application, and nobody else", func(ctx SpecContext) {
		installGuard(ctx, "guard", namespace)
		image := func(version string) string {
			return inNamespace(ctx, "set", "image", "deployment/web", "app=registry.example/web:"+version)
		}
		Expect(image("2")).To(And(
			HavePrefix("Warning: Validation failed for ValidatingAdmissionPolicy 'application-operator-guard-deployments'"),
			ContainSubstring("what you change of Deployment web comes from spec.image"+instead+namespace),
			HaveSuffix("deployment.apps/web image updated\n")))
		Expect(inNamespace(ctx, "set", "env", "deployment/web", "A=b")).To(ContainSubstring("comes from spec.env of Application web"))
		Expect(inNamespace(ctx, "patch", "deployment/web", "--type=merge", "--patch", `{"spec":{"replicas":7}}`)).To(ContainSubstring("comes from spec.replicas of Application web"))
		Expect(inNamespace(ctx, "patch", "service/web", "--type=merge", "--patch", `{"spec":{"type":"NodePort"}}`)).To(ContainSubstring("comes from spec.expose of Application web"))
		Expect(inNamespace(ctx, "patch", "service/web", "--type=merge", "--patch", `{"spec":{"selector":{"app":"other"}}}`)).To(ContainSubstring("the selector of Service web leads to"))

		By("doing what is nobody's business, or agrees with the Application")
		for _, command := range [][]string{
			{"scale", "deployment/web", "--replicas=3"},
			{"rollout", "restart", "deployment/web"},
			{"set", "env", "deployment/web", "MINE=1"},
			{"annotate", "deployment/web", "service/web", "note=mine"},
			{"patch", "deployment/web", "--type=merge", "--patch", `{"spec":{"replicas":2}}`},
			{"set", "image", "deployment/web", "app=registry.example/web:1"},
		} {
			Expect(inNamespace(ctx, command...)).NotTo(ContainSubstring("Warning"), "%v", command)
		}
		typeChecked := func() *admissionregistrationv1.ValidatingAdmissionPolicy {
			policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Name: "application-operator-guard-deployments"}, policy)).To(Succeed())
			return policy
		}
		Expect(ptr.Deref(typeChecked().Status.TypeChecking, admissionregistrationv1.TypeChecking{}).ExpressionWarnings).To(BeEmpty())
	})

	It("denies it in its other variant, but not to the operator, to controllers, to scale and to status", func(ctx SpecContext) {
		installGuard(ctx, "guard-deny", namespace)
		edit := func() error {
			_, err := env.Kubectl(ctx, "set", "image", "deployment/web", "app=registry.example/web:2", "--namespace", namespace, "--dry-run=server")
			return err
		}
		Expect(edit()).To(MatchError(ContainSubstring("what you change of Deployment web comes from spec.image" + instead + namespace)))
		Expect(inNamespace(ctx, "scale", "deployment/web", "--replicas=2")).To(ContainSubstring("scaled"))

		By("letting a controller write")
		controller, err := client.New(env.ConfigFor("system:serviceaccount:kube-system:horizontal-runner", "system:masters"), client.Options{Scheme: env.Client.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		Expect(controller.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":3}}`)))).To(Succeed())
		Expect(env.Client.Status().Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"status":{"replicas":3}}`)))).To(Succeed())
		Expect(controller.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2}}`)))).To(Succeed())

		By("letting the operator do its work")
		apply(ctx, namespace, "web", "{image: registry.example/web:2, replicas: 2, port: 81, expose: NodePort, env: [{name: A, value: b}]}")
		Eventually(imageOf(namespace, "web")).WithContext(ctx).Should(Equal("registry.example/web:2"))
		Eventually(func(ctx context.Context) (corev1.ServiceType, error) {
			service := &corev1.Service{}
			err := env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "web"}, service)
			return service.Spec.Type, err
		}).WithContext(ctx).Should(Equal(corev1.ServiceTypeNodePort))
	})
})

// application writes the manifest of an Application and returns the file.
func application(spec string) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "web.yaml")
	Expect(os.WriteFile(file, []byte("{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: web}, spec: "+spec+"}"), 0o600)).To(Succeed())
	return file
}

// registerWebhook registers the webhook as shipped, but for a namespace alone, and at an address instead of a Service, which
// leads nowhere here.
func registerWebhook(ctx context.Context, namespace, address string, authority []byte) {
	GinkgoHelper()
	shipped := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	Expect(yaml.UnmarshalStrict([]byte(read("../../deploy/components/webhook/validating_webhook.yaml")), shipped)).To(Succeed())
	Expect(shipped.Webhooks).To(ConsistOf(And(
		HaveField("FailurePolicy", HaveValue(Equal(admissionregistrationv1.Ignore))),
		HaveField("TimeoutSeconds", HaveValue(BeEquivalentTo(2))),
		HaveField("SideEffects", HaveValue(Equal(admissionregistrationv1.SideEffectClassNone))))))
	webhook := &shipped.Webhooks[0]
	shipped.Name = namespace
	webhook.ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: new("https://" + address + *webhook.ClientConfig.Service.Path), CABundle: authority}
	webhook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	err := env.Client.Create(ctx, shipped)
	if err == nil {
		DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, shipped)).To(Succeed()) })
		return
	}
	patch := fmt.Sprintf(`[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":%q}]`, base64.StdEncoding.EncodeToString(authority))
	Expect(env.Client.Patch(ctx, shipped, client.RawPatch(types.JSONPatchType, []byte(patch)))).To(Succeed())
}

// installGuard installs a variant of the guard until the end of the spec, and waits until the API server acts on it.
func installGuard(ctx context.Context, component, namespace string) {
	GinkgoHelper()
	folder, err := os.MkdirTemp("", "guard")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, folder)
	target, err := filepath.Abs("../../deploy/components/" + component)
	Expect(err).NotTo(HaveOccurred())
	relative, err := filepath.Rel(folder, target)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte("components: ["+relative+"]"), 0o600)).To(Succeed())
	Expect(strings.ToLower(kubectl(ctx, "apply", "--server-side", "--warnings-as-errors", "-k", folder))).NotTo(ContainSubstring("warning"))
	DeferCleanup(func(ctx SpecContext) { kubectl(ctx, "delete", "-k", folder) })
	for _, command := range []string{
		"set image deployment/web app=registry.example/web:0",
		`patch service/web --type=merge --patch {"spec":{"type":"NodePort"}}`,
	} {
		Eventually(func() (string, error) {
			cmd, err := env.KubectlCommand(ctx, append(strings.Fields(command), "--dry-run=server", "--namespace", namespace)...)
			if err != nil {
				return "", err
			}
			output, _ := cmd.CombinedOutput() // a denial is an error, and just what is waited for
			return string(output), nil
		}).Should(ContainSubstring("ValidatingAdmissionPolicy"), command)
	}
}
