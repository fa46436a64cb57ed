package controllers

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// conflictGauge tells how many fields are contested now, by the kind of the object and the manager that holds the field.
// It is computed when it is collected, so no series outlives its cause.
type conflictGauge struct {
	description *prometheus.Desc

	mu        sync.Mutex
	contested map[client.ObjectKey][]v1alpha1.FieldConflict
}

func newConflictGauge() *conflictGauge {
	return &conflictGauge{
		description: conflictsMetric.description(),
		contested:   map[client.ObjectKey][]v1alpha1.FieldConflict{},
	}
}

// observe replaces what is known of an Application.
func (g *conflictGauge) observe(app client.ObjectKey, conflicts []v1alpha1.FieldConflict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(conflicts) == 0 {
		delete(g.contested, app)
		return
	}
	g.contested[app] = slices.Clone(conflicts)
}

// forget drops what is known of an Application.
func (g *conflictGauge) forget(app client.ObjectKey) { g.observe(app, nil) }

// Describe implements prometheus.Collector.
func (g *conflictGauge) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- g.description }

// Collect implements prometheus.Collector.
func (g *conflictGauge) Collect(collected chan<- prometheus.Metric) {
	type series struct{ kind, manager string }
	counts := map[series]float64{}
	g.mu.Lock()
	for _, conflicts := range g.contested {
		for _, c := range conflicts {
			counts[series{c.Kind, knownOr(c.Manager, knownManagers)}]++
		}
	}
	g.mu.Unlock()
	for s, count := range counts {
		collected <- prometheus.MustNewConstMetric(g.description, prometheus.GaugeValue, count, s.kind, s.manager)
	}
}

// knownManagers get a label value of their own. A manager's name is free text that anyone may choose, so all others
// share one.
var knownManagers = []string{
	v1alpha1.FieldManager,
	v1alpha1.FieldManagerHandover,
	ownership.AncientChanges,
	ownership.BeforeFirstApply,
	"argocd-controller",
	"helm",
	"helm-controller",
	"kube-controller-manager",
	"kubectl",
	"kubectl-annotate",
	"kubectl-client-side-apply",
	"kubectl-create",
	"kubectl-edit",
	"kubectl-label",
	"kubectl-patch",
	"kubectl-replace",
	"kubectl-rollout",
	"kubectl-set",
	"kustomize-controller",
	"vpa-recommender",
}
