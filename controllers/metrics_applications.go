package controllers

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// collectTimeout bounds the wait for a cache that is not filled yet.
const collectTimeout = time.Second

// applicationsCollector counts Applications by what their status says. It reads the cache whenever it is collected: there is
// nothing to keep up to date, to lose by a restart, or to leave behind.
type applicationsCollector struct {
	reader client.Reader
	// elected is closed once this replica leads. Each replica has the cache, and the sum over all would count twice.
	elected <-chan struct{}

	phases, conditions *prometheus.Desc
}

func newApplicationsCollector(reader client.Reader, elected <-chan struct{}) *applicationsCollector {
	return &applicationsCollector{
		reader:     reader,
		elected:    elected,
		phases:     applicationsMetric.description(),
		conditions: conditionsMetric.description(),
	}
}

// Describe implements prometheus.Collector.
func (c *applicationsCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.phases
	descriptions <- c.conditions
}

// Collect implements prometheus.Collector.
func (c *applicationsCollector) Collect(collected chan<- prometheus.Metric) {
	select {
	case <-c.elected:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	applications := &v1alpha1.ApplicationList{}
	if err := c.reader.List(ctx, applications, client.UnsafeDisableDeepCopy); err != nil {
		collected <- prometheus.NewInvalidMetric(c.phases, err)
		return
	}

	phases := map[v1alpha1.ApplicationPhase]float64{v1alpha1.PhasePending: 0, v1alpha1.PhaseRunning: 0, v1alpha1.PhaseFailed: 0}
	type series struct{ condition, status, reason string }
	conditions := map[series]float64{}
	for i := range applications.Items {
		status := &applications.Items[i].Status
		phase := status.Phase
		if _, known := phases[phase]; !known {
			phase = v1alpha1.PhasePending // nothing was reported yet
		}
		phases[phase]++
		for _, conditionType := range ownConditions {
			if condition := meta.FindStatusCondition(status.Conditions, conditionType); condition != nil {
				conditions[series{conditionType, string(condition.Status), knownOr(condition.Reason, conditionReasons)}]++
			}
		}
	}
	for phase, count := range phases {
		collected <- prometheus.MustNewConstMetric(c.phases, prometheus.GaugeValue, count, string(phase))
	}
	for s, count := range conditions {
		collected <- prometheus.MustNewConstMetric(c.conditions, prometheus.GaugeValue, count, s.condition, s.status, s.reason)
	}
}
