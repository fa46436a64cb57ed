// Package e2e runs the operator against a full control plane, where Deployments roll out, owners take their children
// with them and namespaces end. Each spec tells one story in a namespace of its own; all share one cluster.
package e2e

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

const (
	// patience suits two slow cores that other suites keep busy. A story that goes well needs little of it.
	patience = 2 * time.Minute
	// glance is how often a test looks.
	glance = 100 * time.Millisecond
)

var (
	env *harness.Environment
	// watcher is the administrator's client, which can also watch.
	watcher client.WithWatch
	// begin is where the audit log of the running spec begins.
	begin cluster.Mark
)

func TestEndToEnd(t *testing.T) {
	SetDefaultEventuallyTimeout(patience)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyPollingInterval(glance)
	SetDefaultConsistentlyPollingInterval(glance)
	RegisterFailHandler(Fail)
	RunSpecs(t, "End to end")
}

var _ = BeforeSuite(func(ctx context.Context) {
	var err error
	env, err = harness.Start(ctx, harness.Options{
		Controllers: true,
		// Owner references take rights then that nothing else takes.
		APIServerArgs: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
		Output:        GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	// Registered here: a failure below must stop the cluster, too.
	DeferCleanup(func() {
		env.KillOperator()
		Expect(env.Stop()).To(Succeed())
	})
	watcher, err = client.NewWithWatch(env.Config(), client.Options{Scheme: env.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	startOperator(ctx)
})

var _ = BeforeEach(func() {
	begin = mark()
})

// Whatever a spec is about: the operator has to live, and to write as it promises.
var _ = AfterEach(func() {
	Expect(env.OperatorFailure()).To(Succeed())
	expectPoliteWrites(begin)
})

// AfterSuite sees what came between specs as well.
var _ = AfterSuite(func(ctx SpecContext) {
	if env == nil {
		return
	}
	Expect(env.OperatorFailure()).To(Succeed())
	Expect(env.StopOperator()).To(Succeed(), "the operator ends gracefully")
	expectPoliteWrites(0)
	expectLeastPrivilege(ctx)
})
