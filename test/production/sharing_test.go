package production

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("Several operators", func() {
	It("share a cluster: where their scopes overlap, one stands back, both tell, and the other takes over", func(ctx SpecContext) {
		shops := []string{newNamespace(ctx), newNamespace(ctx), newNamespace(ctx)}
		one, another := newOffice(ctx), newOffice(ctx)
		// Leases of the same second are told apart by the names of their namespaces.
		older, younger := min(one, another), max(one, another)
		addresses := map[string]string{"older": freeAddress(), "younger": freeAddress()}
		operator := func(name, office string, namespaces ...string) *cluster.Process {
			return start(ctx, name, "--leader-elect", "--leader-election-namespace="+office, "--metrics-bind-address="+addresses[name],
				"--leader-election-lease-duration="+leaseDuration.String(), "--leader-election-renew-deadline=3s", "--watch-namespaces="+strings.Join(namespaces, ","), "--trusted-operator-namespaces="+older+","+younger)
		}
		overlapping := func(name string) func() float64 {
			return func() float64 {
				return seriesOf(ctx, addresses[name], "application_operator_overlapping_operators")["application_operator_overlapping_operators"]
			}
		}
		first := operator("older", older, shops[0], shops[1])
		Eventually(scopeOf(older)).WithContext(ctx).Should(Equal(fmt.Sprintf(`{"namespaces":[%q,%q]}`, min(shops[0], shops[1]), max(shops[0], shops[1]))))
		second := operator("younger", younger, shops[1], shops[2])
		Eventually(overlapping("older")).Should(Equal(1.0))
		Eventually(overlapping("younger")).Should(Equal(1.0))

		begin := mark()
		write := func(image string) {
			for _, shop := range shops {
				apply(ctx, shop, "web", "{image: "+image+", replicas: 1}")
			}
			for _, shop := range shops {
				Eventually(imageOf(shop, "web")).WithContext(ctx).Should(Equal(image))
				Eventually(synced(shop, "web")).WithContext(ctx).Should(Equal("Synced"))
			}
		}
		write("registry.example/web:1")
		write("registry.example/web:2")
		Expect(writesIn(begin, "older", shops...)).To(Equal([]bool{true, true, false}))
		Expect(writesIn(begin, "younger", shops...)).To(Equal([]bool{false, false, true}))

		By("looking at what they tell")
		for office, process := range map[string]*cluster.Process{older: first, younger: second} {
			Expect(read(process.Log())).To(ContainSubstring("Another operator handles Applications that this one handles, too"))
			Eventually(func(ctx context.Context) ([]eventsv1.Event, error) {
				list := &eventsv1.EventList{}
				err := env.Client.List(ctx, list, client.InNamespace(office))
				return list.Items, err
			}).WithContext(ctx).Should(ContainElement(And(
				HaveField("Reason", "OperatorsOverlap"), HaveField("Type", "Warning"), HaveField("Regarding.Kind", "Lease"), HaveField("Regarding.Namespace", office))))
		}

		By("killing the one that everything depends on")
		begin = mark()
		Expect(first.Kill()).To(Succeed())
		apply(ctx, shops[1], "web", "{image: registry.example/web:3, replicas: 1}")
		Eventually(imageOf(shops[1], "web")).WithContext(ctx).Should(Equal("registry.example/web:3"))
		Expect(writesIn(begin, "younger", shops...)).To(Equal([]bool{false, true, false}))
		Eventually(overlapping("younger")).Should(BeZero())
	})

	It("do not end by what a person writes on their Lease, and tell their scope once they may", func(ctx SpecContext) {
		shop, office := newNamespace(ctx), newOffice(ctx)
		Expect(env.CreateYAML(ctx, "person", office, `{apiVersion: coordination.k8s.io/v1, kind: Lease,
			metadata: {name: `+v1alpha1.LeaseName+`, annotations: {`+v1alpha1.AnnotationScope+`: mine}}}`)).To(Succeed())
		operator := start(ctx, "contested", "--leader-elect", "--leader-election-namespace="+office, "--watch-namespaces="+shop,
			"--leader-election-lease-duration="+leaseDuration.String(), "--leader-election-renew-deadline=3s")
		Eventually(func() string { return read(operator.Log()) }).Should(And(
			ContainSubstring("Remove the annotation "+v1alpha1.AnnotationScope+" from the Lease"), ContainSubstring(`conflict with \"person\"`)))
		apply(ctx, shop, "web", "{image: registry.example/web:1, replicas: 1}")
		Eventually(synced(shop, "web")).WithContext(ctx).Should(Equal("Synced"))
		Expect(scopeOf(office)(ctx)).To(Equal("mine"))

		kubectl(ctx, "annotate", "lease", v1alpha1.LeaseName, v1alpha1.AnnotationScope+"-", "--namespace", office)
		Eventually(scopeOf(office)).WithContext(ctx).Should(Equal(fmt.Sprintf(`{"namespaces":[%q]}`, shop)))
		Expect(operator.Stop()).To(Succeed())
	})

	It("may each have the Applications of some labels", func(ctx SpecContext) {
		shop := newNamespace(ctx)
		start(ctx, "red", "--application-selector=team=red", "--watch-namespaces="+shop)
		begin := mark()
		for _, team := range []string{"blue", "red"} {
			Expect(env.ApplyYAML(ctx, "user", shop, fmt.Sprintf(`{apiVersion: application.mycompany.io/v1alpha1, kind: Application,
				metadata: {name: %s, labels: {team: %s}}, spec: {image: registry.example/web:1, replicas: 1}}`, team, team))).To(Succeed())
		}
		Eventually(synced(shop, "red")).WithContext(ctx).Should(Equal("Synced"))
		Consistently(func() cluster.Events { return requests(begin, by("red"), cluster.Named("blue")) }).Should(BeEmpty())

		By("moving an Application from one to the other")
		start(ctx, "blue", "--application-selector=team=blue", "--watch-namespaces="+shop)
		Eventually(synced(shop, "blue")).WithContext(ctx).Should(Equal("Synced"))
		move := mark()
		app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "red"}}
		Expect(env.MergeYAML(ctx, "user", app, "{metadata: {labels: {team: blue}}, spec: {image: 'registry.example/web:2'}}")).To(Succeed())
		Eventually(imageOf(shop, "red")).WithContext(ctx).Should(Equal("registry.example/web:2"))
		Expect(operatorWrites(move, "red")).To(BeEmpty())
	})
})

