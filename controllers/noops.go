package controllers

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// noOps remembers applies that changed nothing, although the live object is not as it was wanted: admission changes a field
// at each write, or the API server ignores it, for instance since a feature gate is off. The same apply to the same object
// would change nothing again.
//
// Nothing of this is stored, so a restart tries each such apply once more. That is how a policy that has gone is noticed
// where neither the spec nor the child changes.
type noOps struct {
	mu sync.Mutex
	// last is keyed by the Application, then by the kind of the child.
	last map[client.ObjectKey]map[string]noOp
}

type noOp struct {
	// intent is the one that was applied. A new generation of the Application has a new one: see wants.
	intent *ownership.Intent
	// live is the digest of the object that it was applied to.
	live [sha256.Size]byte
}

func newNoOps() *noOps {
	return &noOps{last: map[client.ObjectKey]map[string]noOp{}}
}

// record remembers the outcome of applying the intent to live, if live is not nil.
func (n *noOps) record(app client.ObjectKey, kind string, intent *ownership.Intent, live, answer client.Object) error {
	if live == nil || live.GetUID() != answer.GetUID() || live.GetResourceVersion() != answer.GetResourceVersion() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.last[app], kind)
		return nil
	}
	digest, err := digestOf(live)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last[app] == nil {
		n.last[app] = map[string]noOp{}
	}
	n.last[app][kind] = noOp{intent: intent, live: digest}
	return nil
}

// proven reports whether to apply the intent to live is known to change nothing.
func (n *noOps) proven(app client.ObjectKey, kind string, intent *ownership.Intent, live client.Object) (bool, error) {
	n.mu.Lock()
	last, found := n.last[app][kind]
	n.mu.Unlock()
	if !found || last.intent != intent || live == nil {
		return false, nil
	}
	digest, err := digestOf(live)
	return digest == last.live, err
}

// forget drops all that is remembered for the Application of that key.
func (n *noOps) forget(app client.ObjectKey) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.last, app)
}

// digestOf returns a digest of what an apply to a child depends on. A roll-out that reports its progress changes the
// object's version and status, and when that was written, but not what comes of an apply.
func digestOf(live client.Object) (digest [sha256.Size]byte, err error) {
	object, _ := live.DeepCopyObject().(client.Object)
	object.SetResourceVersion("")
	var entries []metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		if entry.Time = nil; ownsMoreThanStatus(&entry) {
			entries = append(entries, entry)
		}
	}
	object.SetManagedFields(entries)
	switch child := object.(type) {
	case *appsv1.Deployment:
		child.Status = appsv1.DeploymentStatus{}
	case *corev1.Service:
		child.Status = corev1.ServiceStatus{}
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		return digest, fmt.Errorf("encoding %s: %w", client.ObjectKeyFromObject(live), err)
	}
	return sha256.Sum256(encoded), nil
}

// ownsMoreThanStatus drops an entry's fields of the status, which an apply to the object cannot touch. It reports whether
// anything is left: what is written through the status subresource may have metadata in it.
func ownsMoreThanStatus(entry *metav1.ManagedFieldsEntry) bool {
	if entry.Subresource != "status" || entry.FieldsV1 == nil {
		return entry.Subresource != "status"
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
		return true
	}
	delete(fields, "f:status")
	rest, err := json.Marshal(fields)
	if err != nil {
		return true
	}
	entry.FieldsV1 = metav1.NewFieldsV1(string(rest))
	return len(fields) > 0
}
