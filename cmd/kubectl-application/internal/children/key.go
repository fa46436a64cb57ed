package children

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// IsKey reports whether a path is that of a key of a list item. Who has a part in an item owns its keys.
func IsKey(path fieldpath.Path) bool {
	n := len(path)
	if n < 2 || path[n-2].Key == nil || path[n-1].FieldName == nil {
		return false
	}
	for _, key := range *path[n-2].Key {
		if key.Name == *path[n-1].FieldName {
			return true
		}
	}
	return false
}
