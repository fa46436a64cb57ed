package integration

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	"github.com/onsi/gomega/types"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("The command", func() {
	DescribeTable("ends with 2 and a hint if it is called wrongly:",
		func(ctx SpecContext, message string, args ...string) {
			session := run(ctx, args...)
			Eventually(session).Should(gexec.Exit(2))
			Expect(string(session.Err.Contents())).To(Equal("application-operator: " + message + "\nRun application-operator --help for its flags.\n"))
			Expect(session.Out.Contents()).To(BeEmpty())
		},
		Entry("an unknown flag", "flag provided but not defined: -no-such-flag", "--no-such-flag"),
		Entry("a flag for another type", `invalid value "many" for flag -max-concurrent-reconciles: parse error`, "--max-concurrent-reconciles=many"),
		Entry("no workers", "--max-concurrent-reconciles must be at least 1", "--max-concurrent-reconciles=0"),
		Entry("back-off the wrong way round", "--max-backoff must not be less than --min-backoff", "--min-backoff=2s", "--max-backoff=1s"),
		Entry("an argument", `unexpected argument "serve": the operator takes flags only`, "serve"),
	)

	It("names a namespace that can't be one", func(ctx SpecContext) {
		session := run(ctx, "--watch-namespaces=good,Not_Good")
		Eventually(session).Should(gexec.Exit(2))
		Expect(session.Err).To(gbytes.Say(`--watch-namespaces: "Not_Good" is no name of a namespace`))
	})

	It("prints its version and its flags on request", func(ctx SpecContext) {
		session := run(ctx, "--version")
		Eventually(session).Should(gexec.Exit(0))
		Expect(session.Out).To(gbytes.Say(`^application-operator v.*go1`))
		session = run(ctx, "--help")
		Eventually(session).Should(gexec.Exit(0))
		Expect(session.Err).To(gbytes.Say("-watch-namespaces"))
	})

	It("ends with one clear line if the API server is unreachable", func(ctx SpecContext) {
		expectOneLine(run(ctx, "--kubeconfig="+writeKubeconfig("https://127.0.0.1:1")),
			And(ContainSubstring("the API server https://127.0.0.1:1 does not answer"), ContainSubstring("connection refused")))
	})

	It("ends with one clear line if the kubeconfig is missing", func(ctx SpecContext) {
		expectOneLine(run(ctx, "--kubeconfig=no-such-file"), ContainSubstring("no-such-file"))
	})

	It("ends with one clear line if it may not read Applications", func(ctx SpecContext) {
		kubeconfig, err := env.KubeconfigFor("nobody")
		Expect(err).NotTo(HaveOccurred())
		expectOneLine(run(ctx, "--kubeconfig="+kubeconfig), And(
			ContainSubstring("the operator's user lacks rights"),
			ContainSubstring(`User "nobody" cannot list resource "applications"`),
			ContainSubstring("kubectl apply --server-side -k deploy/rbac")))
	})

	It("ends with one clear line if the CustomResourceDefinition is missing", func(ctx SpecContext) {
		By("starting a cluster without it")
		bare, err := cluster.Start(ctx, cluster.Options{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(bare.Stop()).To(Succeed()) })
		expectOneLine(run(ctx, "--kubeconfig="+bare.Kubeconfig()), And(
			ContainSubstring("does not serve applications.application.mycompany.io v1alpha1"),
			ContainSubstring("kubectl apply --server-side -k deploy/crd")))
	})

	It("works in the watched namespaces only, with rights there only", func(ctx SpecContext) {
		other, err := env.CreateNamespace(ctx)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(env.RestartOperator(ctx, operatorFlags...)).To(Succeed())
			Expect(env.Client.DeleteAllOf(ctx, theApplication(), client.InNamespace(other))).To(Succeed())
			Expect(env.Client.DeleteAllOf(ctx, theDeployment(), client.InNamespace(other))).To(Succeed())
		})

		By("taking the role in all namespaces away, and giving it in this one")
		Expect(env.StopOperator()).To(Succeed())
		bindLocally(ctx)

		By("watching one namespace")
		Expect(env.StartOperator(ctx, append(operatorFlags, "--watch-namespaces="+namespace)...)).To(Succeed())
		Expect(env.ApplyYAML(ctx, author, other, manifest(exposedSpec))).To(Succeed())
		given(ctx, exposedSpec)
		Consistently(func() (cluster.Events, error) { return env.OperatorRequests(begin, cluster.InNamespace(other)) }).Should(BeEmpty())
	})

	It("ends with 0 when asked to, at rest or at work", func(ctx SpecContext) {
		given(ctx, exposedSpec)
		for i := range 3 {
			write(ctx, fmt.Sprintf("{image: registry.example/web:%d}", i+2))
			whileOperatorIsDown(ctx, func() {}) // StopOperator fails unless the code is 0
		}
		eventuallySynced(ctx)
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:4"))
	})
})

// run starts the command beside the suite's operator.
func run(ctx context.Context, args ...string) *gexec.Session {
	GinkgoHelper()
	args = append([]string{"--metrics-bind-address=0", "--health-probe-bind-address=0"}, args...)
	session, err := gexec.Start(env.OperatorCommand(ctx, args...), GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait(10 * time.Second) })
	return session
}

// expectOneLine waits for the end with code 1 and a single line on standard error.
func expectOneLine(session *gexec.Session, line types.GomegaMatcher) {
	GinkgoHelper()
	Eventually(session).Should(gexec.Exit(1))
	text := string(session.Err.Contents())
	Expect(strings.Count(text, "\n")).To(Equal(1), text)
	Expect(text).To(And(HavePrefix("application-operator: "), HaveSuffix("\n"), line))
	Expect(session.Out.Contents()).To(BeEmpty())
}

// writeKubeconfig writes a kubeconfig that leads to a server which may not exist.
func writeKubeconfig(server string) string {
	return writeFile(fmt.Sprintf(`
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: %q}}]
contexts: [{name: a, context: {cluster: a}}]
current-context: a`, server))
}

// bindLocally gives the operator its role in the spec's namespace alone, until the spec ends.
func bindLocally(ctx context.Context) {
	GinkgoHelper()
	everywhere := &rbacv1.ClusterRoleBinding{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: "application-operator"}, everywhere)).To(Succeed())
	Expect(env.Client.Delete(ctx, everywhere)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		everywhere.ObjectMeta = metav1.ObjectMeta{Name: everywhere.Name, Labels: everywhere.Labels}
		Expect(env.Client.Create(ctx, everywhere)).To(Succeed())
		Eventually(ctx, func(ctx context.Context) (bool, error) { return operatorMay(ctx, "list", "apps", "deployments") }).Should(BeTrue())
	})
	here := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: everywhere.Name},
		RoleRef:    everywhere.RoleRef,
		Subjects:   everywhere.Subjects,
	}
	Expect(env.Client.Create(ctx, here)).To(Succeed())
	Eventually(ctx, func(ctx context.Context) (bool, error) { return operatorMay(ctx, "list", "apps", "deployments") }).Should(BeTrue())
}
