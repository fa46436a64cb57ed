package plugin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/test/cluster"
)

var operator = ownership.Applier(v1alpha1.FieldManager)

var _ = Describe("take", func() {
	take := func(ctx context.Context, args ...string) result {
		GinkgoHelper()
		return plugin(ctx, append([]string{"take", "web"}, args...)...)
	}

	It("takes a count back that was scaled to zero, and has no owner", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:ours, replicas: 3}")
		Expect(kubectl(ctx, "", "scale", "deployment/web", "--replicas=0", "--namespace="+namespace).code).To(BeZero())
		contested(ctx)
		told := plugin(ctx, "conflicts", "web", "--output=wide")
		Expect(told.stdout).To(And(
			ContainSubstring("<nobody> (scaled to zero)"),
			ContainSubstring("Take the field from nobody on record (scaled to zero)"),
			ContainSubstring("scale deployment/web --replicas=3")))

		r := take(ctx, "--field=.spec.replicas", "--yes")
		Expect(r.code).To(BeZero(), r.stderr)
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(theDeployment(ctx).Spec.Replicas).To(HaveValue(BeEquivalentTo(3)))
	})

	It("removes exactly one field from exactly the other managers, and says so in an Event", func(ctx SpecContext) {
		given(ctx, ourSpec)
		// Two managers that agree with each other, one of which owns more.
		for _, manager := range []string{"gitops", "helm"} {
			Expect(env.ApplyYAML(ctx, manager, namespace, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
 spec: {template: {spec: {containers: [{name: app, image: "registry.example/web:theirs", imagePullPolicy: Always}]}}}}`, client.ForceOwnership)).To(Succeed())
		}
		contested(ctx)
		before := entries(theDeployment(ctx))

		r := take(ctx, "--field="+imageField, "--yes")
		Expect(r.code).To(BeZero(), r.stderr)
		Expect(r.stdout).To(And(
			ContainSubstring(`owner: "gitops" (Apply) and "helm" (Apply) -> "application-operator" (Apply), by its next apply`),
			ContainSubstring(`value: "registry.example/web:theirs" -> "registry.example/web:ours", by its next apply`),
			ContainSubstring("Done.")))

		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		deployment := theDeployment(ctx)
		Expect(liveValue(ctx, imageField)).To(Equal("registry.example/web:ours"))
		Expect(deployment.Spec.Template.Spec.Containers[0].ImagePullPolicy).To(BeEquivalentTo("Always"))
		after := entries(deployment)
		image := fieldpath.NewSet(pathOf(imageField))
		for _, manager := range []string{"gitops", "helm"} {
			m := ownership.Applier(manager)
			Expect(after.Fields(m).String()).To(Equal(before.Fields(m).Difference(image).String()))
		}
		Expect(after.Fields(operator).Has(pathOf(imageField))).To(BeTrue())

		Eventually(ctx, eventsOf).WithArguments("FieldTaken").Should(ConsistOf(And(
			HaveField("Note", `admin took, of Deployment web: `+imageField+` from "gitops" (Apply) and "helm" (Apply)`),
			HaveField("Type", "Normal"), HaveField("Action", "Take"),
			HaveField("Regarding.Kind", v1alpha1.Kind), HaveField("Related.FieldPath", imageField))))
	})

	It("has nothing to do for a field that the operator has to itself", func(ctx SpecContext) {
		given(ctx, ourSpec)
		r := take(ctx, "--field=spec.replicas", "--yes") // without the dot, as kubectl explain writes it
		Expect(r.code).To(BeZero(), r.stderr)
		Expect(r.stdout).To(ContainSubstring("Nothing needs to be changed."))
		Expect(realWrites(begin)).To(BeEmpty())
	})

	It("ends a claim on a value that both want, so that the next change of the spec is no conflict", func(ctx SpecContext) {
		scaled.begun(ctx, ourSpec)
		given(ctx, strings.Replace(ourSpec, "replicas: 2", "replicas: 5", 1))
		Expect(take(ctx, "--field=.spec.replicas", "--yes").stdout).To(ContainSubstring("value: 5 (stays)"))
		given(ctx, strings.Replace(ourSpec, "replicas: 2", "replicas: 4", 1))
		Expect(liveValue(ctx, ".spec.replicas")).To(BeEquivalentTo(4))
	})

	DescribeTable("shows what would happen, and lets it be:", func(ctx SpecContext, requests int, input string, args ...string) {
		scaled.begun(ctx, ourSpec)
		r := pluginWithInput(ctx, input, append([]string{"take", "web", "--field=.spec.replicas"}, args...)...)
		Expect(r.stdout).To(And(ContainSubstring("value: 5 -> 2, by its next apply"), Not(ContainSubstring("Done."))))
		Expect(realWrites(begin)).To(BeEmpty())
		Expect(pluginWrites(begin, cluster.OnResource("deployments"))).To(HaveLen(requests))
		Expect(ownersOf(theDeployment(ctx), ".spec.replicas")).To(ConsistOf("kubectl Update scale"))
		Expect(listConflicts(ctx)).To(HaveLen(1))
		if len(args) > 0 {
			Expect(r.code).To(BeZero(), r.stderr)
			return
		}
		Expect(r.code).To(Equal(1))
		Expect(r.stderr).To(ContainSubstring("nothing was changed, since you did not agree; with --yes you are not asked"))
	},
		Entry("a dry run here", 0, "", "--dry-run=client"),
		Entry("a dry run there", 1, "", "--dry-run=server"),
		Entry("no", 0, "n\n"),
		Entry("no answer at all", 0, ""),
	)

	It("makes its patch anew when the object has changed in some other way", func(ctx SpecContext) {
		scaled.begun(ctx, ourSpec)
		asked := ask(ctx, "take", "web", "--field=.spec.replicas")
		kubectl(ctx, "", "annotate", "deployment/web", "note=changed", "--namespace="+namespace)
		Expect(asked.answer("y").code).To(BeZero())
		Eventually(ctx, liveValue).WithArguments(".spec.replicas").Should(BeEquivalentTo(2))
		writes := realWrites(begin, cluster.OnResource("deployments"))
		// The Deployment controller may have changed it as well.
		answers := codes(writes)
		Expect(len(answers)).To(BeNumerically(">=", 2), writes.String())
		Expect(answers[:len(answers)-1]).To(HaveEach(422), writes.String())
		Expect(answers[len(answers)-1]).To(Equal(200), writes.String())
	})

	It("does nothing but explain when what was agreed to is no longer what it would do", func(ctx SpecContext) {
		scaled.begun(ctx, ourSpec)
		asked := ask(ctx, "take", "web", "--field=.spec.replicas")
		kubectl(ctx, "", "scale", "deployment/web", "--replicas=6", "--namespace="+namespace)
		r := asked.answer("y")
		Expect(r.code).To(Equal(1))
		Expect(r.stdout).To(ContainSubstring("value: 6 -> 2"))
		Expect(r.stderr).To(ContainSubstring("has changed meanwhile"))
		Expect(liveValue(ctx, ".spec.replicas")).To(BeEquivalentTo(6))
		Expect(codes(realWrites(begin, cluster.OnResource("deployments")))).To(Equal([]int{422}))
	})

	DescribeTable("refuses what makes no sense, and says what does:", func(ctx SpecContext, message string, args ...string) {
		given(ctx, ourSpec)
		r := take(ctx, append(args, "--yes")...)
		Expect(r.code).To(Equal(1))
		Expect(r.stderr).To(ContainSubstring(message))
		Expect(realWrites(begin)).To(BeEmpty())
	},
		Entry("no field", "no field: name one with --field"),
		Entry("a field of no child", "neither a Deployment nor a Service has such a field", "--field=.spec.nothing"),
		Entry("a field of both", "choose one with --object", "--field=.metadata.labels.app"),
		Entry("a child that is not wanted", "the Application wants no Service", "--field=.spec.clusterIP"),
		Entry("a field that is not wanted", "set .spec.imagePullPolicy of the Application first", `--field=.spec.template.spec.containers[name="app"].imagePullPolicy`),
		Entry("a whole container", "is no single field: name one of", `--field=.spec.template.spec.containers[name="app"]`),
		Entry("a key", "is the key of a list item", `--field=.spec.template.spec.containers[name="app"].name`),
	)

	It("names the right that is missing; without the right to write Events it warns", func(ctx SpecContext) {
		scaled.begun(ctx, ourSpec)
		grant(ctx, "reader", "get")
		r := take(ctx, "--field=.spec.replicas", "--yes", "--as=reader")
		Expect(r.code).To(Equal(1))
		Expect(r.stderr).To(ContainSubstring(`you may not patch deployments.apps in namespace "` + namespace + `"`))

		grant(ctx, "writer", "get", "patch")
		r = take(ctx, "--field=.spec.replicas", "--yes", "--as=writer")
		Expect(r.code).To(BeZero(), r.stderr)
		Expect(r.stderr).To(And(ContainSubstring("Warning: it was done, but no Event says so"), ContainSubstring("you may not create events.events.k8s.io")))
		Eventually(ctx, liveValue).WithArguments(".spec.replicas").Should(BeEquivalentTo(2))
	})

	It("completes fields, contested ones first", func(ctx SpecContext) {
		scaled.begun(ctx, ourSpec)
		// Owned by two and not contested: sorted before the contested field if nothing else counted.
		Expect(env.ApplyYAML(ctx, "gitops", namespace, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: web}}}`)).To(Succeed())
		offered := strings.Split(kubectl(ctx, "", "__complete", "application", "take", "web", "--namespace="+namespace, "--field", "").stdout, "\n")
		Expect(offered[:2]).To(Equal([]string{".spec.replicas", ".metadata.labels.app"}))
		offered = strings.Split(kubectl(ctx, "", "__complete", "application", "release", "web", "--namespace="+namespace, "--to", "").stdout, "\n")
		Expect(offered).To(ContainElements("gitops", "kubectl"))
		Expect(offered).NotTo(ContainElement(v1alpha1.FieldManager))
	})
})

