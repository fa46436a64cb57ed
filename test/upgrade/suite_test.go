// Package upgrade proves what a new release may rely on, and what users may rely on: the children that an earlier release
// wrote are left as they are, and what a change of the CRD leaves behind is named.
package upgrade

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// patience suits two slow cores that other suites keep busy.
const patience = time.Minute

// quiet is longer than the first few retries of a failed reconcile would take.
const quiet = 3 * time.Second

var env *harness.Environment

func TestUpgrade(t *testing.T) {
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RegisterFailHandler(Fail)
	format.UseStringerRepresentation = true // audit events print as lines
	RunSpecs(t, "Upgrade")
}

// start starts a cluster for the stories of a container.
func start(ctx context.Context, o harness.Options) {
	GinkgoHelper()
	o.Output = GinkgoWriter
	var err error
	env, err = harness.Start(ctx, o)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		env.KillOperator()
		Expect(env.Stop()).To(Succeed())
	})
}

// now marks the end of the audit log.
func now() cluster.Mark {
	GinkgoHelper()
	mark, err := env.Audit().Mark()
	Expect(err).NotTo(HaveOccurred())
	return mark
}

// eventuallyAtRest waits until the operator has written nothing for a while.
func eventuallyAtRest(ctx context.Context) {
	GinkgoHelper()
	last := now()
	Eventually(func() (cluster.Events, error) {
		since := last
		last = now()
		return env.OperatorWrites(since)
	}).WithContext(ctx).WithPolling(quiet).Should(BeEmpty())
}

// child names the Deployment of an Application without having read it.
func child(namespace, name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}
