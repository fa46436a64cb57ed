package upgrade

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("An upgrade in place from the last release", func() {
	// Five namespaces of six Applications each.
	const namespaces = 5

	It("writes to no child that nobody changed, while others are being changed", func(ctx SpecContext) {
		last := lastRelease()
		By("installing " + string(last) + ", and having what its operator left")
		start(ctx, harness.Options{Manifests: last.manifests()})
		var resting []string
		for range namespaces {
			namespace, err := env.CreateNamespace(ctx)
			Expect(err).NotTo(HaveOccurred())
			last.replay(ctx, namespace, createAll(ctx, namespace))
			resting = append(resting, namespace)
		}
		before := children(ctx, resting)
		Expect(before).To(HaveLen(namespaces * 8)) // five of the six have a Deployment, three a Service

		By("going on to change other Applications")
		begin := now()
		busy := work(ctx)

		By("applying the new manifests over the old ones")
		upgrade(ctx)
		By("starting the new operator, two replicas of it, and stopping the leader")
		flags := []string{"--leader-elect", "--leader-election-namespace=" + harness.OperatorNamespace}
		first, err := env.StartReplica(ctx, "replica-1", flags...)
		Expect(err).NotTo(HaveOccurred())
		expectAllSeen(ctx)
		second, err := env.StartReplica(ctx, "replica-2", flags...)
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Stop()).To(Succeed())
		expectAllSeen(ctx)

		By("ending the work")
		busy.end(ctx)
		eventuallyAtRest(ctx)
		Expect(second.Stop()).To(Succeed())

		Expect(children(ctx, resting)).To(Equal(before))
		for _, namespace := range resting {
			for _, resource := range []string{"deployments", "services", v1alpha1.Resource} {
				writes, err := env.OperatorWrites(begin, cluster.InNamespace(namespace), cluster.OnResource(resource))
				Expect(err).NotTo(HaveOccurred())
				Expect(writes).To(BeEmpty(), resource)
			}
			for name := range specs() {
				// A release may say something in other words, but only once.
				writes, err := env.OperatorWrites(begin, cluster.InNamespace(namespace), cluster.OnResource(v1alpha1.Resource+"/status"), cluster.Named(name))
				Expect(err).NotTo(HaveOccurred())
				Expect(len(writes)).To(BeNumerically("<=", 1), writes.String())
			}
		}
	})
})

// upgrade applies the manifests of this working tree as a person does: unforced, and with no warning.
func upgrade(ctx context.Context) {
	GinkgoHelper()
	cmd, err := env.KubectlCommand(ctx, "apply", "--server-side", "--warnings-as-errors", "-k", filepath.Join("..", "..", "deploy", "default"))
	Expect(err).NotTo(HaveOccurred())
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	Expect(cmd.Run()).To(Succeed(), output.String())
}

// children returns the resource version of each Deployment and Service of the namespaces.
func children(ctx context.Context, namespaces []string) map[string]string {
	GinkgoHelper()
	versions := map[string]string{}
	for _, namespace := range namespaces {
		for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.ServiceList{}} {
			Expect(env.Client.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
			Expect(apimeta.EachListItem(list, func(object runtime.Object) error {
				o := object.(client.Object)
				versions[fmt.Sprintf("%T %s/%s %s", o, namespace, o.GetName(), o.GetUID())] = o.GetResourceVersion()
				return nil
			})).To(Succeed())
		}
	}
	return versions
}

// busyUsers change Applications of their own all the time.
type busyUsers struct {
	namespace string
	stop      context.CancelFunc
	running   sync.WaitGroup
	images    [3]string
}

func work(ctx context.Context) *busyUsers {
	GinkgoHelper()
	namespace, err := env.CreateNamespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	working, stop := context.WithCancel(context.Background())
	users := &busyUsers{namespace: namespace, stop: stop}
	DeferCleanup(func() {
		stop()
		users.running.Wait()
	})
	for n := range users.images {
		users.running.Go(func() {
			defer GinkgoRecover()
			pace := time.NewTicker(50 * time.Millisecond)
			defer pace.Stop()
			for i := 0; working.Err() == nil; i++ {
				<-pace.C
				image := fmt.Sprintf("registry.example/web:%d", i)
				Expect(env.ApplyYAML(context.Background(), "user", namespace, manifest(v1alpha1.SchemeGroupVersion.Version, fmt.Sprint("busy-", n), image))).To(Succeed())
				users.images[n] = image
			}
		})
	}
	return users
}

// end ends the work, and expects that all of it was done.
func (u *busyUsers) end(ctx context.Context) {
	GinkgoHelper()
	u.stop()
	u.running.Wait()
	for n, image := range u.images {
		Eventually(func(ctx context.Context) (string, error) {
			deployment := child(u.namespace, fmt.Sprint("busy-", n))
			if err := env.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
				return "", err
			}
			return deployment.Spec.Template.Spec.Containers[0].Image, nil
		}).WithContext(ctx).Should(Equal(image))
	}
}

// expectAllSeen waits until the leading operator has looked at every Application there was before. It takes them in
// their order, so it has begun with all of these once it has done one that came later, and ended with them once it rests
// or has done another.
func expectAllSeen(ctx context.Context) {
	GinkgoHelper()
	namespace, err := env.CreateNamespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"later", "even-later"} {
		Expect(env.ApplyYAML(ctx, "user", namespace, manifest(v1alpha1.SchemeGroupVersion.Version, name, "registry.example/web:1"))).To(Succeed())
		Eventually(read).WithContext(ctx).WithArguments(namespace, name).Should(HaveField("Status.ObservedGeneration", BeEquivalentTo(1)))
	}
}
