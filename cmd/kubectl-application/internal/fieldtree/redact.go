package fieldtree

import "mycompany.io/application-operator/cmd/kubectl-application/internal/redact"

// Redact takes the values out that may be secrets.
func (t *Tree) Redact() {
	kind := ""
	for _, field := range t.Root.Children {
		if field.Name == "kind" {
			kind, _ = field.Scalar.(string)
		}
	}
	t.Root.Walk(func(n *Node) bool {
		if n.Shape == Value && n.Scalar != nil && redact.HidesIn(kind, n.Path) {
			n.Scalar, n.Redacted = nil, true
		}
		return true
	})
}
