// Package production proves what a platform engineer asks of the operator: who sees its metrics, what it logs, who leads when
// a replica dies or freezes, what it warns of, and how several of it share a cluster. Its real binary runs under the shipped
// rights against a real etcd and kube-apiserver.
package production

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// patience suits two slow cores that other suites keep busy.
const patience = time.Minute

var env *harness.Environment

func TestProduction(t *testing.T) {
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(1500 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RegisterFailHandler(Fail)
	format.UseStringerRepresentation = true // audit events print as lines
	RunSpecs(t, "Production")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	env, err = harness.Start(ctx, harness.Options{Output: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
})

// start starts a replica of the operator, to be stopped at the end of the spec at the latest.
func start(ctx context.Context, name string, flags ...string) *cluster.Process {
	GinkgoHelper()
	process, err := env.StartReplica(ctx, name, flags...)
	if process != nil {
		DeferCleanup(func() { _ = process.Stop() }) // specs about the end of a process see to it themselves
	}
	Expect(err).NotTo(HaveOccurred())
	return process
}

func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace, err := env.CreateNamespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	return namespace
}

// apply applies an Application as a user does.
func apply(ctx context.Context, namespace, name, spec string) {
	GinkgoHelper()
	Expect(env.ApplyYAML(ctx, "user", namespace, fmt.Sprintf(
		"{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: %s}, spec: %s}", name, spec))).To(Succeed())
}

// synced returns the reason of the Synced condition, if it speaks of the present spec.
func synced(namespace, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		app := &v1alpha1.Application{}
		if err := env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, app); err != nil {
			return "", err
		}
		for _, c := range app.Status.Conditions {
			if c.Type == v1alpha1.ConditionSynced && c.ObservedGeneration == app.Generation {
				return c.Reason, nil
			}
		}
		return "", nil
	}
}

func mark() cluster.Mark {
	GinkgoHelper()
	m, err := env.Audit().Mark()
	Expect(err).NotTo(HaveOccurred())
	return m
}

// by selects the requests of a replica.
func by(replica string) cluster.Filter {
	return func(e cluster.Event) bool { return slices.Contains(e.User.Groups, replica) }
}

func requests(since cluster.Mark, filters ...cluster.Filter) cluster.Events {
	GinkgoHelper()
	events, err := env.Audit().Since(since, append(filters, cluster.Complete())...)
	Expect(err).NotTo(HaveOccurred())
	return events
}

// kubectl returns what kubectl prints, warnings included.
func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	cmd, err := env.KubectlCommand(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	output, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "kubectl %s: %s", strings.Join(args, " "), output)
	return string(output)
}

func freeAddress() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	return listener.Addr().String()
}
