package controllers

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Scope is the part of a cluster's Applications that an operator handles. The zero value is all of them.
type Scope struct {
	// Namespaces are the watched ones. Empty: all.
	Namespaces []string
	// Selector selects Applications by their labels. Nil: all.
	Selector labels.Selector
}

// covers reports whether the scope has the object in it.
func (s Scope) covers(object client.Object) bool {
	return (len(s.Namespaces) == 0 || slices.Contains(s.Namespaces, object.GetNamespace())) &&
		(s.Selector == nil || s.Selector.Matches(labels.Set(object.GetLabels())))
}

// overlaps reports whether an Application could be in both scopes.
func (s Scope) overlaps(o Scope) bool {
	if len(s.Namespaces) > 0 && len(o.Namespaces) > 0 && !sets.New(s.Namespaces...).HasAny(o.Namespaces...) {
		return false
	}
	return s.Selector == nil || o.Selector == nil || !exclusive(s.Selector, o.Selector)
}

// exclusive reports whether no set of labels matches both selectors. It looks at each key alone.
func exclusive(a, b labels.Selector) bool {
	requirements, selectable := a.Requirements()
	others, selectableToo := b.Requirements()
	if !selectable || !selectableToo {
		return true // one of them matches nothing
	}
	byKey := map[string][]labels.Requirement{}
	for _, requirement := range slices.Concat(requirements, others) {
		byKey[requirement.Key()] = append(byKey[requirement.Key()], requirement)
	}
	for _, requirements := range byKey {
		if unsatisfiable(requirements) {
			return true
		}
	}
	return false
}

// unsatisfiable reports whether no value of a label, and not its absence either, meets all requirements. Comparisons of
// numbers are taken for satisfiable.
func unsatisfiable(requirements []labels.Requirement) bool {
	var allowed sets.Set[string] // nil: any value
	refused := sets.New[string]()
	mayBeAbsent, mayBePresent := true, true
	for i := range requirements {
		values := sets.New(requirements[i].ValuesUnsorted()...)
		switch requirements[i].Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			mayBeAbsent = false
			if allowed == nil {
				allowed = values
			} else {
				allowed = allowed.Intersection(values)
			}
		case selection.NotIn, selection.NotEquals:
			refused = refused.Union(values)
		case selection.Exists, selection.GreaterThan, selection.LessThan:
			mayBeAbsent = false
		case selection.DoesNotExist:
			mayBePresent = false
		}
	}
	mayBePresent = mayBePresent && (allowed == nil || allowed.Difference(refused).Len() > 0)
	return !mayBeAbsent && !mayBePresent
}

// scopeText is how a scope is written on a Lease.
type scopeText struct {
	Namespaces []string `json:"namespaces,omitempty"`
	Selector   string   `json:"selector,omitempty"`
}

// encode returns the scope as it is written on a Lease.
func (s Scope) encode() string {
	text := scopeText{Namespaces: s.Namespaces}
	if s.Selector != nil {
		text.Selector = s.Selector.String()
	}
	encoded, err := json.Marshal(text)
	if err != nil {
		return "{}" // strings always have a JSON form
	}
	return string(encoded)
}

// decodeScope reads what encode wrote. What says nothing stands for all Applications.
func decodeScope(encoded string) (Scope, error) {
	if encoded == "" {
		return Scope{}, nil
	}
	text := scopeText{}
	if err := json.Unmarshal([]byte(encoded), &text); err != nil {
		return Scope{}, fmt.Errorf("reading a scope: %w", err)
	}
	scope := Scope{Namespaces: text.Namespaces}
	if text.Selector == "" {
		return scope, nil
	}
	var err error
	if scope.Selector, err = labels.Parse(text.Selector); err != nil {
		return Scope{}, fmt.Errorf("reading a scope: %w", err)
	}
	return scope, nil
}
