package plugin

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("kubectl", func() {
	It("finds the plugin on PATH", func(ctx SpecContext) {
		Expect(kubectl(ctx, "", "plugin", "list", "--name-only").stdout).To(ContainSubstring("kubectl-application\n"))
		Expect(kubectl(ctx, "", "application", "version").stdout).To(HavePrefix("kubectl-application v1.2.3-test "))
		Expect(kubectl(ctx, "", "application", "--help").stdout).To(ContainSubstring("\n  kubectl application COMMAND\n"))
		Expect(kubectl(ctx, "", "application", "options").stdout).To(ContainSubstring("--as-group"))
	})

	It("completes the plugin's command line", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 1}")
		completed := func(args ...string) []string {
			GinkgoHelper()
			r := kubectl(ctx, "", append([]string{"__complete", "application"}, args...)...)
			Expect(r.code).To(BeZero(), r.stderr)
			return strings.Split(r.stdout, "\n")
		}
		here := "--namespace=" + namespace
		Expect(completed("own")).To(ContainElement("owners\tShow who owns which field"))
		Expect(completed("owners", here, "w")).To(ContainElement("web"))
		Expect(completed("owners", "web", here, "")).NotTo(ContainElement("web"))
		Expect(completed("tree", here, "")).To(ContainElement("web"))
		Expect(completed("owners", "--namespace", namespace[:8])).To(ContainElement(namespace))
		Expect(completed("owners", "web", here, "--object", "s")).To(ContainElements("service", "status"))
		Expect(completed("owners", "web", here, "--output", "")).To(ContainElements("html", "json", "yaml"))
		Expect(completed("owners", "web", here, "--manager", "app")).To(ContainElement("application-operator"))
		Expect(completed("owners", "web", here, "--field", ".spec.rep")).To(ContainElement(".spec.replicas"))
		Expect(completed("owners", "deployment/web", here, "--field", ".spec.template.spec.containers[name=")).To(ContainElement(`.spec.template.spec.containers[name="app"].image`))
	})
})