var _ = Describe("release", func() {
	release := func(ctx context.Context, args ...string) result {
		GinkgoHelper()
		return plugin(ctx, append([]string{"release", "web", "--yes"}, args...)...)
	}

	DescribeTable("hands a field to another manager without a change of its value:", func(ctx SpecContext, field string, theirs string) {
		given(ctx, ourSpec)
		value := liveValue(ctx, field)
		r := release(ctx, "--field="+field, "--to=gitops")
		Expect(r.code).To(BeZero(), r.stderr)
		Expect(ownersOf(theDeployment(ctx), field)).To(ConsistOf("application-operator Apply", "gitops Apply"))
		Eventually(ctx, eventsOf).WithArguments("FieldReleased").Should(ConsistOf(HaveField("Note", fmt.Sprintf(`admin released, of Deployment web: %s to "gitops" (Apply)`, field))))

		By("pasting the command that it prints")
		Expect(paste(ctx, lastLine(r.stdout)).code).To(BeZero())
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Eventually(ctx, func(ctx context.Context) []string { return ownersOf(theDeployment(ctx), field) }).Should(ConsistOf("gitops Apply"))
		Expect(liveValue(ctx, field)).To(Equal(value))

		By("letting the new owner use it, unforced")
		Expect(env.ApplyYAML(ctx, "gitops", namespace, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: `+theirs+`}`)).To(Succeed())
		Expect(liveValue(ctx, field)).NotTo(Equal(value))
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(listConflicts(ctx)).To(BeEmpty())
	},
		Entry("replicas", ".spec.replicas", `{replicas: 6}`),
		Entry("a variable", modeField, `{template: {spec: {containers: [{name: app, env: [{name: MODE, value: theirs}]}]}}}`),
	)

	It("hands it to a manager that updates, which may write what it likes from then on", func(ctx SpecContext) {
		given(ctx, ourSpec)
		edit(ctx, "autoscaler", theDeployment(ctx), `{metadata: {annotations: {seen: "yes"}}}`)
		r := release(ctx, "--field=.spec.replicas", "--to=autoscaler")
		Expect(ownersOf(theDeployment(ctx), ".spec.replicas")).To(ConsistOf("application-operator Apply", "autoscaler Update"))
		Expect(paste(ctx, lastLine(r.stdout)).code).To(BeZero())
		Eventually(ctx, func(ctx context.Context) []string { return ownersOf(theDeployment(ctx), ".spec.replicas") }).Should(ConsistOf("autoscaler Update"))
		edit(ctx, "autoscaler", theDeployment(ctx), `{spec: {replicas: 9}}`)
		Expect(listConflicts(ctx)).To(BeEmpty())
	})

	It("says how far it goes with a field that has to be in the spec", func(ctx SpecContext) {
		given(ctx, ourSpec)
		r := release(ctx, "--field="+imageField, "--to=gitops")
		Expect(r.code).To(BeZero())
		Expect(r.stdout).To(ContainSubstring("it cannot be removed from the Application's spec. Under conflictPolicy Abort another value is a conflict"))
	})

	It("gives up at once what the spec does not want any more", func(ctx SpecContext) {
		given(ctx, ourSpec)
		paused := "{paused: true, image: 'registry.example/web:ours', env: [{name: FIRST, value: x}]}"
		write(ctx, paused)
		Eventually(ctx, synced).Should(Equal(metav1.ConditionFalse))
		Expect(release(ctx, "--field=.spec.replicas", "--field="+modeField).code).To(BeZero())
		Expect(ownersOf(theDeployment(ctx), ".spec.replicas")).To(BeEmpty())

		given(ctx, strings.Replace(paused, "paused: true, ", "", 1))
		Expect(liveValue(ctx, ".spec.replicas")).To(BeEquivalentTo(2))
		Expect(liveValue(ctx, modeField)).To(Equal("it's ours"))
		Expect(entries(theDeployment(ctx)).Fields(operator).Has(pathOf(modeField))).To(BeFalse())
	})

	DescribeTable("refuses what would come to nothing, and says what to do:", func(ctx SpecContext, message string, args ...string) {
		given(ctx, ourSpec)
		r := release(ctx, args...)
		Expect(r.code).To(Equal(1))
		Expect(r.stderr).To(ContainSubstring(message))
		Expect(realWrites(begin)).To(BeEmpty())
	},
		Entry("replicas for nobody", "remove .spec.replicas from the Application, and the operator hands it over", "--field=.spec.replicas"),
		Entry("a variable for nobody", "name who shall have it with --to, and then remove .spec.env[name=\"MODE\"].value from the Application", "--field="+modeField),
		Entry("a field that is not the operator's", "the operator does not own .spec.paused", "--field=.spec.paused", "--to=gitops"),
		Entry("the operator as recipient", "is the operator itself", "--field=.spec.replicas", "--to=application-operator"),
		Entry("an operation that is none", "must be Apply or Update", "--field=.spec.replicas", "--to=gitops", "--to-operation=Force"),
	)
})

// asked is a run of the plugin that waits for an answer.
type asked struct {
	stdin          io.WriteCloser
	stdout, stderr *bytes.Buffer
	wait           func() int
}

// ask runs the plugin until it asks a question.
func ask(ctx context.Context, args ...string) *asked {
	GinkgoHelper()
	command, err := env.KubectlCommand(ctx, append([]string{"application"}, append(args, "--namespace="+namespace)...)...)
	Expect(err).NotTo(HaveOccurred())
	a := &asked{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	prompt := gbytes.NewBuffer()
	command.Stdout, command.Stderr = a.stdout, io.MultiWriter(a.stderr, prompt)
	a.stdin, err = command.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(command.Start()).To(Succeed())
	a.wait = func() int {
		_ = command.Wait() // the code tells
		return command.ProcessState.ExitCode()
	}
	Eventually(ctx, prompt).Should(gbytes.Say(`\[y/N\]`))
	return a
}

func (a *asked) answer(word string) result {
	GinkgoHelper()
	_, err := io.WriteString(a.stdin, word+"\n")
	Expect(err).NotTo(HaveOccurred())
	code := a.wait()
	return result{stdout: a.stdout.String(), stderr: a.stderr.String(), code: code}
}

func entries(object client.Object) ownership.ManagedFields {
	GinkgoHelper()
	managed, err := ownership.Parse(object.GetManagedFields())
	Expect(err).NotTo(HaveOccurred())
	return managed
}

// pathOf reads the path of a field of a Deployment.
func pathOf(field string) fieldpath.Path {
	GinkgoHelper()
	return pathIn(&appsv1.Deployment{}, field)
}

func pathIn(object client.Object, field string) fieldpath.Path {
	GinkgoHelper()
	gvk, err := apiutil.GVKForObject(object, scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())
	path, err := ownership.ParsePath(types, gvk, field)
	Expect(err).NotTo(HaveOccurred())
	return path
}

var types = applyconfigurations.NewTypeConverter(scheme.Scheme)

// ownersOf names the owners of a field of a child.
func ownersOf(child client.Object, field string) []string {
	GinkgoHelper()
	var owners []string
	for _, entry := range entries(child).Owners(pathIn(child, field)) {
		owners = append(owners, strings.TrimSpace(fmt.Sprintf("%s %s %s", entry.Name, entry.Operation, entry.Subresource)))
	}
	return owners
}

// eventsOf returns the Events about the Application that have this reason.
func eventsOf(ctx context.Context, reason string) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	err := env.Client.List(ctx, list, client.InNamespace(namespace))
	var found []eventsv1.Event
	for _, event := range list.Items {
		if event.Reason == reason && event.Regarding.Name == "web" {
			found = append(found, event)
		}
	}
	return found, err
}

// grant lets a user do this with Applications and Deployments of the spec's namespace, and no more.
func grant(ctx context.Context, user string, verbs ...string) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{v1alpha1.Resource}, Verbs: []string{"get"}},
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: verbs},
		},
	})).To(Succeed())
	Expect(env.Client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})).To(Succeed())
	// The API server's authorizer learns of it by a watch.
	Eventually(ctx, func(ctx context.Context) int {
		return kubectl(ctx, "", "auth", "can-i", verbs[len(verbs)-1], "deployments.apps", "--as="+user, "--namespace="+namespace, "--quiet").code
	}).Should(BeZero())
}

func codes(requests cluster.Events) []int {
	var codes []int
	for _, request := range requests {
		codes = append(codes, request.Code())
	}
	return codes
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
