package plugin

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// ownerList is what "owners --output=json" prints, read by somebody who knows the documentation only.
type ownerList struct {
	Items []struct {
		APIVersion, Kind, Namespace, Name string
		Fields                            []struct {
			Path     string
			Value    any
			Redacted bool
			Owners   []fieldOwner
		}
		Absent   []struct{ Path string }
		Problems []string
	}
}

type fieldOwner struct{ Manager, Operation, Subresource, APIVersion, Time string }

// ownersOf returns the owners of each field as "MANAGER OPERATION[ SUBRESOURCE]", by path.
func (l ownerList) ownersOf(kind string) map[string][]string {
	owners := map[string][]string{}
	for _, item := range l.Items {
		if item.Kind != kind {
			continue
		}
		for _, field := range item.Fields {
			owners[field.Path] = nil
			for _, o := range field.Owners {
				owners[field.Path] = append(owners[field.Path], strings.TrimSpace(o.Manager+" "+o.Operation+" "+o.Subresource))
			}
		}
	}
	return owners
}

func listOwners(ctx context.Context, args ...string) ownerList {
	GinkgoHelper()
	return readOwners(succeeds(ctx, append([]string{"owners", "--output=json"}, args...)...))
}

func readOwners(output string) ownerList {
	GinkgoHelper()
	var list ownerList
	Expect(json.Unmarshal([]byte(output), &list)).To(Succeed(), output)
	return list
}

const (
	byOperator = "application-operator Apply"
	byEnvtool  = "envtool Update"
	byDNS      = "dns Apply"
)