// newOffice creates a namespace in which an operator may hold its Lease, as it may in its own.
func newOffice(ctx context.Context) string {
	GinkgoHelper()
	office := newNamespace(ctx)
	role, binding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
	key := client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "application-operator-leader-election"}
	Expect(env.Client.Get(ctx, key, role)).To(Succeed())
	Expect(env.Client.Get(ctx, key, binding)).To(Succeed())
	role.ObjectMeta = metav1.ObjectMeta{Namespace: office, Name: role.Name}
	binding.ObjectMeta = metav1.ObjectMeta{Namespace: office, Name: binding.Name}
	Expect(env.Client.Create(ctx, role)).To(Succeed())
	Expect(env.Client.Create(ctx, binding)).To(Succeed())
	return office
}

// scopeOf returns the scope that an operator has written on its Lease.
func scopeOf(office string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		lease := &coordinationv1.Lease{}
		if err := env.Client.Get(ctx, client.ObjectKey{Namespace: office, Name: v1alpha1.LeaseName}, lease); err != nil {
			return "", client.IgnoreNotFound(err)
		}
		return lease.Annotations[v1alpha1.AnnotationScope], nil
	}
}

// writesIn tells in which of the namespaces a replica has written.
func writesIn(since cluster.Mark, replica string, namespaces ...string) []bool {
	GinkgoHelper()
	writes := operatorWrites(since, replica)
	var written []bool
	for _, namespace := range namespaces {
		written = append(written, slices.ContainsFunc(writes, func(e cluster.Event) bool { return e.ObjectRef.Namespace == namespace }))
	}
	return written
}
