// Package integration tells what the operator does as stories: its real binary, under the shipped rights, against a
// real etcd and kube-apiserver. There are no controllers: what kube-controller-manager would do, a story does itself.
package integration

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

var (
	// env runs for the whole suite.
	env *harness.Environment
	// namespace is the running spec's own.
	namespace string
	// begin is where the audit log of the running spec begins.
	begin cluster.Mark
	// mayBeDenied is true once the running spec has taken a right from the operator, or has started the API server anew,
	// which denies everything until it has read the roles. All other specs assert that the operator is denied nothing.
	mayBeDenied bool
)

// patience suits two slow cores that other suites keep busy.
const patience = time.Minute

// maxBackoff bounds the time in which the operator notices what people fix without an event.
const maxBackoff = 3 * time.Second

var operatorFlags = []string{"--max-backoff=" + maxBackoff.String()}

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	format.UseStringerRepresentation = true // audit events print as lines
	RunSpecs(t, "Integration")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(1500 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)

	var err error
	env, err = harness.Start(ctx, harness.Options{
		// Owner references take rights then that nothing else takes.
		APIServerArgs: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
		Output:        GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
	Expect(env.StartOperator(ctx, operatorFlags...)).To(Succeed())
	DeferCleanup(func() { Expect(env.StopOperator()).To(Succeed()) })
})

var _ = BeforeEach(func(ctx SpecContext) {
	var err error
	namespace, err = env.CreateNamespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	begin, mayBeDenied = now(), false
	DeferCleanup(removeEverything)
})

// Whatever a story was about, these hold.
var _ = AfterEach(func() {
	expectWellBehavedWrites(begin)
	if !mayBeDenied {
		Expect(env.Denied(harness.OperatorUser, begin)).To(BeEmpty())
	}
	if err := env.OperatorFailure(); err != nil {
		// A race or a panic: no other story could come to its end.
		AbortSuite(err.Error())
	}
})

// removeEverything does what deleting the namespace would do if there were a namespace controller. The Applications go
// first, lest their children come back.
func removeEverything(ctx context.Context) {
	for _, object := range []client.Object{&v1alpha1.Application{}, &appsv1.Deployment{}, &corev1.Service{}} {
		Expect(env.Client.DeleteAllOf(ctx, object, client.InNamespace(namespace))).To(Succeed())
	}
}
