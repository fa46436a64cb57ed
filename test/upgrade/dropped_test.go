package upgrade

import (
	"context"
	"fmt"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// Once a CRD has dropped a version, nobody can apply to an object whose managedFields still name it
// (kubernetes/kubernetes#111937).
var _ = Describe("FR-44: a version that the CRD drops", Ordered, func() {
	const (
		older = "v1alpha0"
		newer = "v1alpha1"
	)
	var namespace string

	// written applies an Application as a GitOps tool does, and its finalizer and status as an operator of that time does.
	written := func(ctx context.Context, version, name, image string) error {
		if err := env.ApplyYAML(ctx, "gitops", namespace, manifest(version, name, image)); err != nil {
			return err
		}
		finalizer := fmt.Sprintf("{apiVersion: %s/%s, kind: %s, metadata: {name: %s, finalizers: [%s]}}",
			v1alpha1.GroupName, version, v1alpha1.Kind, name, v1alpha1.Finalizer)
		if err := env.ApplyYAML(ctx, v1alpha1.FieldManagerFinalizer, namespace, finalizer); err != nil {
			return err
		}
		status := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1alpha1.GroupName + "/" + version, "kind": v1alpha1.Kind,
			"metadata": map[string]any{"name": name, "namespace": namespace},
			"status":   map[string]any{"message": "written at " + version},
		}}
		return env.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status), client.FieldOwner(v1alpha1.FieldManagerStatus))
	}

	BeforeAll(func(ctx SpecContext) {
		start(ctx, harness.Options{})
		var err error
		namespace, err = env.CreateNamespace(ctx)
		Expect(err).NotTo(HaveOccurred())
		By("serving two versions, and writing at the older")
		changeVersions(ctx, func(versions []apiextensionsv1.CustomResourceDefinitionVersion) []apiextensionsv1.CustomResourceDefinitionVersion {
			added := versions[0].DeepCopy()
			added.Name, added.Storage = older, false
			return append(versions, *added)
		})
		for _, name := range []string{"moved", "forgotten"} {
			Eventually(written).WithContext(ctx).WithArguments(older, name, "registry.example/web:1").Should(Succeed())
		}
	})

	It("is no loss to whoever moved before: the operator does by itself", func(ctx SpecContext) {
		Expect(env.ApplyYAML(ctx, "gitops", namespace, manifest(newer, "moved", "registry.example/web:1"))).To(Succeed())
		Expect(env.StartOperator(ctx)).To(Succeed())
		for _, name := range []string{"moved", "forgotten"} {
			Eventually(versionsOf).WithContext(ctx).WithArguments(namespace, name).Should(And(
				HaveKeyWithValue(v1alpha1.FieldManagerFinalizer, v1alpha1.GroupName+"/"+newer),
				HaveKeyWithValue(v1alpha1.FieldManagerStatus, v1alpha1.GroupName+"/"+newer)), name)
		}
		Expect(versionsOf(ctx, namespace, "forgotten")).To(HaveKeyWithValue("gitops", v1alpha1.GroupName+"/"+older), "of others it does not touch the record")

		By("dropping the older version")
		changeVersions(ctx, func(versions []apiextensionsv1.CustomResourceDefinitionVersion) []apiextensionsv1.CustomResourceDefinitionVersion {
			return versions[:1]
		})
		Eventually(func(ctx context.Context) error {
			return env.ApplyYAML(ctx, "gitops", namespace, manifest(older, "moved", "registry.example/web:1"))
		}).WithContext(ctx).Should(MatchError(apierrors.IsNotFound, "is not served"))
		Expect(env.ApplyYAML(ctx, "gitops", namespace, manifest(newer, "moved", "registry.example/web:2"))).To(Succeed())
		Eventually(read).WithContext(ctx).WithArguments(namespace, "moved").Should(
			HaveField("Status.ObservedGeneration", BeEquivalentTo(2)))
	})

	It("is named where it was forgotten, once, and overcome by what the message says", func(ctx SpecContext) {
		Expect(env.ApplyYAML(ctx, "gitops", namespace, manifest(newer, "forgotten", "registry.example/web:2"))).
			To(MatchError(ContainSubstring("request to convert CR to an invalid group/version")), "the API server has mended it: this can go")

		By("giving the operator something to report")
		begin := now()
		Expect(env.MergeYAML(ctx, "platform", child(namespace, "forgotten"), "{metadata: {labels: {owner: somebody}}}")).To(Succeed())
		Eventually(notes).WithContext(ctx).WithArguments(namespace, "forgotten", v1alpha1.ReasonVersionDropped).Should(ConsistOf(And(
			ContainSubstring("No apply to Application forgotten is possible"),
			ContainSubstring(`of "gitops" (Apply) at application.mycompany.io/v1alpha0`))))
		Expect(env.OperatorLog()).To(ContainSubstring("a version that managedFields name was dropped"))

		By("counting the attempts")
		statusApplies := func() (cluster.Events, error) {
			return env.OperatorWrites(begin, cluster.OnResource("applications/status"), cluster.Named("forgotten"))
		}
		Consistently(statusApplies).WithTimeout(quiet).Should(WithTransform(func(tried cluster.Events) int { return len(tried) },
			BeNumerically("<=", 3)), "one for each change, and no retry")

		By("looking for the Event: one, that counts")
		repeated, err := env.OperatorRequests(begin, cluster.OnResource("events"), cluster.WithVerb("patch"))
		Expect(err).NotTo(HaveOccurred())
		Expect(repeated).NotTo(BeEmpty())
		Expect(env.Denied(harness.OperatorUser, 0)).To(BeEmpty())

		By("naming the version in the entry anew")
		said, err := notes(ctx, namespace, "forgotten", v1alpha1.ReasonVersionDropped)
		Expect(err).NotTo(HaveOccurred())
		Expect(said).To(HaveLen(1))
		number := regexp.MustCompile(`entry number (\d+), of`).FindStringSubmatch(said[0])[1]
		_, err = env.Kubectl(ctx, "patch", "application/forgotten", "--namespace="+namespace, "--type=json", "--patch="+fmt.Sprintf(
			`[{"op":"test","path":"/metadata/managedFields/%[1]s/manager","value":"gitops"},{"op":"replace","path":"/metadata/managedFields/%[1]s/apiVersion","value":"%[2]s/%[3]s"}]`, number, v1alpha1.GroupName, newer))
		Expect(err).NotTo(HaveOccurred())
		Eventually(read).WithContext(ctx).WithArguments(namespace, "forgotten").Should(
			HaveField("Status.Conflicts", ConsistOf(HaveField("Manager", "platform"))))
		Expect(versionsOf(ctx, namespace, "forgotten")).To(HaveKeyWithValue("gitops", v1alpha1.GroupName+"/"+newer))
		Expect(env.ApplyYAML(ctx, "gitops", namespace, manifest(newer, "forgotten", "registry.example/web:2"))).To(Succeed())
	})
})

