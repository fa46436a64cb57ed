package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"mycompany.io/application-operator/test/cluster"
)

// patience suits two slow cores that other suites keep busy.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main() // `up` starts its own binary, which is this one
		return
	}
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	os.Exit(m.Run())
}

func newState(t *testing.T) *state {
	t.Helper()
	s := &state{dir: filepath.Join(t.TempDir(), "state")}
	t.Cleanup(func() {
		// t.Context has ended by now.
		if err := down(context.Background(), t.Output(), s); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestUpAndDown(t *testing.T) {
	g := NewWithT(t)
	s := newState(t)
	var out bytes.Buffer

	g.Expect(down(t.Context(), &out, s)).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("No cluster runs"))

	out.Reset()
	g.Expect(up(t.Context(), &out, s)).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("export KUBECONFIG=" + s.kubeconfig()))
	first := answeringServer(t, s)

	out.Reset()
	g.Expect(up(t.Context(), &out, s)).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("runs already"))
	g.Expect(answeringServer(t, s)).To(Equal(first))

	running, err := s.owner()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(syscall.Kill(running.pid, syscall.SIGKILL)).To(Succeed())
	g.Eventually(s.owner).Should(BeNil())
	g.Expect(s.kubeconfig()).To(BeARegularFile(), "the killed owner couldn't remove it")
	g.Expect(up(t.Context(), &out, s)).To(Succeed(), "what is left of a killed cluster is no obstacle")
	answeringServer(t, s)

	out.Reset()
	g.Expect(down(t.Context(), &out, s)).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("is stopped"))
	g.Expect(s.kubeconfig()).NotTo(BeAnExistingFile())
}

func TestTwoUpsAtOnce(t *testing.T) {
	g := NewWithT(t)
	s := newState(t)
	var errs [2]error
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = up(t.Context(), t.Output(), s) })
	}
	wg.Wait()
	g.Expect(errs).To(HaveEach(BeNil()))
	answeringServer(t, s)
}

func TestInterruptedUpLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	s := newState(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_ = waitFor(t.Context(), func() (bool, error) {
			running, err := s.owner()
			return running != nil, err
		})
	}()
	g.Expect(up(ctx, t.Output(), s)).To(MatchError(ContainSubstring("interrupted")))
	g.Expect(s.owner()).To(BeNil())
	g.Expect(s.kubeconfig()).NotTo(BeAnExistingFile())
}

func TestFailedUpTellsWhy(t *testing.T) {
	g := NewWithT(t)
	s := newState(t)
	assets := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(assets, "kube-apiserver"), []byte("#!/bin/sh\necho no luck\nexit 1\n"), 0o755)).To(Succeed())
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	g.Expect(up(t.Context(), t.Output(), s)).To(MatchError(And(ContainSubstring("kube-apiserver ended by itself"), ContainSubstring("no luck"))))
}

