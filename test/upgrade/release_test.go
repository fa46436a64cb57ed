package upgrade

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// A release is stored as a folder of its name in testdata: what it was installed from, and what it wrote.
type release string

func (r release) manifests() string { return filepath.Join("testdata", string(r), "install.yaml") }
func (r release) writes() string    { return filepath.Join("testdata", string(r), "writes.yaml") }

// lastRelease returns the newest of the releases that are stored.
func lastRelease() release {
	GinkgoHelper()
	entries, err := os.ReadDir("testdata")
	Expect(err).NotTo(HaveOccurred())
	var releases []*version.Version
	for _, entry := range entries {
		if entry.IsDir() {
			releases = append(releases, version.MustParseSemantic(entry.Name()))
		}
	}
	Expect(releases).NotTo(BeEmpty())
	newest := slices.MaxFunc(releases, func(a, b *version.Version) int {
		order, err := a.Compare(b.String())
		Expect(err).NotTo(HaveOccurred())
		return order
	})
	return release("v" + newest.String())
}

// recordedWrite is an apply that the operator of a release sent.
type recordedWrite struct {
	Manager string         `json:"manager"`
	Status  bool           `json:"status,omitempty"`
	Object  map[string]any `json:"object"`
}

// specs returns the spec of an Application of each shape, by name.
func specs() map[string]map[string]any {
	GinkgoHelper()
	return load[map[string]map[string]any](filepath.Join("testdata", "applications.yaml"))
}

func load[T any](path string) T {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	var value T
	Expect(yaml.UnmarshalStrict(content, &value)).To(Succeed(), path)
	return value
}

// createAll creates an Application of each shape, as their users do, and returns their uids by name.
func createAll(ctx context.Context, namespace string) map[string]types.UID {
	GinkgoHelper()
	uids := map[string]types.UID{}
	for name, spec := range specs() {
		object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		object.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind))
		object.SetNamespace(namespace)
		object.SetName(name)
		Expect(env.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("user"))).To(Succeed(), name)
		uids[name] = object.GetUID()
	}
	return uids
}

// replay sends what the operator of a release wrote about the Applications of createAll, in its order: the API server then
// holds what it held under that release, the record of who owns what included.
func (r release) replay(ctx context.Context, namespace string, uids map[string]types.UID) {
	GinkgoHelper()
	for _, write := range load[[]recordedWrite](r.writes()) {
		object := &unstructured.Unstructured{Object: write.Object}
		object.SetNamespace(namespace)
		uid, found := uids[object.GetName()]
		Expect(found).To(BeTrue(), object.GetName())
		owners := object.GetOwnerReferences()
		for i := range owners {
			owners[i].UID = uid
		}
		if len(owners) > 0 {
			object.SetOwnerReferences(owners)
		}
		config, what := client.ApplyConfigurationFromUnstructured(object), fmt.Sprintf("%s %s by %s", object.GetKind(), object.GetName(), write.Manager)
		if write.Status {
			Expect(env.Client.Status().Apply(ctx, config, client.FieldOwner(write.Manager))).To(Succeed(), what)
		} else {
			Expect(env.Client.Apply(ctx, config, client.FieldOwner(write.Manager))).To(Succeed(), what)
		}
	}
}
