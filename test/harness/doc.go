// Package harness runs the operator's real binary, under exactly the rights that deploy/rbac grants, against a real
// control plane, and gives suites the means to play its users, its neighbours and its auditors.
package harness
