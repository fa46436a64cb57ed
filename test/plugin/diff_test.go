package plugin

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/test/cluster"
)

const handedOver = `.spec.replicas keeps its value, held by "application-operator-handover" until somebody else writes it: 2`

var _ = Describe("diff", func() {
	diffFile := func(ctx context.Context, spec string, args ...string) result {
		GinkgoHelper()
		return pluginWithInput(ctx, manifest(spec), append([]string{"diff", "--filename=-", "--field-manager=author"}, args...)...)
	}

	AfterEach(func() {
		Expect(realWrites(begin, cluster.Except(cluster.OnResource("events")))).To(BeEmpty(), "a diff changes nothing")
	})

	It("ends with 0 and says nothing if nothing would change", func(ctx SpecContext) {
		given(ctx, ourSpec)
		for _, r := range []result{plugin(ctx, "diff", "web"), diffFile(ctx, ourSpec)} {
			Expect(r).To(Equal(result{}))
		}
	})

	// What a diff foretells is what happens: after it, the same diff is empty, and each line that was to come is there.
	DescribeTable("foretells", func(ctx SpecContext, before, after string, foretold ...string) {
		given(ctx, before)
		r := diffFile(ctx, after)
		Expect(r.code).To(Equal(1), r.stderr)
		for _, text := range foretold {
			if absent, found := strings.CutPrefix(text, "not: "); found {
				Expect(r.stdout).NotTo(ContainSubstring(absent))
				continue
			}
			Expect(r.stdout).To(ContainSubstring(text))
		}
		given(ctx, after)
		Eventually(ctx, func(ctx context.Context) result { return diffFile(ctx, after) }).Should(Equal(result{}))
		is := kubectl(ctx, "", "get", "deployment,service", "--output=yaml", "--namespace="+namespace).stdout
		for line := range strings.Lines(r.stdout) {
			if added, found := strings.CutPrefix(line, "+ "); found {
				Expect(is).To(ContainSubstring(strings.TrimSpace(added)))
			}
		}
	},
		Entry("another image", ourSpec, strings.Replace(ourSpec, "web:ours", "web:next", 1),
			"deployment/web in namespace ", " would be changed\n", "\n-        image: registry.example/web:ours\n+        image: registry.example/web:next\n", "not: given up", "not: service/web", "not: resourceVersion"),
		Entry("a new Service", ourSpec, strings.Replace(ourSpec, "}]}", "}], port: 80, expose: NodePort}", 1),
			"# service/web in namespace ", " would be created\n", "\n@@ -0,0 +1,", "\n+  type: NodePort\n", "not: clusterIP", "not: nodePort"),
		Entry("a Service that goes", "{image: 'registry.example/web:1', port: 80, expose: ClusterIP}", "{image: 'registry.example/web:1', port: 80}",
			"# service/web in namespace ", " would be deleted\n", "\n-  type: ClusterIP\n", "not: deployment/web"),
		Entry("replicas that are handed over", ourSpec, strings.Replace(ourSpec, "replicas: 2, ", "", 1), "given up: "+handedOver, "not: replicas: 1"),
		Entry("a variable that goes", ourSpec, "{image: 'registry.example/web:ours', replicas: 2, env: [{name: FIRST, value: x}]}",
			`given up: `+modeField+" is removed\n", "\n-        - name: MODE\n"),
		Entry("a default that excludes what is wanted", ourSpec, strings.Replace(ourSpec, "replicas: 2", "replicas: 3, deployment: {spec: {strategy: {type: Recreate}}}", 1),
			"\n-  replicas: 2\n+  replicas: 3\n", "\n-    rollingUpdate:\n", "\n+    type: Recreate\n"),
		Entry("a default that comes back", strings.Replace(ourSpec, "replicas", "imagePullPolicy: Never, replicas", 1), ourSpec,
			`imagePullPolicy falls back to the API server's default: "IfNotPresent"`, "\n-        imagePullPolicy: Never\n+        imagePullPolicy: IfNotPresent\n"),
	)

	It("foretells the way back from a hand-over", func(ctx SpecContext) {
		given(ctx, ourSpec)
		given(ctx, strings.Replace(ourSpec, "replicas: 2, ", "", 1))
		r := diffFile(ctx, strings.Replace(ourSpec, "replicas: 2", "replicas: 4", 1))
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stdout).To(ContainSubstring("\n-  replicas: 2\n+  replicas: 4\n"))
	})

	It("foretells how what nobody owns gives way to what excludes it", func(ctx SpecContext) {
		given(ctx, "{image: 'registry.example/web:1', port: 8080}")
		edit(ctx, "gone", theDeployment(ctx), `{spec: {template: {spec: {containers: [{name: app,
 env: [{name: MODE, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], livenessProbe: {exec: {command: ["true"]}}}]}}}}`)
		// The Deployment controller may be writing, too.
		Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			deployment := theDeployment(ctx)
			deployment.ManagedFields = slices.DeleteFunc(deployment.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "gone" })
			return env.Client.Update(ctx, deployment)
		})).To(Succeed())

		const after = "{image: 'registry.example/web:1', port: 8080, env: [{name: MODE, value: next}], livenessProbe: {tcpSocket: {port: app}}}"
		r := diffFile(ctx, after)
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stdout).To(And(ContainSubstring("\n-          valueFrom:\n"), ContainSubstring("\n+          value: next\n"),
			ContainSubstring("\n-          exec:\n"), ContainSubstring("\n+          tcpSocket:\n")))
		given(ctx, after)
		Expect(diffFile(ctx, after)).To(Equal(result{}))
		Expect(theContainer(ctx).Env).To(HaveExactElements(HaveField("ValueFrom", BeNil())))
	})

	It("foretells all of an Application that is yet to be created", func(ctx SpecContext) {
		r := diffFile(ctx, "{image: 'registry.example/web:1', port: 80, expose: ClusterIP}")
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stdout).To(And(ContainSubstring("# deployment/web in namespace "+namespace+" would be created\n"),
			ContainSubstring("# service/web in namespace "+namespace+" would be created\n"), Not(ContainSubstring("uid:"))))
	})

	It("says under Abort that the child is left as it is, and why", func(ctx SpecContext) {
		scaled.begun(ctx, ourSpec)
		const applied = ", once the file is applied"
		for when, r := range map[string]result{
			"":      plugin(ctx, "diff", "web"),
			applied: diffFile(ctx, strings.Replace(ourSpec, "web:ours", "web:next", 1), "--server-side"),
		} {
			Expect(r.code).To(Equal(1), r.stderr)
			how := ""
			if when == applied {
				how = "# Application web in namespace " + namespace + " as \"kubectl apply --server-side\" would leave it\n"
			}
			Expect(r.stdout).To(Equal(how + "# deployment/web in namespace " + namespace + " would be left as it is, because fields of it are contested, under conflictPolicy Abort\n" +
				"#   contested: .spec.replicas is 5, wanted 2, owned by \"kubectl\" (Update, subresource scale)\n" +
				"#   what would end that" + when + ": kubectl application conflicts web --namespace=" + namespace + "\n"))
		}
	})

	It("shows under Yield what is applied, and what is left to others", func(ctx SpecContext) {
		scaled.begun(ctx, ourSpec)
		r := diffFile(ctx, strings.Replace(ourSpec, "replicas: 2", "replicas: 3, imagePullPolicy: Always, conflictPolicy: Yield", 1))
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stdout).To(And(ContainSubstring("# deployment/web in namespace "+namespace+" would be changed\n"),
			ContainSubstring(`#   contested: .spec.replicas is 5, wanted 3, owned by "kubectl" (Update, subresource scale), and is left to that, under conflictPolicy Yield`),
			ContainSubstring("\n+        imagePullPolicy: Always\n"), Not(ContainSubstring("\n-  replicas"))))
	})

	It("knows what kubectl apply does without --server-side", func(ctx SpecContext) {
		const spec = "{image: 'registry.example/web:1', port: 80, expose: ClusterIP}"
		Expect(kubectl(ctx, manifest(spec), "apply", "--filename=-").code).To(BeZero())
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		const without = "{image: 'registry.example/web:1', port: 80}"
		r := pluginWithInput(ctx, manifest(without), "diff", "--filename=-")
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stderr).To(BeEmpty())
		Expect(r.stdout).To(HavePrefix("# Application web in namespace " + namespace + " as \"kubectl apply\" would leave it, by which it has been written so far; " +
			"choose with --server-side or --server-side=false\n"))
		Expect(r.stdout).To(ContainSubstring("service/web in namespace " + namespace + " would be deleted"))

		By("choosing the other way, by which the file says nothing of what another manager has applied")
		Expect(pluginWithInput(ctx, manifest(without), "diff", "--filename=-", "--server-side")).To(Equal(result{}))
	})

	It("foretells kubectl apply without --server-side of what has been applied with it, if told to", func(ctx SpecContext) {
		given(ctx, ourSpec)
		without := strings.Replace(ourSpec, "replicas: 2, ", "", 1)
		Expect(diffFile(ctx, without).stdout).To(HavePrefix("# Application web in namespace " + namespace + ` as "kubectl apply --server-side" would leave it, by which`))
		Expect(diffFile(ctx, without, "--server-side=false")).To(Equal(result{}), "nothing was applied so, and so nothing is removed")
		r := plugin(ctx, "diff", "web", "--server-side")
		Expect(r.code).To(Equal(2))
		Expect(r.stderr).To(ContainSubstring("--server-side is about how a file is applied: name one with --filename"))
	})

	It("warns of a conflict about the Application itself, and shows what would come of the file", func(ctx SpecContext) {
		given(ctx, ourSpec)
		r := pluginWithInput(ctx, manifest(strings.Replace(ourSpec, "web:ours", "web:next", 1)), "diff", "--filename=-", "--field-manager=somebody")
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stderr).To(And(ContainSubstring("would conflict"), ContainSubstring(`.spec.image by "author" (Apply)`)))
		Expect(r.stdout).To(ContainSubstring("\n+        image: registry.example/web:next\n"))
	})

	It("says that a paused Application does nothing yet", func(ctx SpecContext) {
		given(ctx, ourSpec)
		write(ctx, strings.Replace(ourSpec, "replicas: 2", "replicas: 3, paused: true", 1))
		r := plugin(ctx, "diff", "web")
		Expect(r.code).To(Equal(1))
		Expect(r.stderr).To(ContainSubstring("is paused: what is shown happens once spec.paused is false"))
		Expect(r.stdout).To(ContainSubstring("\n+  replicas: 3\n"))
	})

	It("says that an object of another owner is left alone", func(ctx SpecContext) {
		Expect(kubectl(ctx, "", "create", "deployment", "web", "--image=other", "--namespace="+namespace).code).To(BeZero())
		r := diffFile(ctx, ourSpec)
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stdout).To(ContainSubstring("would be left as it is, because it does not belong to this Application, so the operator leaves it alone: delete it, or give the Application another name. " +
			`It cannot be adopted: its selector is "app=web" where the Application's is "app=web,owner=application-operator"`))
	})

	It("hides values of variables when told to, and yet tells that they differ", func(ctx SpecContext) {
		given(ctx, ourSpec)
		r := diffFile(ctx, strings.Replace(ourSpec, "it's ours", "it's next", 1), "--redact")
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stdout).To(And(ContainSubstring("\n-          value: '*** (before)'\n+          value: '*** (after)'\n"),
			Not(ContainSubstring("it's"))))
	})

	It("lets a program of the user's own show the difference, as kubectl diff does", func(ctx SpecContext) {
		given(ctx, ourSpec)
		path := filepath.Join(GinkgoT().TempDir(), "differ")
		Expect(os.WriteFile(path, []byte("#!/bin/sh\nhead -n 1 \"$1\"/* \"$2\"/*\nexit 1\n"), 0o700)).To(Succeed())
		GinkgoT().Setenv("KUBECTL_EXTERNAL_DIFF", path)
		r := diffFile(ctx, strings.Replace(ourSpec, "replicas: 2", "replicas: 3", 1))
		Expect(r.code).To(Equal(1), r.stderr)
		Expect(r.stdout).To(And(ContainSubstring("LIVE/deployment.web.yaml"), ContainSubstring("APPLIED/deployment.web.yaml")))
	})

	DescribeTable("ends with 2 and the reason", func(ctx SpecContext, message, spec string, args ...string) {
		given(ctx, ourSpec)
		r := diffFile(ctx, spec, args...)
		Expect(r.code).To(Equal(2))
		Expect(r.stdout).To(BeEmpty())
		Expect(r.stderr).To(ContainSubstring(message))
	},
		Entry("for a field that is none", `unknown field "spec.imagee"`, "{imagee: x}"),
		Entry("for a value that the API server refuses", "spec.image must not begin or end with white space", "{image: ' x'}"),
		Entry("without the right to ask", "you may not get applications.application.mycompany.io", ourSpec, "--as=stranger"),
		Entry("for an Application and a file at once", "name either an Application or, with --filename, a file", ourSpec, "web"),
	)

	It("names the right to patch that a dry run takes", func(ctx SpecContext) {
		given(ctx, ourSpec)
		write(ctx, strings.Replace(ourSpec, "replicas: 2", "replicas: 3, paused: true", 1))
		grant(ctx, "reader", "get")
		r := plugin(ctx, "diff", "web", "--as=reader")
		Expect(r.code).To(Equal(2))
		Expect(r.stderr).To(ContainSubstring(`you may not patch deployments.apps in namespace "` + namespace + `"`))
	})
})

