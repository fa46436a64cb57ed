package diff

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
)

// shortcut stands for all steps of a plan, since the dry runs of several applies cannot build on each other.
type shortcut struct {
	// intent is the operator's last step. Nil means that no step of the operator changes anything.
	intent *ownership.Intent
	// net is what the last step leads to after the others. Nil means that there are no others: the intent can be applied.
	net *unstructured.Unstructured
	// handedOver are the fields that change hands on the way, and so keep a value when the operator lets go of them.
	handedOver *fieldpath.Set
}

// shorten makes one step of a plan for a child.
func shorten(plan *transition.Plan, child *children.Child) (*shortcut, error) {
	s := &shortcut{handedOver: fieldpath.NewSet()}
	claimed := fieldpath.NewSet()
	for _, step := range plan.Steps {
		switch {
		case step.Manager() == operator:
			if s.intent != nil {
				claimed = claimed.Union(s.intent.Fields())
			}
			s.intent = step.Intent
		case step.Manager() == handover && s.intent == nil:
			s.handedOver = s.handedOver.Union(step.Fields())
		}
	}
	if s.intent == nil || claimed.Empty() && s.handedOver.Empty() {
		return s, nil
	}
	recorded, err := s.recorded(child, claimed)
	if err != nil {
		return nil, err
	}
	merged, err := s.intent.Merge(recorded.Live)
	if err != nil {
		return nil, fmt.Errorf("foretelling several applies: %w", err)
	}
	s.net = merged.Object()
	return s, nil
}

// recorded returns the child with the owners that the steps before the last one lead to. They change no value that the last
// one does not change as well: the operator owns what it has claimed, and the hand-over manager what it keeps.
func (s *shortcut) recorded(child *children.Child, claimed *fieldpath.Set) (*children.Child, error) {
	rewrite, err := ownership.NewRewrite(child.Live)
	if err != nil {
		return nil, err
	}
	version := child.Object.GroupVersionKind().GroupVersion().String()
	rewrite.Add(claimed, operator, version, metav1.Now())
	rewrite.Drop(s.handedOver, func(m ownership.Manager) bool { return m == handover })
	rewrite.Add(s.handedOver.Difference(s.intent.Fields()), handover, version, metav1.Now())
	entries, err := rewrite.Entries()
	if err != nil {
		return nil, err
	}
	return child.WithRecord(entries), nil
}

// netPatch returns the merge patch from the live object to the net effect. It fails if the object has changed meanwhile.
func (s *shortcut) netPatch(live *unstructured.Unstructured) ([]byte, error) {
	now := live.DeepCopy()
	now.SetManagedFields(nil)
	now.SetResourceVersion("") // and so the patch holds it
	current, err := now.MarshalJSON()
	if err != nil {
		return nil, err
	}
	modified, err := s.net.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return jsonmergepatch.CreateThreeWayJSONMergePatch(current, modified, current)
}
