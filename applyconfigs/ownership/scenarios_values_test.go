package ownership_test

// scenariosOfValues are about which fields and values are the same.
var scenariosOfValues = []scenario{
	{
		name:       "nothing-to-do",
		history:    []step{apply(us, withContainer("image: web:1"))},
		desired:    withContainer("image: web:1"),
		difference: "up to date",
	},
	{
		name:       "own-change",
		history:    []step{apply(us, withContainer("image: web:1"))},
		desired:    withContainer("image: web:2"),
		difference: "value differs: " + app + ".image",
	},
	{
		name: "atomic-lists-and-maps",
		history: []step{
			create("creator", deployment{pod: "tolerations: [{key: a, operator: Exists}],", container: "image: web:1, args: [a, b], command: [x]"}.yaml()),
		},
		desired: deployment{pod: "tolerations: [{key: b, operator: Exists}],", container: "image: web:1, args: [b, a], command: [x]"}.yaml(),
		conflicts: []string{
			app + `.args ("creator" by Update)`,
			`.spec.template.spec.tolerations ("creator" by Update)`,
		},
	},
	{
		name:      "selector",
		history:   []step{create("creator", withContainer("image: web:1"))},
		desired:   "spec: {selector: {matchLabels: {app: other}}}",
		conflicts: []string{`.spec.selector ("creator" by Update)`},
	},
	{
		name: "env-entries",
		history: []step{
			apply(us, withContainer("image: web:1, env: [{name: A.B, value: a}, {name: C, value: c}]")),
			patch("kubectl-set", inContainer("env: [{name: A.B, value: z}, {name: D, value: d}]")),
		},
		desired:   withContainer("image: web:1, env: [{name: A.B, value: a}, {name: C, value: cc}, {name: D, value: d}]"),
		conflicts: []string{app + `.env[name="A.B"].value ("kubectl-set" by Update)`},
	},
	{
		name: "ports-by-number-and-protocol",
		history: []step{
			create("creator", withContainer("image: web:1, ports: [{containerPort: 53, name: a}, {containerPort: 53, protocol: UDP, name: b}]")),
		},
		desired:   withContainer("image: web:1, ports: [{containerPort: 53, name: c}, {containerPort: 53, protocol: UDP, name: b}, {containerPort: 80}]"),
		conflicts: []string{app + `.ports[containerPort=53,protocol="TCP"].name ("creator" by Update)`},
	},
	{
		name: "annotations",
		history: []step{
			apply(us, deployment{metadata: "annotations: {example.com/a.b: x, plain: x}", container: "image: web:1"}.yaml()),
			patch("kubectl-annotate", "metadata: {annotations: {example.com/a.b: z, example.com/other: z}}"),
		},
		desired:    deployment{metadata: "annotations: {example.com/a.b: x, plain: x}", container: "image: web:1"}.yaml(),
		conflicts:  []string{`.metadata.annotations.example.com/a.b ("kubectl-annotate" by Update)`},
		difference: "value differs: .metadata.annotations.example.com/a.b; not owned yet: .metadata.annotations.example.com/a.b",
	},
	{
		name: "equal-quantities",
		history: []step{
			apply(us, withContainer("image: web:1, resources: {limits: {cpu: 1000m, memory: 1024Mi}}")),
			apply("gitops", inContainer("resources: {limits: {cpu: '1', memory: 1Gi}}")),
		},
		desired:    withContainer("image: web:1, resources: {limits: {cpu: 1000m, memory: 1024Mi}}"),
		difference: "up to date",
	},
	{
		name: "equal-quantities-to-be-shared",
		history: []step{
			create("creator", withContainer("image: web:1, resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: '0.1'}}")),
		},
		desired:    "spec: {template: {spec: {containers: [{name: app, resources: {limits: {cpu: 1, memory: 1024Mi}, requests: {cpu: '0.1'}}}]}}}",
		difference: "not owned yet: " + app + " " + app + ".name " + app + ".resources.limits.cpu " + app + ".resources.limits.memory " + app + ".resources.requests.cpu",
	},
	{
		name:       "quantity-that-is-rounded",
		history:    []step{apply(us, withContainer("image: web:1, resources: {requests: {cpu: 100u}}"))},
		desired:    withContainer("image: web:1, resources: {requests: {cpu: 100u}}"),
		difference: "up to date",
	},
	{
		name: "number-and-text-of-a-port",
		history: []step{
			create("creator", withContainer("image: web:1, livenessProbe: {httpGet: {port: 80}}")),
		},
		desired:   withContainer("image: web:1, livenessProbe: {httpGet: {port: web}}"),
		conflicts: []string{app + `.livenessProbe.httpGet.port ("creator" by Update)`},
	},
	{
		name:       "empty-values",
		history:    []step{apply(us, withContainer("image: web:1, env: [{name: A, value: ''}], livenessProbe: {initialDelaySeconds: 0, tcpSocket: {port: 80}}"))},
		desired:    withContainer("image: web:1, env: [{name: A, value: ''}], livenessProbe: {initialDelaySeconds: 0, tcpSocket: {port: 80}}"),
		difference: "up to date",
	},
	{
		name: "empty-value-filled-by-somebody",
		history: []step{
			apply(us, withContainer("image: web:1, env: [{name: A, value: ''}]")),
			patch("kubectl-set", inContainer("env: [{name: A, value: z}]")),
		},
		desired:   withContainer("image: web:1, env: [{name: A, value: ''}]"),
		conflicts: []string{app + `.env[name="A"].value ("kubectl-set" by Update)`},
	},
	{
		name: "empty-value-of-two-appliers",
		history: []step{
			apply("gitops", withContainer("image: web:1, env: [{name: A, value: ''}]")),
		},
		desired:   withContainer("image: web:1, env: [{name: A, value: ''}]"),
		conflicts: []string{app + `.env[name="A"].value ("gitops" by Apply)`},
	},
	{
		name:       "reordered",
		history:    []step{apply(us, withContainer("image: web:1, env: [{name: A, value: a}, {name: B, value: $(A)}]"))},
		desired:    withContainer("image: web:1, env: [{name: B, value: $(A)}, {name: A, value: a}]"),
		difference: "list order differs",
	},
	{
		name: "order-of-others",
		history: []step{
			apply(us, withContainer("image: web:1, env: [{name: A, value: a}, {name: B, value: b}]")),
			jsonPatch("mesh", "[{op: add, path: /spec/template/spec/containers/0/env/1, value: {name: MID, value: m}}]"),
		},
		desired:    withContainer("image: web:1, env: [{name: A, value: a}, {name: B, value: b}]"),
		difference: "up to date",
	},
	{
		name: "field-removed-by-somebody",
		history: []step{
			apply(us, deployment{metadata: "annotations: {a: x}", container: "image: web:1"}.yaml()),
			jsonPatch("kubectl", "[{op: remove, path: /metadata/annotations/a}]"),
		},
		desired:    deployment{metadata: "annotations: {a: x}", container: "image: web:1"}.yaml(),
		difference: "value differs: .metadata.annotations.a; not owned yet: .metadata.annotations.a",
	},
	{
		name:       "owner-reference",
		history:    []step{apply(us, deployment{metadata: "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: a, controller: true}]", container: "image: web:1"}.yaml())},
		desired:    deployment{metadata: "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: a, controller: true}]", container: "image: web:1"}.yaml(),
		difference: "up to date",
	},
}
