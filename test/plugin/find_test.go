package plugin

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("kubectl", func() {
	It("finds the plugin on PATH", func(ctx SpecContext) {
		Expect(kubectl(ctx, "", "plugin", "list", "--name-only").stdout).To(ContainSubstring("kubectl-application\n"))
		Expect(kubectl(ctx, "", "application", "version").stdout).To(HavePrefix("kubectl-application v1.2.3-test "))
	})

	It("completes its command line", func(ctx SpecContext) {
		write(ctx, "{image: registry.example/web:1}")
		Expect(kubectl(ctx, "", "__complete", "application", "ver").stdout).To(HavePrefix("version\t"))
		Expect(kubectl(ctx, "", "__complete", "application", "version", "--namespace", namespace[:8]).stdout).To(ContainSubstring(namespace + "\n"))
	})
})
