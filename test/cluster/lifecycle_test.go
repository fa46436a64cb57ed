package cluster

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestClustersSideBySide(t *testing.T) {
	g := NewWithT(t)
	var clusters [2]*Cluster
	var wg sync.WaitGroup
	for i := range clusters {
		wg.Go(func() {
			c, err := Start(t.Context(), Options{})
			if err != nil {
				t.Error(err)
			}
			clusters[i] = c
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}

	first, second := kubernetes.NewForConfigOrDie(clusters[0].Config()), kubernetes.NewForConfigOrDie(clusters[1].Config())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "only-in-the-first"}}
	_, err := first.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = second.CoreV1().Namespaces().Get(t.Context(), namespace.Name, metav1.GetOptions{})
	g.Expect(err).To(MatchError(apierrors.IsNotFound, "is not found"))

	for _, c := range clusters {
		ids := pids(c)
		g.Expect(c.Stop()).To(Succeed())
		expectGone(t, c.Dir(), ids)
		g.Expect(c.Stop()).To(Succeed(), "a second Stop does nothing")
	}
}

func TestClusterEndsWithItsOwner(t *testing.T) {
	for name, end := range map[string]syscall.Signal{
		"interrupted": syscall.SIGINT,
		"terminated":  syscall.SIGTERM,
		"killed":      syscall.SIGKILL,
		"panicking":   0,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mode := "wait"
			if end == 0 {
				mode = "panic"
			}
			owner, dir, ids := startOwner(t, mode)
			if end != 0 {
				if err := owner.Process.Signal(end); err != nil {
					t.Fatal(err)
				}
			}
			expectGone(t, dir, ids)
		})
	}
}

func TestFailedStartLeavesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		options Options
		timeout time.Duration
		want    []string
	}{
		"a flag that kube-apiserver doesn't know": {
			options: Options{APIServerArgs: []string{"--no-such-flag"}},
			timeout: patience,
			want:    []string{"kube-apiserver ended by itself", "unknown flag: --no-such-flag"},
		},
		"an audit policy that can't be read": {
			options: Options{AuditPolicy: "kind: Nonsense"},
			timeout: patience,
			want:    []string{"kube-apiserver ended by itself", "audit policy"},
		},
		"too little time": {
			timeout: 100 * time.Millisecond,
			want:    []string{"wait for kube-apiserver to become ready", "deadline", "last lines of etcd"},
		},
		"no such CRDs": {
			options: Options{CRDs: []string{"testdata/no-such-folder"}},
			timeout: patience,
			want:    []string{"install the CustomResourceDefinitions", "no-such-folder"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
			defer cancel()

			c, err := Start(ctx, tc.options)
			g.Expect(c).To(BeNil())
			for _, part := range tc.want {
				g.Expect(err).To(MatchError(ContainSubstring(part)))
			}
			g.Expect(os.ReadDir(temp)).To(BeEmpty())
		})
	}
}

func TestGivenFolderIsKept(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "state")
	for range 2 { // the second finds the files of the first
		c := start(t, Options{Dir: dir})
		events, err := c.Audit().All(WithVerb("create"), OnResource("configmaps"), InNamespace("default"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(events).To(BeEmpty(), "the log of the first cluster is gone")
		_, err = c.Kubectl(t.Context(), "create", "configmap", "example", "--namespace=default")
		g.Expect(err).NotTo(HaveOccurred(), "the data of the first cluster is gone")
		g.Expect(c.Stop()).To(Succeed())
	}
	log, err := os.ReadFile(filepath.Join(dir, "logs", "kube-apiserver.log"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log).NotTo(BeEmpty())
}

func TestComponentThatEndsEarlyIsReported(t *testing.T) {
	g := NewWithT(t)
	c, err := Start(t.Context(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	etcd := c.component("etcd")
	g.Expect(syscall.Kill(etcd.Pid(), syscall.SIGKILL)).To(Succeed())
	g.Eventually(etcd.Done()).Should(BeClosed())

	ids := pids(c)
	g.Expect(c.Stop()).To(MatchError(ContainSubstring("etcd ended by itself (signal: killed)")))
	expectGone(t, c.Dir(), ids)
}

func TestStartedProcess(t *testing.T) {
	c := start(t, Options{})

	t.Run("is logged and copied", func(t *testing.T) {
		g := NewWithT(t)
		var output strings.Builder
		p, err := c.StartProcess(ProcessOptions{Name: "echo", Path: "/bin/sh", Args: []string{"-c", "echo $GREETING; exit 3"}, Env: []string{"GREETING=hello"}, Output: &output})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(p.Err()).To(MatchError("exit status 3"))
		g.Expect(output.String()).To(Equal("hello\n"))
		g.Expect(os.ReadFile(p.Log())).To(BeEquivalentTo("hello\n"))
		g.Expect(p.Stop()).To(MatchError(ContainSubstring("exit status 3")), "stopping what has ended tells how it did")
		g.Expect(c.failure()).To(Succeed(), "a program of the user's isn't a component")
	})

	t.Run("ends when asked to", func(t *testing.T) {
		g := NewWithT(t)
		p, err := c.StartProcess(ProcessOptions{Name: "wait", Path: "/bin/sh", Args: []string{"-c", "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"}})
		g.Expect(err).NotTo(HaveOccurred())
		log := func() (string, error) {
			content, err := os.ReadFile(p.Log())
			return string(content), err
		}
		g.Eventually(log).Should(Equal("ready\n"))
		g.Expect(p.Done()).NotTo(BeClosed())
		g.Expect(p.Stop()).To(Succeed())
		g.Expect(log()).To(Equal("ready\nbye\n"))
	})

	t.Run("ends with the cluster", func(t *testing.T) {
		g := NewWithT(t)
		p, err := c.StartProcess(ProcessOptions{Name: "forever", Path: "/bin/sh", Args: []string{"-c", "while :; do sleep 0.05; done"}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.Stop()).To(Succeed())
		g.Expect(p.Done()).To(BeClosed())
		_, err = c.StartProcess(ProcessOptions{Name: "late", Path: "/bin/true"})
		g.Expect(err).To(MatchError(ContainSubstring("the cluster is stopped")))
	})
}

func TestReservedPort(t *testing.T) {
	g := NewWithT(t)
	first, err := reservePort()
	g.Expect(err).NotTo(HaveOccurred())
	second, err := reservePort()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second.number).NotTo(Equal(first.number))
	_, err = net.Listen("tcp", first.address())
	g.Expect(err).To(MatchError(syscall.EADDRINUSE), "nobody else gets it")
	_, err = net.Dial("tcp", first.address())
	g.Expect(err).To(MatchError(syscall.ECONNREFUSED), "nobody serves on it yet")
	g.Expect(first.release()).To(Succeed())
	g.Expect(second.release()).To(Succeed())
}
