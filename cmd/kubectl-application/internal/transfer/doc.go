// Package transfer moves the ownership of single fields of a child, when a person says so: from other managers to the
// operator, or from the operator to another manager. It rewrites who owns a field, in one patch that changes no value and
// that fails if the object has changed. It never applies anything, let alone by force.
package transfer
