package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// announcement is what users have been told of an Application by Events.
type announcement struct {
	uid       types.UID
	synced    outcomeOf
	ready     string
	conflicts []v1alpha1.FieldConflict
}

// outcomeOf is what of a condition an Event is worth.
type outcomeOf struct {
	status metav1.ConditionStatus
	reason string
}

func announce(status *v1alpha1.ApplicationStatus) announcement {
	a := announcement{conflicts: status.Conflicts}
	if synced := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionSynced); synced != nil {
		a.synced = outcomeOf{status: synced.Status, reason: synced.Reason}
	}
	if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); ready != nil {
		a.ready = ready.Reason
	}
	return a
}

// announcements remembers the last announcement for each Application.
type announcements struct {
	mu   sync.Mutex
	last map[client.ObjectKey]announcement
}

func newAnnouncements() *announcements {
	return &announcements{last: map[client.ObjectKey]announcement{}}
}

// replace remembers is and returns what it replaces: the last announcement or, if there is none for this very
// Application, what its live status says.
func (a *announcements) replace(app *v1alpha1.Application, is announcement) (was, now announcement) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := client.ObjectKeyFromObject(app)
	is.uid = app.UID
	was, found := a.last[key]
	if !found || was.uid != app.UID {
		was = announce(&app.Status)
	}
	a.last[key] = is
	return was, is
}

// forget drops what is remembered for the Application of that key.
func (a *announcements) forget(app client.ObjectKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, app)
}
