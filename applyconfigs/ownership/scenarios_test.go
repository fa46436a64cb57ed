package ownership_test

import (
	"slices"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// scenario is a history of writes, and what an unforced apply of ours then meets.
type scenario struct {
	name        string
	kind        string // Deployment if empty
	subresource string // to which we apply
	history     []step
	desired     string
	// conflicts that the API server answers with.
	conflicts []string
	// difference that Compare sees.
	difference string
}

// deployment is a whole Deployment with more fields of its metadata, its spec, its Pods and its container.
type deployment struct{ metadata, spec, pod, container string }

func (d deployment) yaml() string {
	return "metadata: {labels: {app: web}, " + d.metadata + "}\n" +
		"spec: {selector: {matchLabels: {app: web}}, " + d.spec + "\n" +
		"  template: {metadata: {labels: {app: web}}, spec: {" + d.pod + "\n" +
		"    containers: [{name: app, " + d.container + "}]}}}"
}

// withContainer is a whole Deployment.
func withContainer(fields string) string { return deployment{container: fields}.yaml() }

// inContainer is a part of one.
func inContainer(fields string) string {
	return "spec: {template: {spec: {containers: [{name: app, " + fields + "}]}}}"
}

const app = `.spec.template.spec.containers[name="app"]`

var scenarios = slices.Concat(scenariosOfOwners, scenariosOfValues, scenariosOfStatus)

func (s scenario) manager() ownership.Manager {
	manager := ownership.Applier(us)
	manager.Subresource = s.subresource
	return manager
}
