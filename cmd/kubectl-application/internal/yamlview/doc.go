// Package yamlview shows a tree of fields as YAML with the owners beside each line. The YAML is a document of its own: the
// owners are comments.
package yamlview