var _ = Describe("owners", func() {
	const app = `.spec.template.spec.containers[name="app"]`

	It("FR-46: names exactly the owners of what is in keyed lists, from the cluster, a file and a pipe", func(ctx SpecContext) {
		given(ctx, `{image: "registry.example/web:1", replicas: 1, port: 53, expose: ClusterIP, args: [serve], env: [{name: A, value: "1"}, {name: C, value: "3"}]}`)
		edit(ctx, "envtool", theDeployment(ctx), `{metadata: {annotations: {example.com/a.b: x}, finalizers: [example.com/hold]},
			spec: {template: {spec: {tolerations: [{key: a, operator: Exists}], containers: [{name: app, env: [{name: B, value: "2"}]}]}}}}`)
		edit(ctx, "envtool", theDeployment(ctx), `{metadata: {finalizers: null}}`)
		// Applied, since a strategic merge takes 53/UDP for 53/TCP.
		Expect(env.ApplyYAML(ctx, "dns", namespace, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
			spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 53, protocol: UDP}]}]}}}}`)).To(Succeed())
		Expect(env.ApplyYAML(ctx, "dns", namespace, `{apiVersion: v1, kind: Service, metadata: {name: web},
			spec: {ports: [{port: 53, protocol: UDP, name: udp, targetPort: 53}]}}`)).To(Succeed())
		// Another value, so that the leaf is this manager's and the item remains the operator's.
		edit(ctx, "envtool", theDeployment(ctx), `{spec: {template: {spec: {containers: [{name: app, env: [{name: C, value: theirs}]}]}}}}`)
		scale(ctx, "hpa", 2)

		fromCluster := listOwners(ctx, "web")
		Expect(fromCluster.ownersOf("Deployment")).To(And(
			HaveKeyWithValue(app+`.env[name="A"]`, ConsistOf(byOperator)),
			HaveKeyWithValue(app+`.env[name="A"].value`, ConsistOf(byOperator)),
			HaveKeyWithValue(app+`.env[name="B"]`, ConsistOf(byEnvtool)),
			HaveKeyWithValue(app+`.env[name="B"].value`, ConsistOf(byEnvtool)),
			HaveKeyWithValue(app+`.env[name="C"]`, ConsistOf(byOperator)),
			HaveKeyWithValue(app+`.env[name="C"].name`, ConsistOf(byOperator)),
			HaveKeyWithValue(app+`.env[name="C"].value`, ConsistOf(byEnvtool)),
			HaveKeyWithValue(app+`.ports[containerPort=53,protocol="TCP"]`, ConsistOf(byOperator)),
			HaveKeyWithValue(app+`.ports[containerPort=53,protocol="UDP"]`, ConsistOf(byDNS)),
			HaveKeyWithValue(app+`.args`, ConsistOf(byOperator)),
			HaveKeyWithValue(`.spec.selector`, ConsistOf(byOperator)),
			HaveKeyWithValue(`.spec.template.spec.tolerations`, ConsistOf(byEnvtool)),
			HaveKeyWithValue(`.metadata.annotations.example.com/a.b`, ConsistOf(byEnvtool)),
			HaveKeyWithValue(`.spec.replicas`, ConsistOf("hpa Update scale")),
			HaveKeyWithValue(`.spec.revisionHistoryLimit`, BeEmpty()),
			HaveKeyWithValue(app+`.imagePullPolicy`, BeEmpty()),
		))
		Expect(fromCluster.ownersOf("Service")).To(And(
			HaveKeyWithValue(`.spec.ports[port=53,protocol="TCP"].targetPort`, ConsistOf(byOperator)),
			HaveKeyWithValue(`.spec.ports[port=53,protocol="UDP"].targetPort`, ConsistOf(byDNS)),
			HaveKeyWithValue(`.spec.selector`, ConsistOf(byOperator)),
			HaveKeyWithValue(`.spec.clusterIP`, BeEmpty()),
		))

		By("reading the same from files and from a pipe")
		for _, format := range []string{"yaml", "json"} {
			saved := kubectl(ctx, "", "get", "deployment/web", "service/web", "--namespace="+namespace, "--show-managed-fields", "--output="+format).stdout
			piped := pluginWithInput(ctx, saved, "owners", "--filename=-", "--output=json")
			Expect(readOwners(piped.stdout).ownersOf("Deployment")).To(Equal(listOwners(ctx, "deployment/web").ownersOf("Deployment")))
			file := filepath.Join(GinkgoT().TempDir(), "saved."+format)
			Expect(os.WriteFile(file, []byte(saved), 0o600)).To(Succeed())
			Expect(listOwners(ctx, "--filename="+file).ownersOf("Service")).To(Equal(fromCluster.ownersOf("Service")))
		}
	})

	It("FR-46: gives the same answer for the Application", func(ctx SpecContext) {
		given(ctx, `{image: "registry.example/web:1", env: [{name: A, value: "1"}], readinessProbe: {grpc: {port: 8080}}}`)
		Expect(env.MergeYAML(ctx, "envtool", theApplication(ctx), `{metadata: {finalizers: [example.com/hold]}, spec: {env: [{name: A, value: "1"}, {name: B, value: "2"}]}}`)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(env.MergeYAML(ctx, "envtool", theApplication(ctx), `{metadata: {finalizers: null}}`)).To(Succeed())
		})

		Expect(listOwners(ctx, "web", "--object=application").ownersOf("Application")).To(And(
			HaveKeyWithValue(`.spec.env[name="A"].value`, ConsistOf("author Apply")),
			HaveKeyWithValue(`.spec.env[name="B"].value`, ConsistOf(byEnvtool)),
			HaveKeyWithValue(`.metadata.finalizers[="example.com/hold"]`, ConsistOf(byEnvtool)),
			HaveKeyWithValue(`.spec.readinessProbe.grpc.service`, BeEmpty()), // a default of the CRD
			HaveKeyWithValue(`.status.phase`, ConsistOf("application-operator-status Apply status")),
		))
		Eventually(func() map[string][]string {
			return listOwners(ctx, "web", "--object=status").ownersOf("Application")
		}).Should(And(
			HaveKeyWithValue(`.status.conditions[type="Synced"].reason`, ConsistOf("application-operator-status Apply status")),
			Not(HaveKey(HavePrefix(".spec"))),
		))
	})

	It("prints YAML that is the object, with the owners beside it", func(ctx SpecContext) {
		given(ctx, `{image: "registry.example/web:1", replicas: 1}`)
		scale(ctx, "hpa", 2)
		contested(ctx)
		output := succeeds(ctx, "owners", "web", "--object=deployment")
		Expect(output).To(MatchRegexp(`(?m)^  replicas: 2 +# hpa \(Update scale\)$`))
		Expect(output).To(MatchRegexp(`(?m)^        image: registry.example/web:1 +# application-operator \(Apply, \d+\w+\)$`))
		Expect(output).To(MatchRegexp(`(?m)^  revisionHistoryLimit: 10 +# nobody$`))
		Expect(output).NotTo(ContainSubstring("\x1b"))
		var printed struct {
			Spec struct{ Replicas int }
		}
		Expect(yaml.Unmarshal([]byte(output), &printed)).To(Succeed())
		Expect(printed.Spec.Replicas).To(Equal(2))

		By("asking for one manager and one field")
		Expect(succeeds(ctx, "owners", "web", "--manager=hpa")).To(HaveSuffix("\nspec:\n  replicas: 2  # hpa (Update scale)\n"))
		Expect(succeeds(ctx, "owners", "web", "--field=.spec.replicas")).To(HaveSuffix("\nspec:\n  replicas: 2  # hpa (Update scale)\n"))

		By("making a page of it, with the conflict on top")
		page := succeeds(ctx, "owners", "web", "--output=html")
		Expect(page).To(ContainSubstring(`<code>.spec.replicas</code> of Deployment web is owned by <strong>hpa</strong> (Update scale)`))
	})

	It("hides values of variables and Secrets", func(ctx SpecContext) {
		given(ctx, `{image: "registry.example/web:1", env: [{name: A, value: "s3cr3t"}]}`)
		Expect(env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pool", Namespace: namespace}, StringData: map[string]string{"password": "s3cr3t"}})).To(Succeed())
		Expect(succeeds(ctx, "owners", "web")).To(ContainSubstring("s3cr3t"))
		for _, hidden := range [][]string{{"web", "--redact"}, {"web", "--output=html"}, {"web", "--object=application", "--redact"}, {"secret/pool", "--redact"}, {"secret/pool", "--output=html"}} {
			output := succeeds(ctx, append([]string{"owners"}, hidden...)...)
			Expect(output).NotTo(Or(ContainSubstring("s3cr3t"), ContainSubstring("czNjcjN0")), "%v", hidden)
		}
	})

	It("says what to do when it cannot answer", func(ctx SpecContext) {
		given(ctx, `{image: "registry.example/web:1"}`)
		for _, test := range []struct {
			args []string
			want string
		}{
			{[]string{"owners", "absent"}, `applications.application.mycompany.io "absent" not found in namespace "` + namespace + `": list what there is with "kubectl get applications.application.mycompany.io --namespace ` + namespace + `"`},
			{[]string{"owners", "web", "--object=service"}, "there is no Service of Application web, because its spec does not set expose"},
			{[]string{"owners", "gizmo/web"}, `this cluster does not serve gizmo: see "kubectl api-resources"`},
			{[]string{"owners", "node/absent"}, `nodes "absent" not found: list what there is with "kubectl get nodes"`},
			{[]string{"owners", "web", "--as=nobody"}, `you may not get applications.application.mycompany.io in namespace "` + namespace + `": ask for a role that allows the verb "get" on the resource "applications" of API group "application.mycompany.io"`},
			{[]string{"owners", "deployment/web", "--as=nobody"}, `you may not get deployments.apps in namespace "` + namespace + `"`},
			{[]string{"owners", "web", "--server=https://127.0.0.1:1"}, "the API server at 127.0.0.1:1 does not answer: check that it runs and that --context chooses the right cluster"},
		} {
			r := plugin(ctx, test.args...)
			Expect(r.code).To(Equal(1))
			Expect(r.stdout).To(BeEmpty())
			Expect(r.stderr).To(HavePrefix("error: " + test.want))
		}
	})
})
