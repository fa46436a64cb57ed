package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("Delete races", func() {
	const (
		lanes  = 5
		rounds = 10
	)

	It("FR-25: make no child for an Application that is gone, whenever it goes", func(ctx context.Context) {
		s := newSpace(ctx)
		w := s.watch()
		images := &imagesByOwner{}

		By(fmt.Sprintf("replacing %d Applications %d times each by one with another image", lanes, rounds))
		var running sync.WaitGroup
		for lane := range lanes {
			running.Go(func() {
				defer GinkgoRecover()
				name := fmt.Sprint("web-", lane)
				for round := range rounds {
					image := fmt.Sprintf("registry.example/%s:%d", name, round)
					s.apply(ctx, name, fmt.Sprintf("image: %q, port: 80, expose: ClusterIP", image))
					app := s.application(ctx, name)
					images.set(app.UID, image)
					switch (lane + round) % 3 {
					case 0:
						s.expectReady(ctx, name)
					case 1:
						// Right in the operator's work.
						Eventually(s.ownsDeployment).WithContext(ctx).WithArguments(app).WithPolling(5 * time.Millisecond).Should(BeTrue())
					case 2:
						// Right before the operator's next work, whose object is just going, too.
						s.expectReady(ctx, name)
						deployment := s.deployment(ctx, name)
						s.apply(ctx, name, fmt.Sprintf("image: %q, port: %d, expose: ClusterIP", image, 81+round))
						Expect(env.Client.Delete(ctx, deployment, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
					}
					if round < rounds-1 {
						s.delete(ctx, app)
					}
				}
			})
		}
		running.Wait()

		By("looking at the end")
		for lane := range lanes {
			name := fmt.Sprint("web-", lane)
			app := s.expectReady(ctx, name)
			for _, child := range []client.Object{s.deployment(ctx, name), s.service(ctx, name)} {
				Expect(child.GetOwnerReferences()).To(HaveExactElements(HaveField("UID", app.UID)))
			}
			Eventually(s.pods).WithContext(ctx).WithArguments(name).Should(
				HaveExactElements(HaveField("Spec.Containers", HaveExactElements(HaveField("Image", app.Spec.Image)))))
			w.expectTruth(ctx, s, name)
		}

		By("looking at every write on the way there")
		expectNoPosthumousChildren(begin, s)
		for _, e := range operatorWrites(begin, cluster.InNamespace(s.name), cluster.OnResource("deployments"), cluster.WithCode(200, 201)) {
			owners := decode[child](e.ResponseBody()).owners()
			Expect(owners).To(HaveLen(1), e.String())
			Expect(e.RequestBody()).To(ContainSubstring("%q", images.get(owners[0])), "data of one Application reached a child of another")
		}
	})
})

// expectNoPosthumousChildren asserts from the audit log that no child was created for an Application that was gone or
// going. The API server cannot make that one step, so what counts is when the operator looked at the Application for
// the last time before it sent the create.
func expectNoPosthumousChildren(since cluster.Mark, s *space) {
	GinkgoHelper()
	gone := map[types.UID]time.Time{}
	for _, e := range requestsOfAnyone(since, cluster.InNamespace(s.name), cluster.WithVerb("delete"), cluster.OnResource("applications"), cluster.WithCode(200)) {
		uid := decode[struct {
			Preconditions struct{ UID types.UID }
		}](e.RequestBody()).Preconditions.UID
		Expect(uid).NotTo(BeEmpty(), e.String())
		gone[uid] = e.StageTimestamp.Time
	}
	Expect(gone).NotTo(BeEmpty(), "the log tells of no deletion")

	looks := requestsOfAnyone(since, cluster.ByUser(harness.OperatorUser), cluster.InNamespace(s.name), cluster.WithVerb("get"), cluster.OnResource("applications"))
	created := operatorWrites(since, cluster.InNamespace(s.name), cluster.WithCode(201))
	Expect(created).NotTo(BeEmpty(), "the log tells of no child")
	for _, e := range created {
		look := lastLook(looks, created, e)
		for _, owner := range decode[child](e.RequestBody()).owners() {
			end, isGone := gone[owner]
			if isGone && end.Before(e.RequestReceivedTimestamp.Time) {
				Expect(look).To(BeTemporally("<", end), "%s was deleted at %s: %s", owner, end, e)
			}
		}
	}
}

// lastLook returns when the operator last asked for the Application of a child before it created that child. What it saw
// before it created a former child of the name does not count.
func lastLook(looks, created cluster.Events, create cluster.Event) time.Time {
	GinkgoHelper()
	former := lastBefore(create, created, func(e cluster.Event) bool { return e.ObjectRef.Resource == create.ObjectRef.Resource })
	look := lastBefore(create, looks, func(cluster.Event) bool { return true })
	Expect(look.After(former)).To(BeTrue(), "created without a look at the Application: %s", create)
	return look
}

// lastBefore returns when the last of these requests that was answered before another about the same name was sent.
func lastBefore(other cluster.Event, requests cluster.Events, matches func(cluster.Event) bool) time.Time {
	for _, e := range slices.Backward(requests) {
		if e.ObjectRef.Name == other.ObjectRef.Name && matches(e) && e.StageTimestamp.Before(&other.RequestReceivedTimestamp) {
			return e.RequestReceivedTimestamp.Time
		}
	}
	return time.Time{}
}

// ownsDeployment reports whether the Deployment of an Application's name is its own.
func (s *space) ownsDeployment(ctx context.Context, app *v1alpha1.Application) (bool, error) {
	deployment := &appsv1.Deployment{}
	err := env.Client.Get(ctx, client.ObjectKeyFromObject(app), deployment)
	return metav1.IsControlledBy(deployment, app), client.IgnoreNotFound(err)
}

// imagesByOwner tells which image each Application was created with.
type imagesByOwner struct {
	sync.Map
}

func (i *imagesByOwner) set(owner types.UID, image string) { i.Store(owner, image) }

func (i *imagesByOwner) get(owner types.UID) string {
	image, _ := i.Load(owner)
	return fmt.Sprint(image)
}
