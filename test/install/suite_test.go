// Package install applies what deploy ships to a real API server, as the README says, and proves what it promises there.
package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/test/harness"
)

// patience suits two slow cores that other suites keep busy.
const patience = time.Minute

var (
	env *harness.Environment
	// deploy is the folder with what is shipped.
	deploy = filepath.Join("..", "..", "deploy")
)

func TestInstall(t *testing.T) {
	SetDefaultEventuallyTimeout(patience)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RegisterFailHandler(Fail)
	RunSpecs(t, "Install")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	env, err = harness.Start(ctx, harness.Options{Output: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
})

// install applies a folder of manifests as a person does. A warning of the API server is a failure.
func install(ctx context.Context, folder string, flags ...string) (stdout string) {
	GinkgoHelper()
	cmd, err := env.KubectlCommand(ctx, append([]string{"apply", "--server-side", "--warnings-as-errors", "-k", folder}, flags...)...)
	Expect(err).NotTo(HaveOccurred())
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	Expect(cmd.Run()).To(Succeed(), "%s%s", &out, &errors)
	Expect(errors.String()).To(BeEmpty())
	return out.String()
}

// render returns what kustomize makes of a folder.
func render(ctx context.Context, folder string) string {
	GinkgoHelper()
	manifests, err := env.Kubectl(ctx, "kustomize", folder)
	Expect(err).NotTo(HaveOccurred())
	return manifests
}

// overlay writes an overlay of the default with components, as a user would, and returns its folder. In what else it has,
// DEPLOY stands for the path to what is shipped.
func overlay(rest string, components ...string) string {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	relative := func(parts ...string) string {
		GinkgoHelper()
		// kustomize takes relative paths only.
		target, err := filepath.Abs(filepath.Join(append([]string{deploy}, parts...)...))
		Expect(err).NotTo(HaveOccurred())
		path, err := filepath.Rel(folder, target)
		Expect(err).NotTo(HaveOccurred())
		return path
	}
	var content strings.Builder
	fmt.Fprintf(&content, "%s\nresources: [%s]\ncomponents:\n", strings.ReplaceAll(rest, "DEPLOY", relative()), relative("default"))
	for _, component := range components {
		fmt.Fprintf(&content, "- %s\n", relative("components", component))
	}
	Expect(os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(content.String()), 0o600)).To(Succeed())
	return folder
}

// components are the optional parts that are shipped.
func components() []string {
	GinkgoHelper()
	entries, err := os.ReadDir(filepath.Join(deploy, "components"))
	Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// together are all components that one installation can have. Those that deny are another form of those that warn.
func together() []string {
	GinkgoHelper()
	return slices.DeleteFunc(components(), func(name string) bool {
		return name == "single-namespace" || strings.HasSuffix(name, "-deny")
	})
}
