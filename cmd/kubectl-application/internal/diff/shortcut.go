package diff

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
)

// shortcut stands for all steps of a plan, since the dry runs of several applies cannot build on each other.
type shortcut struct {
	// intent is what one dry run applies. It holds on to the fields that earlier steps are about, at their live values. Nil
	// means that no step of the operator changes anything.
	intent *ownership.Intent
	// handedOver are the fields that change hands on the way, and so keep a value when the operator lets go of them.
	handedOver *fieldpath.Set
	// then are the intents that tell the values of those fields after the last step, and gone those that it removes.
	then []valued
	gone *fieldpath.Set
}

// valued are fields with the values that they have in an intent.
type valued struct {
	intent *ownership.Intent
	fields *fieldpath.Set
}

// shorten makes one step of a plan for a live child.
func shorten(plan *transition.Plan, live ownership.Object) (*shortcut, error) {
	s := &shortcut{handedOver: fieldpath.NewSet(), gone: fieldpath.NewSet()}
	var earlier []*ownership.Intent
	for _, step := range plan.Steps {
		switch {
		case step.Manager() == operator && s.intent != nil:
			earlier, s.intent = append(earlier, s.intent), step
		case step.Manager() == operator:
			s.intent = step
		case step.Manager() == handover && s.intent == nil:
			s.handedOver = s.handedOver.Union(step.Fields())
			s.then = append(s.then, valued{step, step.Fields()})
		}
	}
	if s.intent == nil {
		return s, nil
	}
	held := s.handedOver
	for _, step := range earlier {
		s.gone = s.gone.Union(step.Fields().Difference(s.intent.Fields()))
		changed := differing(step, s.intent)
		s.then = append(s.then, valued{s.intent, changed})
		held = held.Union(changed)
	}
	held = held.Union(s.gone)
	if held.Empty() {
		return s, nil
	}
	rest, err := s.intent.WithoutFields(held)
	if err == nil {
		s.intent, err = rest.WithLive(live, held)
	}
	return s, err
}

// differing returns the fields that both intents have, with different values.
func differing(a, b *ownership.Intent) *fieldpath.Set {
	fields := fieldpath.NewSet()
	a.Fields().Intersection(b.Fields()).Leaves().Iterate(func(path fieldpath.Path) {
		valueOfA, _ := a.Value(path)
		valueOfB, _ := b.Value(path)
		if !reflect.DeepEqual(valueOfA, valueOfB) {
			fields.Insert(path.Copy())
		}
	})
	return fields
}

// finish makes of the API server's answer what the last step would leave. The fields in question are plain ones.
func (s *shortcut) finish(answer *unstructured.Unstructured) {
	for _, v := range s.then {
		v.fields.Iterate(func(path fieldpath.Path) {
			value, _ := v.intent.Value(path)
			// It fails only where a parent is no map, and the API server has just answered with these.
			_ = unstructured.SetNestedField(answer.Object, value, names(path)...)
		})
	}
	s.gone.Iterate(func(path fieldpath.Path) {
		at := names(path)
		unstructured.RemoveNestedField(answer.Object, at...)
		for n := len(at) - 1; n > 0; n-- {
			if parent, found, err := unstructured.NestedMap(answer.Object, at[:n]...); err != nil || !found || len(parent) > 0 {
				return
			}
			unstructured.RemoveNestedField(answer.Object, at[:n]...)
		}
	})
}

func names(path fieldpath.Path) []string {
	names := make([]string, 0, len(path))
	for _, element := range path {
		if element.FieldName != nil {
			names = append(names, *element.FieldName)
		}
	}
	return names
}