func manifest(version, name, image string) string {
	return fmt.Sprintf("{apiVersion: %s/%s, kind: %s, metadata: {name: %s}, spec: {image: %q, replicas: 1, deletionPolicy: Orphan}}",
		v1alpha1.GroupName, version, v1alpha1.Kind, name, image)
}

// changeVersions changes the versions of the CustomResourceDefinition.
func changeVersions(ctx context.Context, change func([]apiextensionsv1.CustomResourceDefinitionVersion) []apiextensionsv1.CustomResourceDefinitionVersion) {
	GinkgoHelper()
	Expect(apiextensionsv1.AddToScheme(env.Client.Scheme())).To(Succeed())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: v1alpha1.Resource + "." + v1alpha1.GroupName}, crd)).To(Succeed())
	crd.Spec.Versions = change(crd.Spec.Versions)
	Expect(env.Client.Update(ctx, crd)).To(Succeed())
}

func read(ctx context.Context, namespace, name string) (*v1alpha1.Application, error) {
	app := &v1alpha1.Application{}
	return app, env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, app)
}

// versionsOf returns the version at which each manager wrote an Application last.
func versionsOf(ctx context.Context, namespace, name string) (map[string]string, error) {
	app, err := read(ctx, namespace, name)
	versions := map[string]string{}
	for _, entry := range app.ManagedFields {
		versions[entry.Manager] = entry.APIVersion
	}
	return versions, err
}

// notes returns what the Events with a reason say about an Application.
func notes(ctx context.Context, namespace, name, reason string) ([]string, error) {
	list := &eventsv1.EventList{}
	err := env.Client.List(ctx, list, client.InNamespace(namespace))
	var notes []string
	for i := range list.Items {
		if e := &list.Items[i]; e.Regarding.Name == name && e.Reason == reason {
			notes = append(notes, e.Note)
		}
	}
	return notes, err
}
