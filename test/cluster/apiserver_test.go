package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// TestAPIServer holds what can share one etcd and kube-apiserver.
func TestAPIServer(t *testing.T) {
	c := start(t, Options{CRDs: []string{"testdata"}})
	t.Run("Identities", func(t *testing.T) { testIdentities(t, c) })
	t.Run("AuditLog", func(t *testing.T) { testAuditLog(t, c) })
	t.Run("Forced", func(t *testing.T) { testForced(t, c) })
	t.Run("CRDs", func(t *testing.T) { testCRDs(t, c) })
	t.Run("KubectlVersion", func(t *testing.T) { testKubectlVersion(t, c) })
	t.Run("Existing", func(t *testing.T) { testExisting(t, c) })
	t.Run("Restart", func(t *testing.T) { testRestart(t, c) })
}

func testIdentities(t *testing.T, c *Cluster) {
	g := NewWithT(t)
	const account = "system:serviceaccount:default:reader"
	reader := kubernetes.NewForConfigOrDie(c.ConfigFor(account, "system:serviceaccounts"))

	_, err := reader.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	g.Expect(err).To(MatchError(apierrors.IsForbidden, "is forbidden"))

	admin := kubernetes.NewForConfigOrDie(c.Config())
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}
	_, err = admin.RbacV1().Roles("default").Create(t.Context(), role, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "reader", Namespace: "default"}},
	}
	_, err = admin.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	g.Eventually(func() error {
		_, err := reader.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err
	}).Should(Succeed())

	path, err := c.KubeconfigFor(account, "system:serviceaccounts")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Kubectl(t.Context(), "--kubeconfig="+path, "auth", "whoami", "-o=jsonpath={.status.userInfo.username}")).To(Equal(account))
}

func testAuditLog(t *testing.T, c *Cluster) {
	g := NewWithT(t)
	config := c.ConfigFor("auditee", adminGroup)
	config.UserAgent = "audit-test/1"
	client := kubernetes.NewForConfigOrDie(config)
	configMaps := client.CoreV1().ConfigMaps("default")

	before, err := c.Audit().Mark()
	g.Expect(err).NotTo(HaveOccurred())
	_, err = configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "audited"}, Data: map[string]string{"k": "created"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	mark, err := c.Audit().Mark()
	g.Expect(err).NotTo(HaveOccurred())
	apply := corev1ac.ConfigMap("audited", "default").WithData(map[string]string{"k": "applied"})
	_, err = configMaps.Apply(t.Context(), apply, metav1.ApplyOptions{FieldManager: "unforced"})
	g.Expect(err).To(MatchError(apierrors.IsConflict, "is a conflict"))
	_, err = configMaps.Apply(t.Context(), apply, metav1.ApplyOptions{FieldManager: "forcer", Force: true})
	g.Expect(err).NotTo(HaveOccurred())

	// Everything is there at once: nothing is awaited in this test.
	mine := []Filter{ByUser("auditee"), ByUserAgent("audit-test/"), Writes()}
	events, err := c.Audit().Since(before, append(mine, WithVerb("create"))...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(events).To(HaveLen(1))
	g.Expect(events[0].RequestBody()).To(ContainSubstring(`"k":"created"`))

	events, err = c.Audit().Since(mark, append(mine, OnResource("configmaps"), InAPIGroup(""), InNamespace("default"), Named("audited"))...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(events).To(HaveLen(2), "the mark leaves out the create:\n%s", events)
	refused, forced := events[0], events[1]
	g.Expect(refused.Code()).To(Equal(409))
	g.Expect(refused.Forced()).To(BeFalse())
	g.Expect(refused.FieldManager()).To(Equal("unforced"))
	g.Expect(refused.ResponseBody()).To(ContainSubstring("FieldManagerConflict"))
	g.Expect(forced.Code()).To(Equal(200))
	g.Expect(forced.Forced()).To(BeTrue())
	g.Expect(forced.RequestBody()).To(MatchJSON(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"audited","namespace":"default"},"data":{"k":"applied"}}`))
	g.Expect(forced.String()).To(And(ContainSubstring("patch"), ContainSubstring("force=true"), ContainSubstring("auditee")))

	g.Expect(c.Audit().Since(mark, Forced(), ByFieldManager("forcer"))).To(HaveLen(1))
	g.Expect(c.Audit().Since(mark, ByUser("auditee"), Except(Forced()))).To(HaveLen(1))
	g.Expect(c.Audit().Since(mark, ByUser("auditee"), Any(WithCode(409), WithCode(200)))).To(HaveLen(2))

	watching, stop := context.WithCancel(t.Context())
	watcher, err := configMaps.Watch(watching, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	watches := []Filter{ByUser("auditee"), WithVerb("watch")}
	g.Expect(c.Audit().Since(mark, watches...)).To(HaveLen(1), "a watch is there while it lasts")
	watcher.Stop()
	stop()
	g.Eventually(func() (Events, error) { return c.Audit().Since(mark, append(watches, Complete())...) }).Should(HaveLen(1))
}

// testForced asks the API server itself what forces: such a request takes a field that another manager owns.
func testForced(t *testing.T, c *Cluster) {
	g := NewWithT(t)
	client := kubernetes.NewForConfigOrDie(c.Config()).CoreV1().RESTClient()
	apply := func(manager, force string) error {
		return client.Patch(types.ApplyYAMLPatchType).Namespace("default").Resource("configmaps").Name("contested").
			Param("fieldManager", manager).Param("force", force).
			// In JSON: the API server records no patch whose body is nothing but YAML.
			Body(fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "contested"}, "data": {"owner": %q}}`, manager)).
			Do(t.Context()).Error()
	}
	g.Expect(apply("first", "false")).To(Succeed())
	for i, value := range []string{"true", "True", "1", "yes", "", "false", "FALSE", "0"} {
		manager := fmt.Sprint("manager-", i)
		err := apply(manager, value)
		g.Eventually(func() (Events, error) { return c.Audit().All(ByFieldManager(manager)) }).
			Should(ConsistOf(HaveField("Forced()", err == nil)), "force=%s: %v", value, err)
		if err != nil {
			g.Expect(err).To(MatchError(apierrors.IsConflict, "is a conflict"))
		}
	}
}

