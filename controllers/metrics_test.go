package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// gather returns what the metrics tell, by name and labels: a histogram tells how many samples it has.
func gather(t *testing.T, collectors ...prometheus.Collector) (map[string]float64, []*dto.MetricFamily) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collectors...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			series := family.GetName()
			for _, label := range m.GetLabel() {
				series += " " + label.GetValue()
			}
			values[series] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values, families
}

// change returns the counters that grew from one gathering to the next.
func change(before, after map[string]float64) map[string]float64 {
	grown := map[string]float64{}
	for series, value := range after {
		if value != before[series] {
			grown[series] = value - before[series]
		}
	}
	return grown
}

// applicationList is a cache of Applications.
type applicationList struct {
	client.Reader
	items []v1alpha1.Application
	err   error
}

func (l *applicationList) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	namespace := (&client.ListOptions{}).ApplyOptions(options).Namespace
	for i := range l.items {
		if namespace == "" || namespace == l.items[i].Namespace {
			items := &list.(*v1alpha1.ApplicationList).Items
			*items = append(*items, l.items[i])
		}
	}
	return l.err
}

func elected() <-chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}

// TestMetricsAreDocumented: each metric has the name, type, labels and help that the documentation shows, and the names
// are as Prometheus wants them.
func TestMetricsAreDocumented(t *testing.T) {
	m := newInstruments()
	m.conflicts.observe(webKey, []v1alpha1.FieldConflict{{Kind: "Deployment", Manager: "kubectl"}})
	app := newApp()
	app.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSynced, Status: trueStatus, Reason: v1alpha1.ReasonSynced}}
	applications := newApplicationsCollector(&applicationList{items: []v1alpha1.Application{*app}}, elected())
	_, families := gather(t, append(m.collectors(), applications, newOverlapGauge(nil))...)

	documented := map[string]Metric{}
	for _, metric := range Metrics() {
		documented[metric.Name] = metric
	}
	if len(families) != len(documented) {
		t.Errorf("%d metrics, %d of them documented", len(families), len(documented))
	}
	types := map[dto.MetricType]string{dto.MetricType_COUNTER: "counter", dto.MetricType_GAUGE: "gauge", dto.MetricType_HISTOGRAM: "histogram"}
	for _, family := range families {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		want := documented[family.GetName()]
		want.Labels = slices.Sorted(slices.Values(want.Labels))
		if diff := cmp.Diff(want, Metric{family.GetName(), types[family.GetType()], labels, family.GetHelp()}); diff != "" {
			t.Errorf("(-documented +is):\n%s", diff)
		}
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
}

