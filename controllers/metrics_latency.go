package controllers

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// latency observes how long after a change of its spec an Application is Synced, and Ready, for the first time.
type latency struct {
	synced, ready prometheus.Histogram

	mu   sync.Mutex
	seen map[client.ObjectKey]*progressOf
}

// progressOf is how far an Application has come with a generation.
type progressOf struct {
	uid           types.UID
	generation    int64
	synced, ready bool
}

func newLatency() *latency {
	return &latency{
		synced: syncedSecondsMetric.histogram(),
		ready:  readySecondsMetric.histogram(),
		seen:   map[client.ObjectKey]*progressOf{},
	}
}

// observe takes the status that was reported of app. A generation that had a status before this process saw it is left out:
// nothing tells whether it was Synced or Ready before.
func (l *latency) observe(app *v1alpha1.Application, status *v1alpha1.ApplicationStatus, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := client.ObjectKeyFromObject(app)
	progress := l.seen[key]
	if progress == nil || progress.uid != app.UID || progress.generation != app.Generation {
		reported := (progress == nil || progress.uid != app.UID) && app.Status.ObservedGeneration >= app.Generation
		progress = &progressOf{uid: app.UID, generation: app.Generation, synced: reported, ready: reported}
		l.seen[key] = progress
	}
	elapsed := max(0, now.Sub(specWritten(app)).Seconds())
	if !progress.synced && meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionSynced) {
		progress.synced = true
		l.synced.Observe(elapsed)
	}
	if !progress.ready && meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionReady) {
		progress.ready = true
		l.ready.Observe(elapsed)
	}
}

// forget drops what is known of an Application.
func (l *latency) forget(app client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.seen, app)
}

// specWritten returns when somebody last wrote more of app than its status.
func specWritten(app *v1alpha1.Application) time.Time {
	written := app.CreationTimestamp.Time
	for i := range app.ManagedFields {
		entry := &app.ManagedFields[i]
		if entry.Subresource == "status" || entry.Manager == v1alpha1.FieldManagerFinalizer || entry.Time == nil {
			continue
		}
		if entry.Time.After(written) {
			written = entry.Time.Time
		}
	}
	return written
}
