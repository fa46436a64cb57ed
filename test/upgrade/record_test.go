package upgrade

import (
	"encoding/json"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// recordAs names the release to store the operator of this working tree as; see `make record-release`.
const recordAs = "RECORD_RELEASE"

var _ = Describe("Recording a release", func() {
	It("stores its manifests and what its operator writes", func(ctx SpecContext) {
		r := release(os.Getenv(recordAs))
		if r == "" {
			Skip("only when " + recordAs + " names the release")
		}
		start(ctx, harness.Options{})
		namespace, err := env.CreateNamespace(ctx)
		Expect(err).NotTo(HaveOccurred())
		begin := now()
		createAll(ctx, namespace)
		Expect(env.StartOperator(ctx)).To(Succeed())
		for name := range specs() {
			Eventually(read).WithContext(ctx).WithArguments(namespace, name).Should(HaveField("Status.ObservedGeneration", BeEquivalentTo(1)))
		}
		eventuallyAtRest(ctx)

		events, err := env.OperatorWrites(begin, cluster.WithVerb("patch"))
		Expect(err).NotTo(HaveOccurred())
		var writes []recordedWrite
		for _, event := range events {
			object := &unstructured.Unstructured{}
			Expect(json.Unmarshal([]byte(event.RequestBody()), &object.Object)).To(Succeed())
			for _, of := range []string{"namespace", "uid", "resourceVersion"} { // of this very cluster
				unstructured.RemoveNestedField(object.Object, "metadata", of)
			}
			owners := object.GetOwnerReferences()
			for i := range owners {
				owners[i].UID = ""
			}
			object.SetOwnerReferences(owners)
			writes = append(writes, recordedWrite{Manager: event.FieldManager(), Status: event.ObjectRef.Subresource == "status", Object: object.Object})
		}
		manifests, err := env.Kubectl(ctx, "kustomize", filepath.Join("..", "..", "deploy", "default"))
		Expect(err).NotTo(HaveOccurred())
		content, err := yaml.Marshal(writes)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.MkdirAll(filepath.Dir(r.writes()), 0o755)).To(Succeed())
		Expect(os.WriteFile(r.writes(), content, 0o644)).To(Succeed())
		Expect(os.WriteFile(r.manifests(), []byte(manifests), 0o644)).To(Succeed())
	})
})
