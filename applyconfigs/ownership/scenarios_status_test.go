package ownership_test

// application is an Application as a person writes it.
const application = "spec: {image: web:1}"

// scenariosOfStatus are about the status of a custom resource, which the API server stores as it is written.
var scenariosOfStatus = []scenario{
	{
		name:        "application-status",
		kind:        "Application",
		subresource: "status",
		history: []step{
			apply("author", application),
			applyStatus(us, "status: {phase: Pending, deploymentStatus: {replicas: 0}, conditions: ["+condition("Ready", "False")+"]}"),
			applyStatus("auditor", "status: {conditions: ["+condition("Audited", "True")+"]}"),
		},
		desired:    "status: {phase: Pending, deploymentStatus: {replicas: 0}, conditions: [" + condition("Ready", "False") + "]}",
		difference: "up to date",
	},
	{
		name:        "application-status-by-hand",
		kind:        "Application",
		subresource: "status",
		history: []step{
			apply("author", application),
			applyStatus(us, "status: {phase: Pending, message: wait, conditions: ["+condition("Ready", "False")+"]}"),
			mergePatch("kubectl-edit", "status: {phase: Failed}", "status"),
		},
		desired:    "status: {phase: Running, message: done, conditions: [" + condition("Ready", "True") + "]}",
		conflicts:  []string{`.status.phase ("kubectl-edit" by Update through "status")`},
		difference: `value differs: .status.message .status.phase .status.conditions[type="Ready"].status; not owned yet: .status.phase`,
	},
	{
		name:        "application-status-of-somebody",
		kind:        "Application",
		subresource: "status",
		history: []step{
			apply("author", application),
			applyStatus("auditor", "status: {conditions: ["+condition("Ready", "Unknown")+", "+condition("Audited", "True")+"]}"),
		},
		desired:   "status: {phase: Running, conditions: [" + condition("Ready", "True") + "]}",
		conflicts: []string{`.status.conditions[type="Ready"].status ("auditor" by Apply through "status")`},
	},
}

func condition(kind, status string) string {
	return "{type: " + kind + ", status: '" + status + "', reason: Test, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}"
}
