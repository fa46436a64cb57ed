package ownership

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// WithLive returns the intent with the given fields, and all they contain, added at their live values; those that live
// does not have are left out. Applied unforced it makes the manager a co-owner of these fields without changing one value, which is how
// ownership is handed over before another manager, or a later intent of the same one, lets go of it.
//
// The error says that live is nil or does not fit the intent's kind.
func (i *Intent) WithLive(live Object, fields *fieldpath.Set) (*Intent, error) {
	if isNil(live) {
		return nil, fmt.Errorf("no live %s", i.kind.gvk.Kind)
	}
	object, err := i.kind.live(live)
	if err != nil {
		return nil, err
	}
	all, err := object.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("fields of live %s: %w", i.kind.gvk.Kind, err)
	}
	existing := object.ExtractItems(within(all, fields).Difference(unownedFields), typed.WithAppendKeyFields())
	config, err := i.config.Merge(existing)
	if err != nil {
		return nil, fmt.Errorf("merging %s: %w", i.kind.gvk.Kind, err)
	}
	return newIntent(i.kind, i.manager, config)
}
