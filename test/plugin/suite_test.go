// Package plugin proves the kubectl plugin as people use it: the real kubectl finds it on PATH and runs it, with a user's
// rights, against a real control plane in which the operator's real binary is at work.
package plugin

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/harness"
)

var (
	// env runs for the whole suite.
	env *harness.Environment
	// namespace is the running spec's own.
	namespace string
)

// patience suits two slow cores that other suites keep busy.
const patience = time.Minute

func TestPlugin(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Plugin")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)

	folder := buildPlugin(ctx)
	path := os.Getenv("PATH")
	Expect(os.Setenv("PATH", folder+string(os.PathListSeparator)+path)).To(Succeed())
	DeferCleanup(os.Setenv, "PATH", path)

	var err error
	env, err = harness.Start(ctx, harness.Options{Controllers: true, Output: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	Expect(env.StartOperator(ctx)).To(Succeed())
	DeferCleanup(func() { Expect(env.StopOperator()).To(Succeed()) })
})

var _ = BeforeEach(func(ctx SpecContext) {
	var err error
	namespace, err = env.CreateNamespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(removeEverything)
})

// removeEverything makes the operator forget the spec's objects sooner than the namespace controller would.
func removeEverything(ctx context.Context) {
	for _, object := range []client.Object{&v1alpha1.Application{}, &appsv1.Deployment{}, &corev1.Service{}} {
		Expect(env.Client.DeleteAllOf(ctx, object, client.InNamespace(namespace))).To(Succeed())
	}
}
