package production

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/controllers"
	"mycompany.io/application-operator/test/harness"
)

var _ = Describe("Metrics", func() {
	It("are served to those who may see them, with the certificate of the day", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		certificates := newCertificates()
		address := freeAddress()
		start(ctx, "metrics", "--metrics-secure=true", "--metrics-bind-address="+address, "--metrics-cert-dir="+certificates.folder)
		prometheus, nobody := token(ctx, namespace, "prometheus"), token(ctx, namespace, "nobody")
		Expect(env.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: namespace},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "application-operator-metrics-reader"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "prometheus"}},
		})).To(Succeed())

		ask := func(token string) (int, string) { return get(ctx, address, certificates.authority(), token) }
		code, body := ask("")
		Expect(code).To(Equal(http.StatusUnauthorized), body)
		code, body = ask("made up")
		Expect(code).To(Equal(http.StatusInternalServerError), body)
		Expect(body).NotTo(ContainSubstring("application_operator"))
		code, body = ask(nobody)
		Expect(code).To(Equal(http.StatusForbidden), body)
		// The binding reaches the API server's authorizer a moment later, and a denial is remembered for half a minute.
		Eventually(func() int { code, body = ask(prometheus); return code }).Should(Equal(http.StatusOK), body)
		Expect(body).To(ContainSubstring("application_operator_applies_total{"))

		By("rotating the certificate under the running process")
		for range 2 {
			next := firstOf(certificates.rotate())
			Eventually(func() bool { return next.Equal(served(address)) }).Should(BeTrue())
		}
		code, _ = ask(prometheus)
		Expect(code).To(Equal(http.StatusOK))
	})

	It("need a certificate where a flag says that there is one", func(ctx SpecContext) {
		command := env.OperatorCommand(ctx, "--kubeconfig="+env.Kubeconfig(), "--metrics-cert-dir="+GinkgoT().TempDir())
		output, err := command.CombinedOutput()
		Expect(err).To(HaveOccurred())
		Expect(string(output)).To(And(HavePrefix("application-operator: --metrics-cert-dir must have a certificate in tls.crt"), ContainSubstring("no such file")))
	})

	It("have the names that rules and dashboard use", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		address := freeAddress()
		start(ctx, "names", "--metrics-bind-address="+address, "--leader-elect", "--leader-election-namespace="+harness.OperatorNamespace)
		apply(ctx, namespace, "web", "{image: registry.example/web:1, replicas: 1}")
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("Synced"))
		scale(ctx, namespace, "web", 3)
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("FieldConflict"))

		names := strings.Fields(read("../monitoring/testdata/borrowed.txt"))
		for _, metric := range controllers.Metrics() {
			names = append(names, metric.Name)
		}
		Expect(len(names)).To(BeNumerically(">", 15))
		var exposition string
		Eventually(func() []string {
			_, exposition = getPlain(ctx, address)
			var missing []string
			for _, name := range names {
				if !strings.Contains(exposition, "\n# TYPE "+name+" ") {
					missing = append(missing, name)
				}
			}
			return missing
		}).Should(BeEmpty())
		for _, kind := range []string{"Deployment", "Service", "Application"} {
			Expect(exposition).To(ContainSubstring(`application_operator_applies_total{kind="%s",outcome="Conflict"} `, kind))
		}
	})

	It("FR-49: keep no series of what is gone, and are right again after a restart", func(ctx SpecContext) {
		const many = 200
		namespace := newNamespace(ctx)
		address := freeAddress()
		flags := []string{"--metrics-bind-address=" + address, "--kube-api-qps=1000", "--kube-api-burst=1000", "--watch-namespaces=" + namespace}
		operator := start(ctx, "series", flags...)
		atOnce(many, func(i int) {
			apply(ctx, namespace, nameOf(i), "{image: registry.example/web:1, replicas: 1}")
		})
		series := func() map[string]float64 { return seriesOf(ctx, address, "application_operator_") }
		applications := func(phase string) string {
			return fmt.Sprintf(`application_operator_applications{phase=%q}`, phase)
		}
		conflicts := `application_operator_field_conflicts{kind="Deployment",manager="kubectl"}`
		contested := `application_operator_application_conditions{condition="Synced",reason="FieldConflict",status="False"}`
		asWanted := `application_operator_application_conditions{condition="Synced",reason="Synced",status="True"}`
		Eventually(series).Should(And(HaveKeyWithValue(asWanted, 200.0), HaveKeyWithValue(applications("Pending"), 200.0)))
		Expect(series()).To(HaveKeyWithValue(`application_operator_time_to_synced_seconds_count`, 200.0))
		quiet := len(series())

		By("contesting half of them")
		atOnce(many/2, func(i int) { scale(ctx, namespace, nameOf(i), 3) })
		Eventually(series).Should(And(HaveKeyWithValue(conflicts, 100.0), HaveKeyWithValue(contested, 100.0), HaveKeyWithValue(asWanted, 100.0)))
		Expect(len(series())).To(BeNumerically("<=", quiet+4), "no series for single objects: %v", series())

		By("resolving one")
		scale(ctx, namespace, nameOf(0), 1)
		Eventually(series).Should(And(HaveKeyWithValue(conflicts, 99.0), HaveKeyWithValue(contested, 99.0)))

		By("deleting one, and creating another of its name")
		remove(ctx, namespace, nameOf(1))
		Eventually(series).Should(HaveKeyWithValue(conflicts, 98.0))
		apply(ctx, namespace, nameOf(1), "{image: registry.example/web:1, replicas: 1}")
		Eventually(series).Should(HaveKeyWithValue(asWanted, 102.0))

		By("restarting the operator")
		Expect(operator.Stop()).To(Succeed())
		start(ctx, "series-2", flags...)
		Eventually(series).Should(And(HaveKeyWithValue(conflicts, 98.0), HaveKeyWithValue(contested, 98.0), HaveKeyWithValue(asWanted, 102.0)))
		Expect(series()).To(HaveKeyWithValue(`application_operator_time_to_synced_seconds_count`, 0.0), "what was observed is not observed again")
		Expect(series()).To(HaveKeyWithValue(`application_operator_applies_total{kind="Deployment",outcome="Configured"}`, 0.0))

		By("deleting all")
		for _, object := range []client.Object{&v1alpha1.Application{}, &appsv1.Deployment{}} {
			Expect(env.Client.DeleteAllOf(ctx, object, client.InNamespace(namespace))).To(Succeed())
		}
		Eventually(series).Should(And(
			Not(HaveKey(ContainSubstring("field_conflicts"))), Not(HaveKey(ContainSubstring("application_conditions"))),
			HaveKeyWithValue(applications("Pending"), 0.0), HaveKeyWithValue(applications("Running"), 0.0), HaveKeyWithValue(applications("Failed"), 0.0)))
	})

	It("count drift, hand-overs and migrations", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		address := freeAddress()
		start(ctx, "counts", "--metrics-bind-address="+address, "--watch-namespaces="+namespace, "--legacy-field-managers=older")
		series := func() map[string]float64 { return seriesOf(ctx, address, "application_operator_") }

		By("having a field changed by a manager that lets go of it")
		apply(ctx, namespace, "web", "{image: registry.example/web:1, replicas: 2}")
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("Synced"))
		drift := `application_operator_drift_repaired_total{kind="Deployment"}`
		Expect(series()).To(HaveKeyWithValue(drift, 0.0))
		Expect(env.Client.Delete(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}})).To(Succeed())
		Eventually(series).Should(HaveKeyWithValue(drift, 1.0))

		By("handing replicas over and back")
		apply(ctx, namespace, "web", "{image: registry.example/web:1}")
		Eventually(series).Should(HaveKeyWithValue(`application_operator_handovers_total{direction="GivenUp",kind="Deployment"}`, 1.0))
		apply(ctx, namespace, "web", "{image: registry.example/web:1, replicas: 3}")
		Eventually(series).Should(HaveKeyWithValue(`application_operator_handovers_total{direction="TakenBack",kind="Deployment"}`, 1.0))

		By("letting an older operator write")
		Expect(env.MergeYAML(ctx, "older", &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}, "{metadata: {annotations: {a: b}}}")).To(Succeed())
		Eventually(series).Should(HaveKeyWithValue(`application_operator_migrations_total{kind="Deployment"}`, 1.0))
	})
})

