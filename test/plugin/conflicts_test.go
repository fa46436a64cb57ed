package plugin

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	imageField = `.spec.template.spec.containers[name="app"].image`
	modeField  = `.spec.template.spec.containers[name="app"].env[name="MODE"].value`
	ourSpec    = `{image: "registry.example/web:ours", replicas: 2, env: [{name: FIRST, value: x}, {name: MODE, value: it's ours}]}`
)

// A quarrel is how a field comes to be contested, and what it is then.
type quarrel struct {
	begin        func(ctx context.Context)
	field, owner string
	wanted, live any
}

var (
	scaled = quarrel{
		begin: func(ctx context.Context) {
			kubectl(ctx, "", "scale", "deployment/web", "--replicas=5", "--namespace="+namespace)
		},
		field: ".spec.replicas", owner: "kubectl Update scale", wanted: 2.0, live: 5.0,
	}
	imageSet = quarrel{
		begin: func(ctx context.Context) {
			kubectl(ctx, "", "set", "image", "deployment/web", "app=registry.example/web:theirs", "--namespace="+namespace)
		},
		field: imageField, owner: "kubectl-set Update ", wanted: "registry.example/web:ours", live: "registry.example/web:theirs",
	}
	edited = quarrel{
		begin: func(ctx context.Context) {
			edit(ctx, "kubectl-edit", theDeployment(ctx), `{spec: {template: {spec: {containers: [{name: app, env: [{name: MODE, value: 'it''s "theirs"'}]}]}}}}`)
		},
		field: modeField, owner: "kubectl-edit Update ", wanted: "it's ours", live: `it's "theirs"`,
	}
	helmed = quarrel{
		begin: func(ctx context.Context) {
			Expect(env.ApplyYAML(ctx, "helm", namespace, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
 spec: {replicas: 7, template: {spec: {containers: [{name: app, imagePullPolicy: Always}]}}}}`, client.ForceOwnership)).To(Succeed())
		},
		field: ".spec.replicas", owner: "helm Apply ", wanted: 2.0, live: 7.0,
	}
)

// begun makes an Application and lets somebody contest one field of its Deployment.
func (q quarrel) begun(ctx context.Context, spec string) {
	GinkgoHelper()
	given(ctx, spec)
	q.begin(ctx)
	contested(ctx)
}

var _ = Describe("conflicts", func() {
	It("says that nothing is contested, and ends with 0", func(ctx SpecContext) {
		given(ctx, ourSpec)
		Expect(listConflicts(ctx)).To(BeEmpty())
		r := plugin(ctx, "conflicts", "web")
		Expect(r.code).To(BeZero())
		Expect(r.stdout).To(BeEmpty())
		Expect(r.stderr).To(Equal("Nothing is contested.\n"))
	})

	It("says that there is nothing that could be contested", func(ctx SpecContext) {
		r := plugin(ctx, "conflicts")
		Expect(r.code).To(BeZero())
		Expect(r.stderr).To(Equal("No Applications found in " + namespace + " namespace.\n"))
	})

	DescribeTable("tells what is contested, by whom, and what would end it, so that nothing else has to be known:",
		func(ctx SpecContext, q quarrel, way, outcome string) {
			q.begun(ctx, ourSpec)
			found := listConflicts(ctx, "web")
			Expect(found).To(HaveLen(1))
			c := found[0]
			Expect(c.Kind + "/" + c.Name).To(Equal("Deployment/web"))
			Expect(c.Field).To(Equal(q.field))
			Expect(c.Wanted).To(Equal(q.wanted))
			Expect(c.Live).To(Equal(q.live))
			Expect(c.Owners).To(HaveLen(1))
			Expect(fmt.Sprintf("%s %s %s", c.Owners[0].Manager, c.Owners[0].Operation, c.Owners[0].Subresource)).To(Equal(q.owner))

			By("pasting what it prints for one way, and nothing else")
			chosen := theWay(c.Resolutions, way)
			Expect(chosen.Outcome).To(Equal(outcome))
			Expect(chosen.Commands).NotTo(BeEmpty())
			for _, command := range chosen.Commands {
				Expect(paste(ctx, command).code).To(BeZero(), command)
			}

			Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
			Expect(listConflicts(ctx, "web")).To(BeEmpty())
			value := map[string]any{"KeepLive": q.live, "GetWanted": q.wanted}[outcome]
			Eventually(ctx, liveValue).WithArguments(q.field).Should(BeEquivalentTo(value))
			Expect(theApplication(ctx).Status.Conflicts).To(BeEmpty())
		},
		Entry("kubectl scale, wanted as it is", scaled, "Let the Application want the live value", "KeepLive"),
		Entry("kubectl scale, left to its owner", scaled, "Let the Application want nothing there", "KeepLive"),
		Entry("kubectl scale, taken", scaled, "Take the field", "GetWanted"),
		Entry("kubectl scale, scaled back", scaled, "Write the wanted value", "GetWanted"),
		Entry("kubectl set image, wanted as it is", imageSet, "Let the Application want the live value", "KeepLive"),
		Entry("kubectl set image, taken", imageSet, "Take the field", "GetWanted"),
		Entry("kubectl set image, set back", imageSet, "Write the wanted value", "GetWanted"),
		Entry("kubectl edit, wanted as it is", edited, "Let the Application want the live value", "KeepLive"),
		Entry("kubectl edit, left to its owner", edited, "Let the Application want nothing there", "KeepLive"),
		Entry("kubectl edit, taken", edited, "Take the field", "GetWanted"),
		Entry("kubectl edit, written back", edited, "Write the wanted value", "GetWanted"),
		Entry("helm, wanted as it is", helmed, "Let the Application want the live value", "KeepLive"),
		Entry("helm, left to its owner", helmed, "Let the Application want nothing there", "KeepLive"),
		Entry("helm, taken", helmed, "Take the field", "GetWanted"),
	)

	It("prints the same commands for people", func(ctx SpecContext) {
		imageSet.begun(ctx, ourSpec)
		printed := plugin(ctx, "conflicts", "web")
		Expect(printed.code).To(Equal(1))
		for _, r := range listConflicts(ctx, "web")[0].Resolutions {
			for _, command := range r.Commands {
				Expect(printed.stdout).To(ContainSubstring("\n    " + command + "\n"))
			}
		}
		Expect(printed.stdout).To(MatchRegexp(`(?m)^web +deployment/web +\.spec\.template\.spec\.containers\[name="app"\]\.image +registry\.example/web:ours +registry\.example/web:theirs +kubectl-set \(Update\) +\d+s$`))
	})

	It("is right while the operator does not run, and about all namespaces", func(ctx SpecContext) {
		given(ctx, ourSpec)
		Expect(env.StopOperator()).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.StartOperator(ctx)).To(Succeed()) })
		scaled.begin(ctx)
		imageSet.begin(ctx)
		Expect(theApplication(ctx).Status.Conflicts).To(BeEmpty(), "the status is stale")
		Expect(listConflicts(ctx)).To(HaveExactElements(HaveField("Field", scaled.field), HaveField("Field", imageSet.field)))

		r := plugin(ctx, "conflicts", "--all-namespaces", "--output=table")
		Expect(r.code).To(Equal(1))
		Expect(r.stdout).To(MatchRegexp(`(?m)^NAMESPACE +APPLICATION +OBJECT +FIELD +WANTED +LIVE +OWNER +SINCE$`))
		Expect(r.stdout).To(MatchRegexp(`(?m)^` + namespace + ` +web +deployment/web +\.spec\.replicas +2 +5 +kubectl \(Update, scale\) +<unknown>$`))
	})

	It("helps under Yield as well, where all else has been applied", func(ctx SpecContext) {
		scaled.begun(ctx, strings.Replace(ourSpec, "replicas", "conflictPolicy: Yield, replicas", 1))
		Expect(plugin(ctx, "conflicts", "web").stdout).To(ContainSubstring("left as it is, and all else is applied (conflictPolicy Yield)"))
		Expect(paste(ctx, theWay(listConflicts(ctx, "web")[0].Resolutions, "Take the field").Commands[0]).code).To(BeZero())
		Eventually(ctx, liveValue).WithArguments(".spec.replicas").Should(BeEquivalentTo(2))
		Eventually(ctx, func(ctx context.Context) []string { return ownersOf(theDeployment(ctx), ".spec.replicas") }).Should(ConsistOf("application-operator Apply"))
	})

	It("helps where a client has wiped the record of owners, and there is nothing to take", func(ctx SpecContext) {
		given(ctx, ourSpec)
		Expect(env.StopOperator()).To(Succeed())
		imageSet.begin(ctx)
		edit(ctx, "janitor", theDeployment(ctx), `{metadata: {managedFields: [{}]}}`)
		Expect(env.StartOperator(ctx)).To(Succeed())

		c := listConflicts(ctx, "web")
		Expect(c).To(HaveLen(1))
		Expect(c[0].Owners).To(ConsistOf(HaveField("Manager", "before-first-apply")))
		Expect(plugin(ctx, "take", "web", "--field="+imageField, "--yes").code).To(Equal(1))
		Expect(paste(ctx, theWay(c[0].Resolutions, "Write the wanted value").Commands[0]).code).To(BeZero())
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(listConflicts(ctx, "web")).To(BeEmpty())
		Expect(liveValue(ctx, imageField)).To(Equal(imageSet.wanted))
	})

	It("hides values of variables when told to, and every command that holds one", func(ctx SpecContext) {
		edited.begun(ctx, ourSpec)
		for _, format := range []string{"wide", "table", "json", "yaml"} {
			r := plugin(ctx, "conflicts", "web", "--redact", "--output="+format)
			Expect(r.code).To(Equal(1))
			Expect(r.stdout).To(ContainSubstring("***"))
			Expect(r.stdout).NotTo(Or(ContainSubstring("theirs"), ContainSubstring("ours")))
		}
	})

	It("tells of the Application's own status, too, and how to end that", func(ctx SpecContext) {
		given(ctx, ourSpec)
		kubectl(ctx, "", "patch", "applications.application.mycompany.io/web", "--subresource=status", "--type=merge", "--field-manager=liar",
			`--patch={"status":{"message":"all is well","phase":"Failed"}}`, "--namespace="+namespace)
		Eventually(ctx, func(ctx context.Context) []conflict { return listConflicts(ctx, "web") }).Should(HaveLen(2))
		for _, field := range []string{".status.message", ".status.phase"} {
			c := listConflicts(ctx, "web")[0]
			Expect(c.Kind + " " + c.Field).To(Equal("Application " + field))
			Expect(c.Owners).To(ConsistOf(And(HaveField("Manager", "liar"), HaveField("Subresource", "status"))))
			Expect(paste(ctx, c.Resolutions[0].Commands[0]).code).To(BeZero())
			Eventually(ctx, func(ctx context.Context) []conflict { return listConflicts(ctx, "web") }).ShouldNot(ContainElement(HaveField("Field", field)))
		}
		Eventually(ctx, func(ctx context.Context) string { return theApplication(ctx).Status.Message }).ShouldNot(Equal("all is well"))
	})

	It("ends with 2 and what to do if it cannot find out", func(ctx SpecContext) {
		r := plugin(ctx, "conflicts", "nobody")
		Expect(r.code).To(Equal(2))
		Expect(r.stderr).To(And(ContainSubstring(`"nobody" not found`), ContainSubstring("kubectl get applications.application.mycompany.io")))
		Expect(plugin(ctx, "conflicts", "--output=table2").code).To(Equal(2))
		Expect(plugin(ctx, "conflicts", "web", "--all-namespaces").code).To(Equal(2))
		r = plugin(ctx, "conflicts", "--as=stranger")
		Expect(r.code).To(Equal(2))
		Expect(r.stderr).To(ContainSubstring(`you may not list applications.application.mycompany.io in namespace "` + namespace + `"`))
	})
})

// theWay returns the resolution that begins so.
func theWay(resolutions []resolution, begins string) resolution {
	GinkgoHelper()
	for _, r := range resolutions {
		if strings.HasPrefix(r.Description, begins) {
			return r
		}
	}
	Fail(fmt.Sprintf("no way %q among %v", begins, resolutions))
	return resolution{}
}

// liveValue reads one of the fields that quarrels are about.
func liveValue(ctx context.Context, field string) any {
	GinkgoHelper()
	deployment := theDeployment(ctx)
	container := deployment.Spec.Template.Spec.Containers[0]
	switch field {
	case imageField:
		return container.Image
	case modeField:
		for _, variable := range container.Env {
			if variable.Name == "MODE" {
				return variable.Value
			}
		}
		return nil
	default:
		return *deployment.Spec.Replicas
	}
}
