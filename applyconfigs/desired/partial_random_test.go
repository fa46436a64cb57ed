package desired_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// randomPartialDeployment returns an Application and a partial Deployment that fits it. Many of its values are not stored as
// they are written: they are empty, lack defaults, or are quantities in another form.
func randomPartialDeployment(random *rand.Rand) (*v1alpha1.Application, string) {
	p := pieces{random}
	app := application(v1alpha1.ApplicationSpec{Image: "web:1"})
	if p.coin() {
		app.Spec.Replicas = new(int32(2))
	}
	if p.coin() {
		app.Spec.Port = new(int32(8080))
	}
	if p.coin() {
		app.Spec.Env = []corev1.EnvVar{{Name: "GREETING", Value: "hello"}}
	}
	if p.coin() {
		app.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}}
	}

	volumes, mounts := p.volumes()
	main := p.some(
		p.mapping("securityContext", p.some("runAsNonRoot: true", "runAsUser: 0", "capabilities: {drop: [ALL]}", "seccompProfile: {type: RuntimeDefault}")),
		p.mapping("resources", p.mapping("limits", p.some("cpu: 1000m", "memory: 1024Mi", "cpu: 2", "ephemeral-storage: '1e9'"))),
		p.list("env", p.some("{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}",
			"{name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}", "{name: EMPTY, value: ''}", "{name: NONE}",
			"{name: KEY, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}",
			"{name: KEY2, valueFrom: {configMapKeyRef: {key: k, name: c}}}")),
		p.list("envFrom", p.some("{prefix: '', configMapRef: {name: c}}", "{secretRef: {name: s}}")),
		p.list("ports", p.some("{containerPort: 9090, name: metrics}", "{containerPort: 53, protocol: UDP, name: dns}", "{containerPort: 53, name: dns-tcp}")),
		"lifecycle: {preStop: "+p.pick("{sleep: {seconds: 5}}", "{exec: {command: [sleep, '5']}}")+"}",
		"livenessProbe: {"+p.pick("httpGet: {port: 80}", "tcpSocket: {port: web}", "grpc: {port: 9000}", "exec: {command: ['true']}")+", initialDelaySeconds: 0}",
		p.list("volumeMounts", mounts),
		"terminationMessagePolicy: FallbackToLogsOnError", "workingDir: ''", "stdin: false", "imagePullPolicy: "+p.pick("Always", "''"),
		"readinessProbe: {httpGet: {port: 80, path: '', scheme: ''}, periodSeconds: 0, timeoutSeconds: 0}",
	)
	if main != "" {
		main = "{name: app, " + main + "}"
	}
	containers := p.join(main, p.some("{name: proxy, image: envoy, ports: [{containerPort: 15001}]}", "{image: log, name: log, args: [], resources: {}}"))
	pod := p.some(
		p.list("containers", containers),
		p.list("initContainers", p.some("{name: first, image: init}", "{name: mesh, image: mesh, restartPolicy: Always}")),
		p.list("topologySpreadConstraints", p.some("{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}")),
		p.list("tolerations", p.some("{key: a, operator: Exists, effect: ''}", "{key: b, value: c, tolerationSeconds: null}")),
		"nodeSelector: "+p.pick("{}", "{disk: ssd}", "null"), "tolerations: []", "imagePullSecrets: "+p.pick("[]", "[{name: a}, {name: b}]"),
		"affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: host, labelSelector: {matchExpressions: [{key: app, operator: Exists, values: []}]}}}]}}",
		"securityContext: "+p.pick("{}", "{fsGroup: 1000, supplementalGroups: [1], sysctls: []}", "{runAsNonRoot: true}"),
		"dnsConfig: {nameservers: [192.0.2.1], options: [{name: ndots, value: '2'}, {name: edns0, value: null}]}",
		"hostAliases: [{ip: 192.0.2.1, hostnames: [a, b]}]", "terminationGracePeriodSeconds: "+p.pick("6", "30", "60"),
		"serviceAccountName: web", "automountServiceAccountToken: false", "enableServiceLinks: "+p.pick("true", "false"),
		"hostNetwork: false", "shareProcessNamespace: true", "schedulerName: default-scheduler", "dnsPolicy: ''", "restartPolicy: ''",
	)
	if volumes != "" {
		pod = strings.TrimPrefix(pod+", volumes: ["+volumes+"]", ", ")
	}
	spec := p.some(
		"strategy: "+p.pick("{type: null}", "{rollingUpdate: {maxSurge: 1}}", "{type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 0}}", "null", "{}"),
		"minReadySeconds: "+p.pick("0", "5"), "revisionHistoryLimit: "+p.pick("0", "3"), "progressDeadlineSeconds: 60", "paused: "+p.pick("true", "false"),
	)
	if app.Spec.Replicas == nil && p.coin() {
		spec = strings.TrimPrefix(spec+", replicas: "+p.pick("0", "3", "null"), ", ")
	}
	metadata := p.some("annotations: "+p.pick("{}", "{example.com/a: '', b: c}"), "labels: "+p.pick("{team: a}", "null"))
	template := p.join(p.mapping("metadata", p.some("annotations: {a: b}", "labels: {tier: back}")), p.mapping("spec", pod))
	return app, "{" + p.join(p.mapping("metadata", metadata), p.mapping("spec", p.join(spec, p.mapping("template", template)))) + "}"
}

