package fieldtree

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// lastApplied is the annotation in which `kubectl apply` keeps the whole object, values of variables included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Redact takes the values out that may be secrets: values of environment variables, of Secrets, and of the annotation in
// which kubectl repeats the object.
func (t *Tree) Redact() {
	secret := false
	for _, field := range t.Root.Children {
		secret = secret || field.Name == "kind" && field.Scalar == "Secret"
	}
	t.Root.Walk(func(n *Node) bool {
		if n.Shape == Value && n.Scalar != nil && (isSensitive(n.Path) || secret && isSecretData(n.Path)) {
			n.Scalar, n.Redacted = nil, true
		}
		return true
	})
}

// isSensitive finds the variables of a list called env, as containers have it, and of a map called env, as custom resources
// may have it.
func isSensitive(path fieldpath.Path) bool {
	last := fieldName(path, 0)
	switch {
	case last == lastApplied:
		return true
	case fieldName(path, 1) == "env":
		return true
	default:
		return last == "value" && fieldName(path, 1) == "" && fieldName(path, 2) == "env"
	}
}

func isSecretData(path fieldpath.Path) bool {
	first := fieldName(path, len(path)-1)
	return first == "data" || first == "stringData"
}

// fieldName returns the name of the field that many steps before the end, and nothing for the item of a list.
func fieldName(path fieldpath.Path, before int) string {
	i := len(path) - 1 - before
	if i < 0 || path[i].FieldName == nil {
		return ""
	}
	return *path[i].FieldName
}
