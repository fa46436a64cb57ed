// Package oracle plays long random programs against the operator and judges every state in which the world comes to
// rest.
//
// A program is a list of steps by several actors: the author of an Application, two other managers that apply, a person
// who updates and patches, an autoscaler, somebody who deletes children or wipes managedFields, and whoever restarts the
// operator or the API server. Programs run many at a time, each in a namespace of its own, against one API server and
// one operator.
//
// The judge knows nothing of the operator's code. It reads what the API server holds (values, managedFields, status),
// every version that objects went through, and the audit log, and applies the rules of the design, written out plainly:
//
//   - expect.go: what must hold at rest (I5, I6, and that the state is reached at all)
//   - transitions.go: what a single write of the operator may change (I1, I2, I4, no value lost in a hand-over)
//   - rest.go: that the operator then falls silent (I3), also across a restart (I7)
//
// A failing program is reduced to the steps that it needs and printed in a form that can be pasted into testdata.
package oracle