func nameOf(i int) string { return fmt.Sprintf("web-%d", i) }

// atOnce does something for each number below n, some at a time.
func atOnce(n int, do func(i int)) {
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			defer GinkgoRecover()
			for i := range numbers {
				do(i)
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
}

// scale scales a Deployment as kubectl does.
func scale(ctx context.Context, namespace, name string, replicas int) {
	GinkgoHelper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	Expect(env.Client.SubResource("scale").Patch(ctx, deployment, client.RawPatch("application/merge-patch+json",
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)), client.FieldOwner("kubectl"))).To(Succeed())
}

// remove deletes an Application and, as the garbage collector would, its Deployment.
func remove(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	Expect(env.Client.Delete(ctx, &v1alpha1.Application{ObjectMeta: meta})).To(Succeed())
	Expect(env.Client.Delete(ctx, &appsv1.Deployment{ObjectMeta: meta})).To(Succeed())
}

// token returns a token of a new service account.
func token(ctx context.Context, namespace, name string) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	Expect(env.Client.Create(ctx, account)).To(Succeed())
	request := &authenticationv1.TokenRequest{}
	Expect(env.Client.SubResource("token").Create(ctx, account, request)).To(Succeed())
	return request.Status.Token
}

// get asks for the metrics over a connection of its own.
func get(ctx context.Context, address string, authority []byte, token string) (code int, body string) {
	GinkgoHelper()
	roots := x509.NewCertPool()
	Expect(roots.AppendCertsFromPEM(authority)).To(BeTrue())
	return send(ctx, "https://"+address+"/metrics", &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}, token)
}

func getPlain(ctx context.Context, address string) (code int, body string) {
	GinkgoHelper()
	return send(ctx, "http://"+address+"/metrics", &http.Transport{DisableKeepAlives: true}, "")
}

func send(ctx context.Context, url string, transport http.RoundTripper, token string) (code int, body string) {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(content)
}

// seriesOf returns the series whose names begin so, with their values.
func seriesOf(ctx context.Context, address, prefix string) map[string]float64 {
	GinkgoHelper()
	code, body := getPlain(ctx, address)
	Expect(code).To(Equal(http.StatusOK), body)
	series := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), prefix) {
			continue
		}
		space := strings.LastIndex(lines.Text(), " ")
		value, err := strconv.ParseFloat(lines.Text()[space+1:], 64)
		Expect(err).NotTo(HaveOccurred())
		series[lines.Text()[:space]] = value
	}
	return series
}

func read(path string) string {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}
