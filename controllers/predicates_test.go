package controllers

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// managedDeployment is a Deployment with a record of owners.
func managedDeployment() *appsv1.Deployment {
	return newDeployment(func(d *appsv1.Deployment) {
		d.Labels = map[string]string{"app": "web"}
		d.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "application-operator", Operation: byApply, APIVersion: "apps/v1", FieldsType: "FieldsV1", Time: &metav1.Time{Time: start},
				FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)},
			{Manager: "kubectl", Operation: byUpdate, APIVersion: "apps/v1", FieldsType: "FieldsV1", Time: &metav1.Time{Time: start},
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{}}}`)},
		}
	})
}

func TestMeaningfulChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*appsv1.Deployment)
		want   bool
	}{
		{"a resync", func(*appsv1.Deployment) {}, false},
		{"resourceVersion only", newVersion, false},
		{"times in managedFields", func(d *appsv1.Deployment) {
			newVersion(d)
			d.ManagedFields[0].Time = &metav1.Time{Time: start.Add(time.Hour)}
			d.ManagedFields[1].Time = nil
		}, false},
		{"a manager gives up a field", changed(func(d *appsv1.Deployment) { d.ManagedFields[1].FieldsV1 = metav1.NewFieldsV1(`{}`) }), true},
		{"a manager takes a field", changed(func(d *appsv1.Deployment) {
			d.ManagedFields[1].FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{}},"f:spec":{"f:replicas":{}}}`)
		}), true},
		{"a manager is gone", changed(func(d *appsv1.Deployment) { d.ManagedFields = d.ManagedFields[:1] }), true},
		{"managedFields are wiped", changed(func(d *appsv1.Deployment) { d.ManagedFields = nil }), true},
		{"a manager's operation", changed(func(d *appsv1.Deployment) { d.ManagedFields[1].Operation = byApply }), true},
		{"a label is removed", changed(func(d *appsv1.Deployment) { delete(d.Labels, "app") }), true},
		{"an annotation is added", changed(func(d *appsv1.Deployment) { d.Annotations = map[string]string{"a": "b"} }), true},
		{"an owner is removed", changed(func(d *appsv1.Deployment) { d.OwnerReferences = nil }), true},
		{"it is being deleted", changed(func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{Time: start} }), true},
		{"it is another object", changed(func(d *appsv1.Deployment) { d.UID = "other" }), true},
		{"spec", changed(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) }), true},
		{"status", changed(func(d *appsv1.Deployment) { d.Status.AvailableReplicas-- }), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := managedDeployment(), managedDeployment()
			c.change(after)
			wasBefore, wasAfter := before.DeepCopy(), after.DeepCopy()
			if got := meaningfulChange().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != c.want {
				t.Errorf("kept: %t, want %t", got, c.want)
			}
			if !reflect.DeepEqual(before, wasBefore) || !reflect.DeepEqual(after, wasAfter) {
				t.Errorf("objects of the cache were changed:\n%s%s", cmp.Diff(wasBefore, before), cmp.Diff(wasAfter, after))
			}
		})
	}
}

func newVersion(d *appsv1.Deployment) { d.ResourceVersion = "201" }

// changed gives the changed object the new version that each write brings.
func changed(change func(*appsv1.Deployment)) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		newVersion(d)
		change(d)
	}
}

func TestMeaningfulChangeKeepsAllElse(t *testing.T) {
	keep, object := meaningfulChange(), managedDeployment()
	if !keep.Create(event.CreateEvent{Object: object}) {
		t.Error("a creation is dropped")
	}
	if !keep.Delete(event.DeleteEvent{Object: object}) {
		t.Error("a deletion is dropped")
	}
	if !keep.Generic(event.GenericEvent{Object: object}) {
		t.Error("a wake-up is dropped")
	}
	if !keep.Update(event.UpdateEvent{ObjectNew: object}) || !keep.Update(event.UpdateEvent{ObjectOld: object}) {
		t.Error("an update of which one side is unknown is dropped")
	}
}

