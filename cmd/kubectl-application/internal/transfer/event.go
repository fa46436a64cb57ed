package transfer

import (
	"context"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
)

// verb is what a person does.
type verb struct {
	// action and reason are those of the Event.
	action, reason string
}

var (
	takeVerb    = verb{action: "Take", reason: "FieldTaken"}
	releaseVerb = verb{action: "Release", reason: "FieldReleased"}
)

// maxNote is the API server's limit on the note of an Event, in bytes.
const maxNote = 1024

// leaveEvent says on the Application who did what. Values are not told: whoever may read Events may not be allowed to read them.
func (t *transfer) leaveEvent(ctx context.Context, c *cli.Client, change *Change) error {
	app := change.Child.App
	at := metav1.NowMicro()
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: app.Namespace,
			Name:      fmt.Sprintf("%s.%x", app.Name, at.UnixNano()),
		},
		EventTime:           at,
		ReportingController: v1alpha1.GroupName + "/" + fieldManager,
		ReportingInstance:   fieldManager,
		Action:              t.verb.action,
		Reason:              t.verb.reason,
		Regarding: corev1.ObjectReference{
			APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.Kind,
			Namespace: app.Namespace, Name: app.Name, UID: app.UID, ResourceVersion: t.application.GetResourceVersion(),
		},
		Related: reference(change),
		Note:    truncate(t.note(who(ctx, c), change)),
		Type:    corev1.EventTypeNormal,
	}
	return cli.Explain(c.Create(ctx, event), cli.Request{
		Verb: "create", Resource: schema.GroupResource{Group: eventsv1.GroupName, Resource: "events"}, Namespace: app.Namespace,
	})
}

func reference(change *Change) *corev1.ObjectReference {
	live := change.Child.Live
	var fields []string
	for i := range change.Fields {
		fields = append(fields, change.Fields[i].Path.String())
	}
	return &corev1.ObjectReference{
		APIVersion: live.GetAPIVersion(), Kind: live.GetKind(), Namespace: live.GetNamespace(), Name: live.GetName(), UID: live.GetUID(),
		FieldPath: strings.Join(fields, ";"),
	}
}

func (t *transfer) note(user string, change *Change) string {
	what := make([]string, 0, len(change.Fields))
	for i := range change.Fields {
		field := &change.Fields[i]
		switch {
		case t.verb == takeVerb && len(field.From) == 0, t.verb == releaseVerb && len(field.From) == 0 && field.To == nil:
			// The operator had it, or shared it, already.
		case t.verb == takeVerb:
			what = append(what, fmt.Sprintf("%s from %s", field.Path, words.Managers(field.From)))
		case field.To != nil:
			what = append(what, fmt.Sprintf("%s to %s", field.Path, words.Managers([]ownership.Manager{*field.To})))
		default:
			what = append(what, field.Path.String())
		}
	}
	done := "took"
	if t.verb == releaseVerb {
		done = "released"
	}
	return fmt.Sprintf("%s %s, of %s %s: %s", user, done, change.Child.Live.GetKind(), change.Child.Live.GetName(), strings.Join(what, "; "))
}

// who returns the name by which the API server knows the user.
func who(ctx context.Context, c *cli.Client) string {
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, review); err != nil || review.Status.UserInfo.Username == "" {
		return "Somebody whom the API server did not name"
	}
	return review.Status.UserInfo.Username
}

func truncate(note string) string {
	if len(note) <= maxNote {
		return note
	}
	return strings.ToValidUTF8(note[:maxNote-len("…")], "") + "…"
}
