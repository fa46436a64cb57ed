package cluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestMissingBinaries(t *testing.T) {
	g := NewWithT(t)
	t.Chdir(t.TempDir())
	assets := t.TempDir()

	t.Setenv(EnvAssets, assets)
	_, err := Start(t.Context(), Options{})
	g.Expect(err).To(MatchError(And(ContainSubstring("no etcd in "+assets), ContainSubstring("make controlplane"))))

	t.Setenv(EnvAssets, "")
	_, err = Start(t.Context(), Options{})
	g.Expect(err).To(MatchError(And(ContainSubstring(EnvAssets), ContainSubstring("make controlplane"))))
}

func TestBinariesOfOwnAssets(t *testing.T) {
	g := NewWithT(t)
	assets := t.TempDir()
	own := filepath.Join(assets, "etcd")
	g.Expect(os.WriteFile(own, nil, 0o755)).To(Succeed())
	t.Setenv(EnvAssets, assets)

	g.Expect(binary("etcd")).To(Equal(own))
	g.Expect(binary("kwok")).To(HaveSuffix("bin/controlplane/kwok"), "the usual assets hold no kwok")
}

func TestControlPlaneUnderAnotherName(t *testing.T) {
	g := NewWithT(t)
	t.Setenv(EnvAssets, "")
	kubectl, err := binary("kubectl")
	g.Expect(err).NotTo(HaveOccurred())
	link := filepath.Join(t.TempDir(), "kubelet")
	g.Expect(os.Symlink(kubectl, link)).To(Succeed())

	out, err := exec.Command(link).CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	g.Expect(ok).To(BeTrue(), "%v", err)
	g.Expect(exit.ExitCode()).To(Equal(2))
	g.Expect(string(out)).To(And(ContainSubstring(`"kubelet" is not the name of a control plane component`), ContainSubstring("kube-apiserver")))
}
