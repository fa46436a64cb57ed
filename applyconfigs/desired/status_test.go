package desired_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
)

// statusOf returns the apply configuration of a status as it goes over the wire.
func statusOf(t *testing.T, app *v1alpha1.Application, status *v1alpha1.ApplicationStatus) map[string]any {
	t.Helper()
	config, err := desired.Status(app, status)
	if err != nil {
		t.Fatal(err)
	}
	return wire(t, config)
}

// TestStatusRoundTrip fills every field of the status that exists, however deep, and expects each of them back.
func TestStatusRoundTrip(t *testing.T) {
	status := &v1alpha1.ApplicationStatus{}
	fill(reflect.ValueOf(status).Elem())
	for i := range status.ServiceStatus.Conditions {
		status.ServiceStatus.Conditions[i].Status = metav1.ConditionTrue // others are dropped
	}
	got := descend(t, statusOf(t, application(v1alpha1.ApplicationSpec{Image: "i"}), status), "status")

	if diff := cmp.Diff(wire(t, status), got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	for field := range reflect.TypeFor[v1alpha1.ApplicationStatus]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, found := got[name]; !found {
			t.Errorf("the apply configuration has no %s: `make generate`, or omitempty, dropped it", name)
		}
	}
}

// TestStatusDropsInvalidConditions: the API server takes any condition of a Service, the CustomResourceDefinition does not.
func TestStatusDropsInvalidConditions(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	good := metav1.Condition{Type: "Programmed", Status: metav1.ConditionTrue, Reason: "Done", LastTransitionTime: now}
	var all []metav1.Condition
	for _, spoil := range []func(*metav1.Condition){
		func(*metav1.Condition) {},
		func(c *metav1.Condition) { c.Reason = "" },
		func(c *metav1.Condition) { c.Reason = "not a reason" },
		func(c *metav1.Condition) { c.Status = "maybe" },
		func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} },
		func(c *metav1.Condition) { c.Type = "" },
	} {
		c := good
		spoil(&c)
		all = append(all, c)
	}
	status := &v1alpha1.ApplicationStatus{ServiceStatus: &corev1.ServiceStatus{Conditions: all}}
	app := application(v1alpha1.ApplicationSpec{Image: "i"})
	want := wire(t, &v1alpha1.ApplicationStatus{ServiceStatus: &corev1.ServiceStatus{Conditions: all[:1]}})["serviceStatus"].(map[string]any)["conditions"]
	got := descend(t, statusOf(t, app, status), "status", "serviceStatus")["conditions"]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions of the Service (-want +got):\n%s", diff)
	}
	if len(status.ServiceStatus.Conditions) != len(all) {
		t.Error("the status itself was changed")
	}
}

// TestStatusHoldsNothingElse: whatever else were in it, the status' field manager would own.
func TestStatusHoldsNothingElse(t *testing.T) {
	app := readApplication(t, "everything.input.yaml")
	before := app.DeepCopy()
	config := statusOf(t, app, &v1alpha1.ApplicationStatus{Phase: v1alpha1.PhasePending})
	want := map[string]any{
		"apiVersion": "application.mycompany.io/v1alpha1",
		"kind":       "Application",
		"metadata":   map[string]any{"name": "web", "namespace": "shop"},
		"status":     map[string]any{"phase": "Pending"},
	}
	if diff := cmp.Diff(want, config); diff != "" {
		t.Errorf("status of nothing but a phase (-want +got):\n%s", diff)
	}
	if !reflect.DeepEqual(before, app) {
		t.Error("the Application was changed")
	}
}

// TestStatusIsFresh: the client overwrites what it is given, which must not reach the status that Events are made of.
func TestStatusIsFresh(t *testing.T) {
	app := application(v1alpha1.ApplicationSpec{Image: "i"})
	status := &v1alpha1.ApplicationStatus{}
	fill(reflect.ValueOf(status).Elem())
	before := status.DeepCopy()
	want := statusOf(t, app, status)

	config, err := desired.Status(app, status)
	if err != nil {
		t.Fatal(err)
	}
	scribble(reflect.ValueOf(config))
	if !reflect.DeepEqual(before, status) {
		t.Errorf("the status was changed (-before +after):\n%s", cmp.Diff(wire(t, before), wire(t, status)))
	}
	if diff := cmp.Diff(want, statusOf(t, app, status)); diff != "" {
		t.Errorf("the next status differs (-first +next):\n%s", diff)
	}
}

// TestStatusKeepsEmptyMessage: the CustomResourceDefinition requires the message of a condition, even an empty one.
func TestStatusKeepsEmptyMessage(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	got := statusOf(t, application(v1alpha1.ApplicationSpec{Image: "i"}), &v1alpha1.ApplicationStatus{
		Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Progressing", LastTransitionTime: at}},
	})
	want := map[string]any{"conditions": []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "Progressing", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z",
	}}}
	if diff := cmp.Diff(want, descend(t, got, "status")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// fill gives every field that can be reached from v a value that JSON shows.
func fill(v reflect.Value) {
	switch target := v.Addr().Interface().(type) {
	case *metav1.Time:
		*target = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		return
	case **int32:
		*target = new(int32(3))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.String:
		v.SetString("filled")
	case reflect.Int32, reflect.Int64:
		v.SetInt(5)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("the status has a field of a kind that is not filled yet: " + v.Type().String())
	}
}
