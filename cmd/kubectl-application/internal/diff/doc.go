// Package diff shows what an Application would do to its children. The operator's own code builds and plans the applies,
// and the API server answers them in unforced dry runs, so that defaults, admission and validation have their say.
package diff
