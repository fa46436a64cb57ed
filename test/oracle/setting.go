package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// setting is one field in the short language of programs: image=a:1, env.A=2. The same names stand for the fields of an
// Application's spec and for those of the children that they lead to.
type setting struct {
	key   string
	value string
	// absent: the field is taken away. It is written -image.
	absent bool
}

func (s setting) String() string {
	if s.absent {
		return "-" + s.key
	}
	return s.key + "=" + s.value
}

func parseSetting(text string) (setting, error) {
	if key, ok := strings.CutPrefix(text, "-"); ok && key != "" {
		return setting{key: key, absent: true}, nil
	}
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return setting{}, fmt.Errorf("%q is neither KEY=VALUE nor -KEY", text)
	}
	return setting{key: key, value: value}, nil
}

// settings are the fields of one object, each key once, sorted.
type settings []setting

// with returns s changed by others: each replaces the one of its key, or takes it away.
func (s settings) with(others ...setting) settings {
	changed := slices.Clone(s)
	for _, other := range others {
		changed = slices.DeleteFunc(changed, func(one setting) bool { return one.key == other.key })
		if !other.absent {
			changed = append(changed, other)
		}
	}
	slices.SortFunc(changed, func(a, b setting) int { return strings.Compare(a.key, b.key) })
	return changed
}

// get returns the value of a key.
func (s settings) get(key string) (string, bool) {
	for _, one := range s {
		if one.key == key && !one.absent {
			return one.value, true
		}
	}
	return "", false
}
