package controllers

import (
	"github.com/prometheus/client_golang/prometheus"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Metric describes a metric of the operator's own.
type Metric struct {
	Name string
	// Type is counter, gauge or histogram.
	Type   string
	Labels []string
	// Help is what the metric tells, in full sentences.
	Help string
}

const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

var (
	appliesMetric = Metric{"application_operator_applies_total", counter, []string{"kind", keyOutcome},
		"Applies that were sent, by the kind of the object and what came of them. The status and the finalizer count as kind Application."}
	elidedMetric = Metric{"application_operator_elided_applies_total", counter, []string{"kind", keyOutcome},
		"Applies that were not sent, since they would change nothing (Unchanged), are known to conflict (Conflict), or the Application is paused (Paused)."}
	deletionsMetric = Metric{"application_operator_deletions_total", counter, []string{"kind"},
		"Children that were deleted because the spec wants them no more."}
	driftMetric = Metric{"application_operator_drift_repaired_total", counter, []string{"kind"},
		"Children that had been as the spec wants them, were changed or deleted by somebody, and were applied again."}
	migrationsMetric = Metric{"application_operator_migrations_total", counter, []string{"kind"},
		"Children on which the field managers of an older operator were folded into the operator's own."}
	handoversMetric = Metric{"application_operator_handovers_total", counter, []string{"kind", "direction"},
		"Hand-overs of a field that left the spec (GivenUp) or came back into it (TakenBack) without a change of its value in between."}
	conflictsMetric = Metric{"application_operator_field_conflicts", gauge, []string{"kind", "manager"},
		"Fields that the spec of an Application wants and another field manager owns with another value. A field with several managers counts once for each. Managers that are not widely known count as other."}
	applicationsMetric = Metric{"application_operator_applications", gauge, []string{"phase"},
		"Applications by phase, as their status says. Only the leader reports them."}
	conditionsMetric = Metric{"application_operator_application_conditions", gauge, []string{keyCondition, keyStatus, keyReason},
		"Applications by condition, its status and its reason. Reasons that are not the operator's count as other. Only the leader reports them."}
	overlapsMetric = Metric{"application_operator_overlapping_operators", gauge, nil,
		"Other operators of the cluster that handle Applications which this one handles, too."}
	syncedSecondsMetric = Metric{"application_operator_time_to_synced_seconds", histogram, nil,
		"Time from a change of an Application's spec, to the second, until its children were first as it wants them. A change that another process began to handle is not observed."}
	readySecondsMetric = Metric{"application_operator_time_to_ready_seconds", histogram, nil,
		"Time from a change of an Application's spec, to the second, until it was first Ready. A change that another process began to handle is not observed."}
)

// Metrics lists the metrics of the operator's own, beside those of controller-runtime and the work queue.
func Metrics() []Metric {
	return []Metric{
		appliesMetric, elidedMetric, deletionsMetric, driftMetric, migrationsMetric, handoversMetric,
		conflictsMetric, applicationsMetric, conditionsMetric, overlapsMetric, syncedSecondsMetric, readySecondsMetric,
	}
}

// secondsBuckets reach from a quick apply to a slow roll-out. The start is known to the second only.
var secondsBuckets = []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800}

// instruments are the metrics that the reconcile loop writes. No label takes a value that users can choose freely, so there
// are no series for single objects, which would outlive them.
type instruments struct {
	applies       *prometheus.CounterVec
	elided        *prometheus.CounterVec
	deletions     *prometheus.CounterVec
	driftRepaired *prometheus.CounterVec
	migrations    *prometheus.CounterVec
	handovers     *prometheus.CounterVec
	conflicts     *conflictGauge
	latency       *latency
}

func newInstruments() *instruments {
	m := &instruments{
		applies:       appliesMetric.counterVec(),
		elided:        elidedMetric.counterVec(),
		deletions:     deletionsMetric.counterVec(),
		driftRepaired: driftMetric.counterVec(),
		migrations:    migrationsMetric.counterVec(),
		handovers:     handoversMetric.counterVec(),
		conflicts:     newConflictGauge(),
		latency:       newLatency(),
	}
	// A counter that is there from the beginning does not hide its first event from rate().
	for _, kind := range []string{deploymentChild.kind, serviceChild.kind} {
		m.deletions.WithLabelValues(kind)
		m.driftRepaired.WithLabelValues(kind)
		m.migrations.WithLabelValues(kind)
		for _, direction := range []string{handoverGivenUp, handoverTakenBack} {
			m.handovers.WithLabelValues(kind, direction)
		}
	}
	for _, kind := range []string{deploymentChild.kind, serviceChild.kind, v1alpha1.Kind} {
		for _, o := range appliedOutcomes {
			m.applies.WithLabelValues(kind, string(o))
		}
		for _, o := range elidedOutcomes {
			m.elided.WithLabelValues(kind, string(o))
		}
	}
	return m
}

func (m *instruments) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.applies, m.elided, m.deletions, m.driftRepaired, m.migrations, m.handovers,
		m.conflicts, m.latency.synced, m.latency.ready,
	}
}

func (m Metric) counterVec() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
}

func (m Metric) histogram() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: secondsBuckets})
}

func (m Metric) description() *prometheus.Desc {
	return prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
}