func TestRun(t *testing.T) {
	t.Run("ends in order when interrupted", func(t *testing.T) {
		g := NewWithT(t)
		s := newState(t)
		ctx, cancel := context.WithCancel(t.Context())
		out := &output{after: "operator says hello", then: cancel}
		g.Expect(run(ctx, out, s, fakeOperator(t, "trap 'echo goodbye; exit 0' TERM; echo operator says hello; while :; do sleep 0.05; done"))).To(Succeed())
		g.Expect(out.String()).To(And(ContainSubstring("export KUBECONFIG="+s.kubeconfig()), ContainSubstring("goodbye")))
		g.Expect(s.owner()).To(BeNil())
	})

	t.Run("ends with the operator", func(t *testing.T) {
		g := NewWithT(t)
		s := newState(t)
		g.Expect(run(t.Context(), t.Output(), s, fakeOperator(t, "exit 4"))).To(MatchError(ContainSubstring("the operator ended by itself: exit status 4")))
		g.Expect(s.owner()).To(BeNil())
	})

	t.Run("uses the cluster in the background", func(t *testing.T) {
		g := NewWithT(t)
		s := newState(t)
		g.Expect(up(t.Context(), t.Output(), s)).To(Succeed())
		for n := range 2 {
			if n == 1 {
				// As the tour does. It must not keep a second run from starting.
				kubectl(t, s, "patch", "application/web", "--namespace=shop", "--type=merge", `--patch={"spec":{"image":"nginx:1.30"}}`)
			}
			out := &output{}
			g.Expect(run(t.Context(), out, s, fakeOperator(t, "exit 4"))).To(MatchError(ContainSubstring("exit status 4")))
			g.Expect(out.String()).To(And(ContainSubstring("Using the control plane in the background"), ContainSubstring("export KUBECONFIG="+s.kubeconfig())))
		}
		answeringServer(t, s)

		t.Run("unless the user names another one", func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv(cluster.EnvExisting, "true")
			t.Setenv(clientcmd.RecommendedConfigPathEnvVar, "no-such-file")
			g.Expect(run(t.Context(), t.Output(), s, fakeOperator(t, "exit 4"))).To(MatchError(And(ContainSubstring("KUBECONFIG"), ContainSubstring("no-such-file"))))

			t.Setenv(clientcmd.RecommendedConfigPathEnvVar, s.kubeconfig())
			out := &output{}
			g.Expect(run(t.Context(), out, s, fakeOperator(t, "exit 4"))).To(MatchError(ContainSubstring("exit status 4")))
			g.Expect(out.String()).To(ContainSubstring("Using the cluster of your kubeconfig"))
		})
	})

	t.Run("needs a built operator", func(t *testing.T) {
		g := NewWithT(t)
		i := fakeOperator(t, "")
		i.binary = "no-such-binary"
		g.Expect(run(t.Context(), t.Output(), newState(t), i)).To(MatchError("no-such-binary doesn't exist: build it with `make build`"))
	})
}

func TestDemo(t *testing.T) {
	t.Run("fails if nothing happens", func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancel(t.Context())
		// The wait for readiness would take its full time.
		out := &output{after: "--for=condition=Ready", then: cancel}
		g.Expect(demo(ctx, out, fakeOperator(t, "echo doing nothing; while :; do sleep 0.05; done"))).To(MatchError(ContainSubstring("doing nothing")))
	})

	t.Run("fails with the operator", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(demo(t.Context(), t.Output(), fakeOperator(t, "echo sorry; exit 4"))).
			To(MatchError(And(ContainSubstring("the operator ended by itself"), ContainSubstring("sorry"))))
	})
}

func TestShellJoin(t *testing.T) {
	g := NewWithT(t)
	g.Expect(shellJoin([]string{"get", "a/b", "--output=jsonpath={.x}", "it's", ""})).To(Equal(`get a/b --output='jsonpath={.x}' 'it'\''s' ''`))
}

// answeringServer returns the address in the kubeconfig, once it has answered.
func answeringServer(t *testing.T, s *state) string {
	t.Helper()
	g := NewWithT(t)
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
	g.Expect(err).NotTo(HaveOccurred())
	return config.Host
}

func kubectl(t *testing.T, s *state, args ...string) {
	t.Helper()
	path, err := cluster.KubectlPath()
	if err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig="+s.kubeconfig())...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

// fakeOperator is an installation whose operator is a shell script.
func fakeOperator(t *testing.T, script string) *installation {
	t.Helper()
	path := filepath.Join(t.TempDir(), "operator")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &installation{binary: path, deploy: filepath.Join("..", "..", "deploy"), metrics: "0"}
}

// output collects what is written, and reacts to one part of it.
type output struct {
	mu    sync.Mutex
	text  strings.Builder
	after string
	then  func()
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b)
	if o.then != nil && strings.Contains(o.text.String(), o.after) {
		o.then()
		o.then = nil
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