var _ = Describe("render", func() {
	It("prints what the operator applies: to apply it again under its name changes nothing", func(ctx SpecContext) {
		given(ctx, strings.Replace(ourSpec, "}]}", "}], port: 80, expose: ClusterIP}", 1))
		// Both stay what they are, to the time of the last apply. What others do to them meanwhile does not count.
		claim := func(object client.Object) []any {
			owned := slices.DeleteFunc(entries(object), func(e ownership.Entry) bool { return e.Manager != operator })
			Expect(owned).To(HaveLen(1))
			return []any{object.GetGeneration(), owned[0].Time, owned[0].Fields.String()}
		}
		before := [][]any{claim(theDeployment(ctx)), claim(theService(ctx))}
		live := kubectl(ctx, "", "get", "applications.application.mycompany.io", "web", "--output=yaml", "--namespace="+namespace).stdout
		rendered := pluginWithInput(ctx, live, "render", "--filename=-")
		Expect(rendered.code).To(BeZero(), rendered.stderr)
		applied := kubectl(ctx, rendered.stdout, "apply", "--server-side", "--field-manager=application-operator", "--filename=-")
		Expect(applied.code).To(BeZero(), applied.stderr)
		Expect([][]any{claim(theDeployment(ctx)), claim(theService(ctx))}).To(Equal(before))
	})

	It("needs no cluster, and prints what kubectl accepts all the same", func(ctx SpecContext) {
		rendered := kubectl(ctx, manifest("{image: 'registry.example/web:1', port: 80, expose: NodePort}"),
			"application", "render", "--filename=-", "--kubeconfig=/dev/null")
		Expect(rendered.code).To(BeZero(), rendered.stderr)
		Expect(rendered.stdout).NotTo(ContainSubstring("\n  ownerReferences:"))
		applied := kubectl(ctx, rendered.stdout, "apply", "--server-side", "--field-manager=application-operator", "--dry-run=server", "--filename=-")
		Expect(applied.code).To(BeZero(), applied.stderr)
		Expect(applied.stdout).To(ContainSubstring("deployment.apps/web serverside-applied (server dry run)\nservice/web serverside-applied (server dry run)\n"))
	})
})
