// Package children sees the children of an Application as the operator does: what it wants of them, whether it may touch
// them, and how it would get there.
package children