func testCRDs(t *testing.T, c *Cluster) {
	g := NewWithT(t)
	g.Expect(c.Kubectl(t.Context(), "get", "examples.cluster.test")).To(BeEmpty())
	g.Expect(c.InstallCRDs("testdata")).To(Succeed(), "installing twice updates")
}

func testKubectlVersion(t *testing.T, c *Cluster) {
	g := NewWithT(t)
	root, err := repositoryRoot()
	g.Expect(err).NotTo(HaveOccurred())
	server, err := binary(apiServerName)
	g.Expect(err).NotTo(HaveOccurred())
	if filepath.Dir(server) != filepath.Join(root, "bin", "controlplane") {
		t.Skipf("%s has its own version", server)
	}
	modules, err := os.ReadFile("../controlplane/go.mod")
	g.Expect(err).NotTo(HaveOccurred())
	pinned := regexp.MustCompile(`k8s\.io/kubernetes (v\S+)`).FindSubmatch(modules)
	g.Expect(pinned).NotTo(BeNil())

	out, err := c.Kubectl(t.Context(), "version", "--output=json")
	g.Expect(err).NotTo(HaveOccurred())
	var version struct {
		ClientVersion, ServerVersion struct{ GitVersion string }
	}
	g.Expect(json.Unmarshal([]byte(out), &version)).To(Succeed())
	g.Expect(version.ClientVersion.GitVersion).To(BeEquivalentTo(pinned[1]))
	g.Expect(version.ServerVersion.GitVersion).To(BeEquivalentTo(pinned[1]))

	_, err = c.Kubectl(t.Context(), "get", "no-such-resource")
	g.Expect(err).To(MatchError(And(ContainSubstring("kubectl get no-such-resource"), ContainSubstring("the server doesn't have a resource type"))))
}