// randomPartialService returns an Application and a partial Service that fits it.
func randomPartialService(random *rand.Rand) (*v1alpha1.Application, string) {
	p := pieces{random}
	app := application(v1alpha1.ApplicationSpec{Image: "web:1", Port: new(int32(8080))})
	app.Spec.Expose = v1alpha1.ExposeType(p.pick("ClusterIP", "NodePort", "LoadBalancer"))
	ports := p.some("{name: metrics, port: 9090}", "{name: dns, port: 53, protocol: UDP}", "{name: dns-tcp, port: 53, targetPort: dns}",
		"{name: udp, port: 8080, protocol: UDP}", "{port: 8080, appProtocol: http}", "{name: zero, port: 9091, targetPort: 0, nodePort: 0}")
	spec := p.some("sessionAffinity: "+p.pick("None", "ClientIP", "''"), "publishNotReadyAddresses: "+p.pick("true", "false"),
		"clusterIP: ''", "clusterIPs: []", "ipFamilies: []", "internalTrafficPolicy: "+p.pick("Local", "Cluster"), "externalIPs: "+p.pick("[]", "[192.0.2.1]"))
	if app.Spec.Expose != v1alpha1.ExposeClusterIP {
		spec = p.join(spec, p.some("externalTrafficPolicy: "+p.pick("Local", "Cluster")))
	}
	if app.Spec.Expose == v1alpha1.ExposeLoadBalancer {
		spec = p.join(spec, p.some("allocateLoadBalancerNodePorts: true", "loadBalancerSourceRanges: "+p.pick("[]", "[192.0.2.0/24]")))
	}
	metadata := p.some("annotations: "+p.pick("{}", "{example.com/scheme: internal}"), "labels: {team: a}")
	return app, "{" + p.join(p.mapping("metadata", metadata), p.mapping("spec", p.join(spec, p.list("ports", ports)))) + "}"
}

// pieces makes YAML in flow style.
type pieces struct{ *rand.Rand }

func (p pieces) coin() bool { return p.IntN(2) == 0 }

func (p pieces) pick(choices ...string) string { return choices[p.IntN(len(choices))] }

// some returns a random choice of the pieces in random order. Of those that begin with the same name it returns one.
func (p pieces) some(all ...string) string {
	p.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var chosen []string
	names := map[string]bool{}
	for _, piece := range all {
		name, _, _ := strings.Cut(piece, ":")
		if strings.HasPrefix(piece, "{") {
			name = piece
		}
		if piece != "" && !names[name] && p.IntN(3) == 0 {
			chosen = append(chosen, piece)
			names[name] = true
		}
	}
	return p.join(chosen...)
}

func (p pieces) join(all ...string) string {
	var some []string
	for _, piece := range all {
		if piece != "" {
			some = append(some, piece)
		}
	}
	return strings.Join(some, ", ")
}

func (p pieces) mapping(name, content string) string {
	if content == "" {
		return ""
	}
	return fmt.Sprintf("%s: {%s}", name, content)
}

func (p pieces) list(name, content string) string {
	if content == "" {
		return ""
	}
	return fmt.Sprintf("%s: [%s]", name, content)
}

// volumes returns some volumes and the mounts of all of them.
func (p pieces) volumes() (volumes, mounts string) {
	sources := []string{
		"emptyDir: {}", "emptyDir: {sizeLimit: 1024Mi, medium: ''}", "configMap: {name: c, items: [{key: a, path: b}]}", "secret: {secretName: s, items: []}",
		"hostPath: {path: /data}", "persistentVolumeClaim: {claimName: data, readOnly: false}", "emptyDir: null",
		"projected: {sources: [{serviceAccountToken: {path: token}}, {downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}, {configMap: {name: c}}]}",
		"downwardAPI: {items: [{path: cpus, resourceFieldRef: {containerName: app, resource: limits.cpu}}]}",
		"ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}",
		"csi: {driver: csi.example.com, readOnly: true, volumeAttributes: {a: b}}",
	}
	p.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
	for i, source := range sources[:p.IntN(4)] {
		volumes = p.join(volumes, fmt.Sprintf("{name: v%d, %s}", i, source))
		mounts = p.join(mounts, fmt.Sprintf("{mountPath: /v%d, name: v%d, subPath: ''}", i, i))
	}
	return volumes, mounts
}
