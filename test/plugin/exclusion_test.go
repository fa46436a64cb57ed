package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An exclusion is how something comes to stand in the way of a wanted field that itself nobody contests.
type exclusion struct {
	spec  string
	begin func(ctx context.Context)
	// excludes is the wanted field, and wanted what is wanted of it.
	excludes string
	wanted   any
	// is reads what stands there: it tells live from wanted.
	is                   func(ctx context.Context) any
	whenLive, whenWanted any
}

const containerApp = `.spec.template.spec.containers[name="app"]`

var (
	portEdited = exclusion{
		spec: `{image: "registry.example/web:ours", port: 8080, expose: ClusterIP}`,
		begin: func(ctx context.Context) {
			paste(ctx, `KUBE_EDITOR="sed -i -e 's/port: 8080/port: 9090/'" kubectl edit service/web --namespace=`+namespace)
		},
		excludes: `.spec.ports[port=8080,protocol="TCP"]`,
		wanted:   map[string]any{"name": "app", "port": 8080.0, "targetPort": "app"},
		is:       func(ctx context.Context) any { return theService(ctx).Spec.Ports[0].Port },
		whenLive: 9090, whenWanted: 8080,
	}
	containerPortEdited = exclusion{
		spec: `{image: "registry.example/web:ours", port: 8080, expose: ClusterIP}`,
		begin: func(ctx context.Context) {
			paste(ctx, `KUBE_EDITOR="sed -i -e 's/containerPort: 8080/containerPort: 9090/'" kubectl edit deployment/web --namespace=`+namespace)
		},
		excludes: containerApp + `.ports[containerPort=8080,protocol="TCP"]`,
		wanted:   map[string]any{"name": "app", "containerPort": 8080.0},
		is:       func(ctx context.Context) any { return theContainer(ctx).Ports[0].ContainerPort },
		whenLive: 9090, whenWanted: 8080,
	}
	sourceForValue = exclusion{
		spec: ourSpec,
		begin: func(ctx context.Context) {
			edit(ctx, "kubectl-edit", theDeployment(ctx),
				`{spec: {template: {spec: {containers: [{name: app, env: [{name: MODE, value: null, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}}}}`)
		},
		excludes: modeField, wanted: "it's ours",
		is: func(ctx context.Context) any {
			variable := theContainer(ctx).Env[1]
			return []any{variable.Value, variable.ValueFrom != nil}
		},
		whenLive: []any{"", true}, whenWanted: []any{"it's ours", false},
	}
	otherHandler = exclusion{
		spec: `{image: "registry.example/web:ours", livenessProbe: {httpGet: {path: /, port: 8080}}}`,
		begin: func(ctx context.Context) {
			edit(ctx, "kubectl-edit", theDeployment(ctx),
				`{spec: {template: {spec: {containers: [{name: app, livenessProbe: {httpGet: null, exec: {command: ["true"]}}}]}}}}`)
		},
		excludes: containerApp + ".livenessProbe.httpGet", wanted: map[string]any{"path": "/", "port": 8080.0},
		is: func(ctx context.Context) any {
			probe := theContainer(ctx).LivenessProbe
			return []any{probe.Exec != nil, probe.HTTPGet != nil}
		},
		whenLive: []any{true, false}, whenWanted: []any{false, true},
	}
)

// partialPorts has ports that only spec.service has, two of them of one number.
const partialPorts = `{image: "registry.example/web:ours", port: 8080, expose: ClusterIP,
 service: {spec: {ports: [{name: dns, port: 53}, {name: dns-udp, port: 53, protocol: UDP}]}}}`

func portsOf(ctx context.Context) any {
	var ports []string
	for _, port := range theService(ctx).Spec.Ports {
		ports = append(ports, fmt.Sprintf("%s %d %s", port.Name, port.Port, port.Protocol))
	}
	slices.Sort(ports)
	return strings.Join(ports, ", ")
}

// portOfPartialEdited is about one of two ports of one number.
var portOfPartialEdited = exclusion{
	spec: partialPorts,
	begin: func(ctx context.Context) {
		Expect(kubectl(ctx, "", "patch", "service/web", "--namespace="+namespace, "--field-manager=kubectl-edit", "--type=json",
			`--patch=[{"op": "test", "path": "/spec/ports/2/protocol", "value": "UDP"}, {"op": "replace", "path": "/spec/ports/2/port", "value": 5353}]`).code).To(BeZero())
	},
	excludes: `.spec.ports[port=53,protocol="UDP"]`,
	wanted:   map[string]any{"name": "dns-udp", "port": 53.0, "protocol": "UDP"},
	is:       portsOf,
	whenLive: "app 8080 TCP, dns 53 TCP, dns-udp 5353 UDP", whenWanted: "app 8080 TCP, dns 53 TCP, dns-udp 53 UDP",
}

var _ = Describe("What excludes a wanted field", func() {
	DescribeTable("is told with what is wanted there, and each printed way ends the conflict:", func(ctx SpecContext, e exclusion, outcome string, n int) {
		given(ctx, e.spec)
		e.begin(ctx)
		contested(ctx)
		found := listConflicts(ctx, "web")
		Expect(found).To(HaveLen(1))
		Expect(found[0].Excludes).To(Equal(e.excludes))
		Expect(found[0].Wanted).To(Equal(e.wanted))
		Expect(found[0].Owners).To(ConsistOf(HaveField("Manager", "kubectl-edit")))

		By("pasting what it prints for one way, and nothing else")
		var ways []resolution
		for _, r := range found[0].Resolutions {
			if r.Outcome == outcome && len(r.Commands) > 0 {
				ways = append(ways, r)
			}
		}
		Expect(len(ways)).To(BeNumerically(">", n))
		for _, command := range ways[n].Commands {
			Expect(paste(ctx, command).code).To(BeZero(), command)
		}
		Eventually(ctx, synced).Should(Equal(metav1.ConditionTrue))
		Expect(listConflicts(ctx, "web")).To(BeEmpty())
		want := map[string]any{"KeepLive": e.whenLive, "GetWanted": e.whenWanted}[outcome]
		Expect(e.is(ctx)).To(BeEquivalentTo(want))
		Expect(plugin(ctx, "diff", "web")).To(Equal(result{}))
	},
		Entry("a Service's port, kept", portEdited, "KeepLive", 0),
		Entry("a Service's port, replaced", portEdited, "GetWanted", 0),
		Entry("a port of spec.service, kept", portOfPartialEdited, "KeepLive", 0),
		Entry("a port of spec.service, left to its owner", portOfPartialEdited, "KeepLive", 1),
		Entry("a port of spec.service, of which another protocol stays, replaced", portOfPartialEdited, "GetWanted", 0),
		Entry("a container's port, kept", containerPortEdited, "KeepLive", 0),
		Entry("a container's port, replaced", containerPortEdited, "GetWanted", 0),
		Entry("a variable's source, kept", sourceForValue, "KeepLive", 0),
		Entry("a variable's source, left to its owner", sourceForValue, "KeepLive", 1),
		Entry("a variable's source, replaced", sourceForValue, "GetWanted", 0),
		Entry("a probe's handler, kept", otherHandler, "KeepLive", 0),
		Entry("a probe's handler, replaced", otherHandler, "GetWanted", 0),
	)
})

func theContainer(ctx context.Context) corev1.Container {
	GinkgoHelper()
	return theDeployment(ctx).Spec.Template.Spec.Containers[0]
}
