package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("A namespace that is being deleted", func() {
	const (
		applications = 25
		// Each event of the end of an Application's children may make the operator try to bring both back.
		tries = 8
	)

	It("is left in peace, however long it takes", func(ctx context.Context) {
		s := newSpace(ctx)
		w := s.watch()
		By("putting something into it that holds it")
		Expect(env.ApplyYAML(ctx, userManager, s.name,
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: anchor, finalizers: [test.example/anchor]}}")).To(Succeed())
		for n := range applications {
			s.apply(ctx, fmt.Sprint("web-", n), "image: '"+goodImage+"', replicas: 1, port: 80, expose: ClusterIP")
		}
		for n := range applications {
			s.expectReady(ctx, fmt.Sprint("web-", n))
		}
		expectRest(ctx)

		deleted := mark()
		Expect(env.Client.Delete(ctx, s.namespace())).To(Succeed())
		Eventually(s.onlyAnchored).WithContext(ctx).Should(BeTrue())
		expectRest(ctx)

		By("reading what the operator did meanwhile")
		for n := range applications {
			name := fmt.Sprint("web-", n)
			w.expectOneLife(name)
			refused := operatorWrites(deleted, cluster.InNamespace(s.name), cluster.Named(name), cluster.WithCode(403))
			Expect(len(refused)).To(BeNumerically("<=", tries), "a few tries at most: %s", refused)
		}
		Expect(operatorWrites(deleted, cluster.InNamespace(s.name), cluster.WithCode(201))).To(BeEmpty())
		Expect(requestsOfAnyone(deleted, cluster.ByUser(harness.OperatorUser), cluster.OnResource("events"))).To(BeEmpty(), "no Events into a dying namespace")

		By("letting it go")
		Expect(env.Client.Patch(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "anchor"}},
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
		Eventually(func() error {
			return env.Client.Get(ctx, client.ObjectKey{Name: s.name}, &corev1.Namespace{})
		}).WithContext(ctx).Should(MatchError(ContainSubstring("not found")))
	})
})

func (s *space) namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
}

// onlyAnchored reports whether the namespace controller waits for nothing but finalizers any more.
func (s *space) onlyAnchored(ctx context.Context) (bool, error) {
	namespace := s.namespace()
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
		return false, err
	}
	conditions := map[corev1.NamespaceConditionType]corev1.ConditionStatus{}
	for _, condition := range namespace.Status.Conditions {
		conditions[condition.Type] = condition.Status
	}
	return conditions[corev1.NamespaceFinalizersRemaining] == corev1.ConditionTrue, nil
}
