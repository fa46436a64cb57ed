package ownership_test

// scenariosOfOwners are about who owns a field, and how.
var scenariosOfOwners = []scenario{
	{
		name: "applier-by-force",
		history: []step{
			apply(us, withContainer("image: web:1")),
			forceApply("gitops", inContainer("image: web:2")),
		},
		desired:    withContainer("image: web:1"),
		conflicts:  []string{app + `.image ("gitops" by Apply)`},
		difference: "value differs: " + app + ".image; not owned yet: " + app + ".image",
	},
	{
		name: "update",
		history: []step{
			apply(us, withContainer("image: web:1")),
			patch("kubectl-edit", inContainer("image: web:2")),
		},
		desired:    withContainer("image: web:1"),
		conflicts:  []string{app + `.image ("kubectl-edit" by Update)`},
		difference: "value differs: " + app + ".image; not owned yet: " + app + ".image",
	},
	{
		name: "odd-manager-names",
		history: []step{
			apply(us, deployment{spec: "replicas: 1,", container: "image: web:1"}.yaml()),
			patch(`ops "night" team`, inContainer("image: web:2")),
			forceApply("a, b: c", "spec: {replicas: 2}"),
		},
		desired: deployment{spec: "replicas: 1,", container: "image: web:1"}.yaml(),
		conflicts: []string{
			`.spec.replicas ("a, b: c" by Apply)`,
			app + `.image ("ops \"night\" team" by Update)`,
		},
		difference: "value differs: .spec.replicas " + app + ".image; not owned yet: .spec.replicas " + app + ".image",
	},
	{
		name: "scale-subresource",
		history: []step{
			apply(us, deployment{spec: "replicas: 3,", container: "image: web:1"}.yaml()),
			scale("kubectl", 5),
		},
		desired:    deployment{spec: "replicas: 3,", container: "image: web:1"}.yaml(),
		conflicts:  []string{`.spec.replicas ("kubectl" by Update through "scale")`},
		difference: "value differs: .spec.replicas; not owned yet: .spec.replicas",
	},
	{
		name: "scale-to-the-same-count",
		history: []step{
			create("creator", deployment{spec: "replicas: 2,", container: "image: web:1"}.yaml()),
			scale("kubectl", 2),
		},
		desired:   deployment{spec: "replicas: 3,", container: "image: web:2"}.yaml(),
		conflicts: []string{app + `.image ("creator" by Update)`},
	},
	{
		name: "several-owners",
		history: []step{
			create("creator", deployment{spec: "replicas: 2,", container: "image: web:1"}.yaml()),
			apply("gitops", "spec: {replicas: 2}"),
			apply("backup", "spec: {replicas: 2}"),
		},
		desired: deployment{spec: "replicas: 3,", container: "image: web:2"}.yaml(),
		conflicts: []string{
			`.spec.replicas ("backup" by Apply)`,
			`.spec.replicas ("creator" by Update)`,
			`.spec.replicas ("gitops" by Apply)`,
			app + `.image ("creator" by Update)`,
		},
	},
	{
		name:      "own-name-by-update",
		history:   []step{create(us, withContainer("image: web:1"))},
		desired:   withContainer("image: web:2"),
		conflicts: []string{app + `.image ("application-operator" by Update)`},
	},
	{
		name:      "before-first-apply",
		history:   []step{apply(us, deployment{spec: "replicas: 2,", container: "image: web:1, args: [a]"}.yaml()), wipe()},
		desired:   deployment{spec: "replicas: 3,", container: "image: web:2, args: [a]"}.yaml(),
		conflicts: []string{`.spec.replicas ("before-first-apply" by Update)`, app + `.image ("before-first-apply" by Update)`},
	},
	{
		name:    "wiped-and-unchanged",
		history: []step{apply(us, withContainer("image: web:1")), wipe()},
		desired: withContainer("image: web:1"),
	},
	{
		name: "wiped-and-applied-again",
		history: []step{
			apply(us, withContainer("image: web:1")), wipe(),
			apply(us, withContainer("image: web:1")),
		},
		desired:   withContainer("image: web:2"),
		conflicts: []string{app + `.image ("before-first-apply" by Update)`},
	},
	{
		name: "ancient-changes",
		history: []step{
			apply(us, withContainer("image: web:1")),
			patch("a-first", inContainer("image: web:2")),
			crowd(11),
		},
		desired:   withContainer("image: web:1"),
		conflicts: []string{app + `.image ("ancient-changes" by Update)`},
	},
	{
		name: "version-no-longer-served",
		history: []step{
			create("creator", withContainer("image: web:1")),
			apply("gitops", "spec: {replicas: 1}"),
			rewriteVersion("creator", "apps/v1beta1"),
		},
		desired:   deployment{spec: "replicas: 3,", container: "image: web:2"}.yaml(),
		conflicts: []string{`.spec.replicas ("gitops" by Apply)`},
	},
	{
		name:       "defaulted-field-of-nobody",
		history:    []step{apply(us, withContainer("image: web:1"))},
		desired:    withContainer("image: web:1, imagePullPolicy: Always"),
		difference: "value differs: " + app + ".imagePullPolicy; not owned yet: " + app + ".imagePullPolicy",
	},
	{
		name:      "defaulted-field-of-the-creator",
		history:   []step{create("creator", withContainer("image: web:1"))},
		desired:   inContainer("imagePullPolicy: Always"),
		conflicts: []string{app + `.imagePullPolicy ("creator" by Update)`},
	},
	{
		name:        "status",
		subresource: "status",
		history: []step{
			apply(us, withContainer("image: web:1")),
			patch("kubectl-edit", "status: {replicas: 2, conditions: [{type: Foreign, status: 'True'}]}", "status"),
		},
		desired:   "status: {replicas: 3, conditions: [{type: Ours, status: 'True'}]}",
		conflicts: []string{`.status.replicas ("kubectl-edit" by Update through "status")`},
	},
	{
		name:        "status-wiped",
		subresource: "status",
		history: []step{
			apply(us, withContainer("image: web:1")),
			patch("kubectl-edit", "status: {replicas: 2}", "status"),
			wipe(),
		},
		desired:   "status: {replicas: 3}",
		conflicts: []string{`.status.replicas ("before-first-apply" by Update through "status")`},
	},
	{
		name: "service-ports",
		kind: "Service",
		history: []step{
			apply(us, "spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}, {name: dns, port: 53, protocol: UDP}]}"),
			patch("kubectl-patch", "spec: {ports: [{port: 80, targetPort: http}]}"),
		},
		desired:   "spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}, {name: dns, port: 53, protocol: UDP}]}",
		conflicts: []string{`.spec.ports[port=80,protocol="TCP"].targetPort ("kubectl-patch" by Update)`},
	},
	{
		name: "service-node-port-of-somebody",
		kind: "Service",
		history: []step{
			apply(us, "spec: {type: NodePort, selector: {app: web}, ports: [{name: http, port: 80}]}"),
			patch("kubectl-patch", "spec: {ports: [{port: 80, nodePort: 30123}]}"),
		},
		desired:    "spec: {type: NodePort, selector: {app: web}, ports: [{name: http, port: 80}]}",
		difference: "up to date",
	},
	{
		name: "service-selector",
		kind: "Service",
		history: []step{
			create("creator", "spec: {selector: {app: other}, ports: [{port: 80}]}"),
		},
		desired:   "spec: {selector: {app: web}, ports: [{port: 80}]}",
		conflicts: []string{`.spec.selector ("creator" by Update)`},
	},
	{
		name: "shared-value",
		history: []step{
			create("creator", withContainer("image: web:1")),
			apply(us, withContainer("image: web:1")),
		},
		desired:    withContainer("image: web:1"),
		difference: "up to date",
	},
	{
		name:       "to-be-shared",
		history:    []step{create("creator", withContainer("image: web:1"))},
		desired:    inContainer("image: web:1"),
		difference: "not owned yet: " + app + " " + app + ".image " + app + ".name",
	},
	{
		name: "removed-but-shared",
		history: []step{
			apply(us, deployment{spec: "replicas: 2, paused: true,", container: "image: web:1"}.yaml()),
			apply("gitops", "spec: {replicas: 2}"),
		},
		desired:    withContainer("image: web:1"),
		difference: "no longer desired: .spec.paused .spec.replicas",
	},
	{
		name: "removed-item-with-a-foreign-field",
		history: []step{
			apply(us, withContainer("image: web:1, env: [{name: A, value: a}, {name: B, value: b}]")),
			patch("kubectl-edit", inContainer("env: [{name: B, value: z}]")),
		},
		desired:    withContainer("image: web:1, env: [{name: A, value: a}]"),
		difference: "no longer desired: " + app + `.env[name="B"] ` + app + `.env[name="B"].name`,
	},
	{
		name: "injected-container",
		history: []step{
			apply(us, withContainer("image: web:1, env: [{name: A, value: a}]")),
			patch("mesh", "spec: {template: {metadata: {annotations: {mesh: injected}}, spec: {containers: [{name: proxy, image: proxy:1}, {name: app, env: [{name: MESH, value: on1}]}]}}}"),
		},
		desired:    withContainer("image: web:1, env: [{name: A, value: a}]"),
		difference: "up to date",
	},
}