func testExisting(t *testing.T, c *Cluster) {
	g := NewWithT(t)
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, c.Kubeconfig())
	t.Setenv(EnvExisting, "true")
	existing, err := Start(t.Context(), Options{CRDs: []string{"testdata"}})
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(existing.Config().Host).To(Equal(c.Config().Host))
	g.Expect(existing.Kubectl(t.Context(), "get", "namespace", "default", "-o=name")).To(Equal("namespace/default\n"))
	path, err := existing.KubeconfigFor("someone", "group-a", "group-b")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(existing.Kubectl(t.Context(), "--kubeconfig="+path, "auth", "whoami", "-o=jsonpath={.status.userInfo.username} {.status.userInfo.groups}")).
		To(And(HavePrefix("someone"), ContainSubstring("group-b")))

	_, err = existing.Audit().All()
	g.Expect(err).To(MatchError(errNoAuditLog))
	g.Expect(existing.StopAPIServer()).NotTo(Succeed())
	g.Expect(existing.StartAPIServer(t.Context())).NotTo(Succeed())

	g.Expect(existing.Stop()).To(Succeed())
	g.Expect(existing.Dir()).NotTo(BeADirectory())
	g.Expect(c.waitForAPI(t.Context())).To(Succeed(), "an existing cluster goes on running")
}

func testRestart(t *testing.T, c *Cluster) {
	g := NewWithT(t)
	client := kubernetes.NewForConfigOrDie(c.Config())
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(c.StopAPIServer()).To(Succeed())
	_, err = client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))

	g.Expect(c.StartAPIServer(t.Context())).To(Succeed())
	_, err = client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestAuditLogWithIncompleteLines(t *testing.T) {
	g := NewWithT(t)
	path := t.TempDir() + "/audit.log"
	log := &AuditLog{path: path}
	g.Expect(log.Mark()).To(BeZero(), "no log yet")
	g.Expect(log.All()).To(BeEmpty())

	line := func(verb string) []byte { return []byte(`{"kind":"Event","verb":"` + verb + `"}` + "\n") }
	whole := bytes.Join([][]byte{line("first"), line("second"), line("third")}, nil)
	verbs := func(mark Mark) []string {
		events, err := log.Since(mark)
		g.Expect(err).NotTo(HaveOccurred())
		found := []string{}
		for _, e := range events {
			found = append(found, e.Verb)
		}
		return found
	}

	g.Expect(os.WriteFile(path, whole[:len(whole)-5], 0o600)).To(Succeed())
	g.Expect(verbs(0)).To(Equal([]string{"first", "second"}), "the third is still being written")

	inSecond := Mark(len(line("first")) + 3)
	g.Expect(os.WriteFile(path, whole, 0o600)).To(Succeed())
	g.Expect(verbs(Mark(len(line("first"))))).To(Equal([]string{"second", "third"}))
	g.Expect(verbs(inSecond)).To(Equal([]string{"third"}), "the second was being written when the mark was set")
	g.Expect(verbs(Mark(len(whole)))).To(BeEmpty())
}

func TestAuditLogAfterACrash(t *testing.T) {
	g := NewWithT(t)
	log := &AuditLog{path: t.TempDir() + "/audit.log"}
	g.Expect(log.endCutLine()).To(Succeed(), "no log yet")

	verbs := func() []string {
		events, err := log.All()
		g.Expect(err).NotTo(HaveOccurred())
		var found []string
		for _, e := range events {
			found = append(found, e.Verb)
		}
		return found
	}
	write := func(text string) {
		f, err := os.OpenFile(log.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = f.WriteString(text)
		g.Expect(errors.Join(err, f.Close())).To(Succeed())
		g.Expect(log.endCutLine()).To(Succeed())
	}
	write("")
	write(`{"verb":"first"}` + "\n")
	write(`{"verb":"second"}` + "\n" + `{"verb":"th`)
	mark, err := log.Mark()
	g.Expect(err).NotTo(HaveOccurred())
	write(`{"verb":"fourth"}` + "\n")
	g.Expect(verbs()).To(Equal([]string{"first", "second", "fourth"}))
	g.Expect(log.Since(mark)).To(HaveLen(1))
}

func TestConfigIsACopy(t *testing.T) {
	g := NewWithT(t)
	c := &Cluster{admin: &rest.Config{Host: "https://127.0.0.1:1"}}
	c.Config().Host = "https://example.com"
	g.Expect(c.Config().Host).To(Equal("https://127.0.0.1:1"))
}