func TestReconcileIsCounted(t *testing.T) {
	const applies, elided = "application_operator_applies_total ", "application_operator_elided_applies_total "
	for _, c := range []struct {
		name  string
		fails map[string]error
		want  map[string]float64
	}{
		{"created", nil, map[string]float64{
			applies + "Deployment Created": 1, applies + "Service Created": 1, applies + "Application Configured": 1,
			"application_operator_time_to_synced_seconds": 1,
		}},
		{"conflict and quota", map[string]error{"apply Deployment": fieldConflict(), "apply Service": overQuota()}, map[string]float64{
			applies + "Deployment Conflict": 1, applies + "Service Rejected": 1, applies + "Application Configured": 1,
			"application_operator_field_conflicts Deployment kubectl": 1,
		}},
		{"unreachable", map[string]error{"apply Deployment": answered(503, "ServiceUnavailable", "later"), "apply Service": namespaceTerminating()}, map[string]float64{
			applies + "Deployment Deferred": 1, applies + "Service Terminating": 1,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, _ := newReconciler(t)
			maps.Copy(s.fails, c.fails)
			before, _ := gather(t, r.metrics.collectors()...)
			_ = reconcileWeb(t, r) // TestReconcileErrors is about what it returns
			after, _ := gather(t, r.metrics.collectors()...)
			if diff := cmp.Diff(c.want, change(before, after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			r.forget(webKey)
			after, _ = gather(t, r.metrics.collectors()...)
			for series := range after {
				if _, initial := before[series]; !initial {
					t.Errorf("%s outlives the Application", series)
				}
			}
		})
	}
}

func TestApplicationsAreCounted(t *testing.T) {
	withStatus := func(phase v1alpha1.ApplicationPhase, conditions ...metav1.Condition) v1alpha1.Application {
		return v1alpha1.Application{Status: v1alpha1.ApplicationStatus{Phase: phase, Conditions: conditions}}
	}
	reader := &applicationList{items: []v1alpha1.Application{
		withStatus(""),
		withStatus(v1alpha1.PhaseRunning, metav1.Condition{Type: "Synced", Status: "True", Reason: "Synced"}, metav1.Condition{Type: "Theirs", Status: "True", Reason: "X"}),
		withStatus(v1alpha1.PhaseRunning, metav1.Condition{Type: "Synced", Status: "True", Reason: "Synced"}, metav1.Condition{Type: "Available", Status: "False", Reason: "AsYouLikeIt"}),
	}}
	got, _ := gather(t, newApplicationsCollector(reader, elected()))
	const phase, conditions = "application_operator_applications ", "application_operator_application_conditions "
	want := map[string]float64{
		phase + "Pending": 1, phase + "Running": 2, phase + "Failed": 0,
		conditions + "Synced Synced True": 2, conditions + "Available other False": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if got, _ := gather(t, newApplicationsCollector(reader, make(chan struct{}))); len(got) > 0 {
		t.Errorf("a replica that does not lead reports %v", got)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(newApplicationsCollector(&applicationList{err: errors.New("no cache")}, elected()))
	if _, err := registry.Gather(); err == nil {
		t.Error("a cache that does not answer counts as empty")
	}
}

func TestLatency(t *testing.T) {
	written := metav1.NewTime(start.Add(-10 * time.Second))
	at := func(generation, observed int64, uid string) *v1alpha1.Application {
		app := newApp()
		app.UID, app.Generation, app.Status.ObservedGeneration = appUID, generation, observed
		if uid != "" {
			app.UID = "another"
		}
		app.CreationTimestamp = metav1.NewTime(start.Add(-time.Hour))
		app.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "gitops", Time: &written},
			{Manager: "gitops", Subresource: "status", Time: &metav1.Time{Time: start}},
			{Manager: v1alpha1.FieldManagerFinalizer, Time: &metav1.Time{Time: start}},
		}
		return app
	}
	status := func(synced, ready metav1.ConditionStatus) *v1alpha1.ApplicationStatus {
		return &v1alpha1.ApplicationStatus{Conditions: []metav1.Condition{{Type: "Synced", Status: synced}, {Type: "Ready", Status: ready}}}
	}
	l := newLatency()
	for _, step := range []struct {
		name          string
		app           *v1alpha1.Application
		status        *v1alpha1.ApplicationStatus
		synced, ready uint64
	}{
		{"a generation that an earlier process reported", at(1, 1, ""), status("True", "False"), 0, 0},
		{"and that becomes Ready now", at(1, 1, ""), status("True", "True"), 0, 0},
		{"a new one, not Synced yet", at(2, 1, ""), status("False", "False"), 0, 0},
		{"Synced", at(2, 2, ""), status("True", "False"), 1, 0},
		{"contested", at(2, 2, ""), status("False", "False"), 1, 0},
		{"Synced again: it was before", at(2, 2, ""), status("True", "True"), 1, 1},
		{"at once", at(3, 2, ""), status("True", "True"), 2, 2},
		{"an Application of the same name, seen first when all was done", at(3, 3, "another"), status("True", "True"), 2, 2},
	} {
		l.observe(step.app, step.status, start)
		got, families := gather(t, l.synced, l.ready)
		want := map[string]float64{"application_operator_time_to_synced_seconds": float64(step.synced), "application_operator_time_to_ready_seconds": float64(step.ready)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		for _, family := range families {
			if h := family.GetMetric()[0].GetHistogram(); h.GetSampleSum() != 10*float64(h.GetSampleCount()) {
				t.Errorf("%s: %s is %g s for %d samples, want 10 s each", step.name, family.GetName(), h.GetSampleSum(), h.GetSampleCount())
			}
		}
	}
	l.forget(webKey)
	if len(l.seen) > 0 {
		t.Errorf("still remembered: %v", l.seen)
	}
}

func TestDrift(t *testing.T) {
	for _, c := range []struct {
		outcome  outcome
		reason   string
		observed int64
		want     bool
	}{
		{outcomeConfigured, v1alpha1.ReasonSynced, 4, true},
		{outcomeCreated, v1alpha1.ReasonSynced, 4, true},
		{outcomeUnchanged, v1alpha1.ReasonSynced, 4, false},
		{outcomeConfigured, v1alpha1.ReasonSynced, 3, false},        // the spec is new
		{outcomeConfigured, v1alpha1.ReasonFieldsYielded, 4, false}, // a field was taken back
		{outcomeConfigured, "", 4, false},
	} {
		app := newApp()
		if c.reason != "" {
			app.Status.Conditions = []metav1.Condition{{Type: "Synced", Status: trueStatus, Reason: c.reason, ObservedGeneration: c.observed}}
		}
		if got := isDrift(app, &childResult{outcome: c.outcome}); got != c.want {
			t.Errorf("%s: %t", fmt.Sprint(c), got)
		}
	}
}