func TestChangedHands(t *testing.T) {
	stranger := func(change func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
		object := &metav1.PartialObjectMetadata{ObjectMeta: childMeta()}
		object.Annotations = map[string]string{"a": "b"}
		change(object)
		return object
	}
	same := func(*metav1.PartialObjectMetadata) {}
	for _, c := range []struct {
		name   string
		change func(*metav1.PartialObjectMetadata)
		want   bool
	}{
		{"nothing", same, false},
		{"version and generation", func(o *metav1.PartialObjectMetadata) { o.ResourceVersion, o.Generation = "201", 3 }, false},
		// A contested field that its owner releases, on an object that asks to be adopted.
		{"managedFields", func(o *metav1.PartialObjectMetadata) { o.ManagedFields = managedDeployment().ManagedFields }, true},
		{"nil for empty", func(o *metav1.PartialObjectMetadata) { o.Finalizers = []string{} }, false},
		{"replaced", func(o *metav1.PartialObjectMetadata) { o.UID = "other" }, true},
		{"being deleted", func(o *metav1.PartialObjectMetadata) { o.DeletionTimestamp = &metav1.Time{Time: start} }, true},
		{"owner removed", func(o *metav1.PartialObjectMetadata) { o.OwnerReferences = nil }, true},
		{"owner's uid", func(o *metav1.PartialObjectMetadata) { o.OwnerReferences[0].UID = "other" }, true},
		{"controller no more", func(o *metav1.PartialObjectMetadata) { o.OwnerReferences[0].Controller = nil }, true},
		{"annotation added", func(o *metav1.PartialObjectMetadata) { o.Annotations["consent"] = "web" }, true},
		{"annotation changed", func(o *metav1.PartialObjectMetadata) { o.Annotations["a"] = "c" }, true},
	} {
		if got := changedHands(stranger(same), stranger(c.change)); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
		if got := changedHands(stranger(c.change), stranger(same)); got != c.want {
			t.Errorf("%s, the other way round: %t, want %t", c.name, got, c.want)
		}
	}
	timed := func(at time.Time) *metav1.PartialObjectMetadata {
		return stranger(func(o *metav1.PartialObjectMetadata) {
			o.ManagedFields = managedDeployment().ManagedFields
			o.ManagedFields[0].Time = &metav1.Time{Time: at}
		})
	}
	if changedHands(timed(start), timed(start.Add(time.Hour))) {
		t.Error("times in managedFields count")
	}
	if !changedHands("no object", stranger(same)) || !changedHands(stranger(same), nil) {
		t.Error("what cannot be read must be looked at")
	}
}

// TestConcerns: all changes of an object matter if the Application controls it or may adopt it, and of no other.
func TestConcerns(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*metav1.PartialObjectMetadata)
		want   bool
	}{
		{"controlled by it", func(*metav1.PartialObjectMetadata) {}, true},
		{"controlled by another", func(o *metav1.PartialObjectMetadata) { o.OwnerReferences[0].UID = "other" }, false},
		{"owned, not controlled", func(o *metav1.PartialObjectMetadata) { o.OwnerReferences[0].Controller = nil }, false},
		{"asks to be adopted by it", func(o *metav1.PartialObjectMetadata) {
			o.OwnerReferences, o.Annotations = nil, map[string]string{"application.mycompany.io/adopt": "web"}
		}, true},
		{"asks to be adopted by another", func(o *metav1.PartialObjectMetadata) {
			o.OwnerReferences, o.Annotations = nil, map[string]string{"application.mycompany.io/adopt": "other"}
		}, false},
		{"nobody's", func(o *metav1.PartialObjectMetadata) { o.OwnerReferences = nil }, false},
	} {
		object := &metav1.PartialObjectMetadata{ObjectMeta: childMeta()}
		c.change(object)
		if got := concerns(object, "web", appUID); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	if concerns("no object", "web", appUID) {
		t.Error("what is no object concerns the Application")
	}
}
