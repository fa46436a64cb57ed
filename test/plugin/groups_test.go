package plugin

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// theirCRD is what matters of Argo CD's kind of the same name.
const theirCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: applications.argoproj.io}
spec:
  group: argoproj.io
  scope: Namespaced
  names: {kind: Application, listKind: ApplicationList, plural: applications, singular: application, shortNames: [app, apps]}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const theirApplication = `{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web}, spec: {project: theirs}}`

// Serial: while there are two kinds of the name, other specs could meet the wrong one. That none does is what this proves.
var _ = Describe("FR-48: beside another kind called Application", Serial, Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		file := filepath.Join(GinkgoT().TempDir(), "crd.yaml")
		Expect(os.WriteFile(file, []byte(theirCRD), 0o600)).To(Succeed())
		Expect(kubectl(ctx, "", "apply", "--server-side", "--filename="+file).code).To(BeZero())
		DeferCleanup(func(ctx SpecContext) {
			Expect(kubectl(ctx, "", "delete", "crd", "applications.argoproj.io").code).To(BeZero())
		})
		Expect(kubectl(ctx, "", "wait", "--for=condition=Established", "crd/applications.argoproj.io", "--timeout=60s").code).To(BeZero())
	})

	BeforeEach(func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		Eventually(ctx, func(ctx context.Context) error { return env.ApplyYAML(ctx, "argocd", namespace, theirApplication) }).Should(Succeed())
	})

	It("the plugin means ours", func(ctx SpecContext) {
		for _, args := range [][]string{{"web", "--object=application"}, {"application/web"}, {"applications/web"}, {"appl/web"}, {"applications.application.mycompany.io/web"}} {
			list := listOwners(ctx, args...)
			Expect(list.Items).To(HaveLen(1))
			Expect(list.Items[0].APIVersion).To(Equal("application.mycompany.io/v1alpha1"), "%v", args)
			Expect(list.ownersOf("Application")).To(HaveKeyWithValue(".spec.image", ConsistOf("author Apply")))
		}
		Expect(succeeds(ctx, "owners", "web", "--object=application")).To(HavePrefix("# Application.application.mycompany.io web in namespace " + namespace))
		Expect(succeeds(ctx, "tree", "web")).To(MatchRegexp(`(?m)^Application/web +\w+ +\w+, Synced `))
	})

	It("the plugin explains what a bare name means, and finds the other kind by its full name", func(ctx SpecContext) {
		r := plugin(ctx, "owners", "application/web")
		Expect(r.stderr).To(Equal(`note: "application" means applications.application.mycompany.io here. This cluster has other kinds of that name: write applications.argoproj.io/web for those` + "\n"))
		Expect(plugin(ctx, "owners", "applications.application.mycompany.io/web").stderr).To(BeEmpty())

		theirs := listOwners(ctx, "applications.argoproj.io/web")
		Expect(theirs.ownersOf("Application")).To(HaveKeyWithValue(".spec.project", ConsistOf("argocd Apply")))
		Expect(succeeds(ctx, "owners", "app/web")).To(HavePrefix("# Application.argoproj.io web"))
	})

	It("ours claims none of their short names, and a child names its Application's group", func(ctx SpecContext) {
		Expect(kubectl(ctx, "", "get", "crd", "applications.application.mycompany.io", "--output=jsonpath={.spec.names.shortNames}").stdout).To(Equal(`["appl"]`))
		Expect(succeeds(ctx, "owners", "web", "--field=.metadata.ownerReferences")).To(ContainSubstring("apiVersion: application.mycompany.io/v1alpha1"))
	})
})
