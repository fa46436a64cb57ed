package harness

import (
	"mycompany.io/application-operator/test/cluster"
)

// OperatorRequests returns the operator's requests since mark, in the order in which they were answered. It leaves out
// those that an operator at rest sends, watches and the Lease, and its question about its own rights.
func (e *Environment) OperatorRequests(mark cluster.Mark, filters ...cluster.Filter) (cluster.Events, error) {
	return e.Audit().Since(mark, append(filters,
		cluster.ByUser(OperatorUser),
		cluster.Complete(),
		cluster.Except(cluster.WithVerb("watch")),
		cluster.Except(cluster.OnResource("leases")),
		cluster.Except(cluster.OnResource("selfsubjectaccessreviews")), // the question at the start, which stores nothing
	)...)
}

// OperatorWrites returns the operator's writes since mark, Events left out.
func (e *Environment) OperatorWrites(mark cluster.Mark, filters ...cluster.Filter) (cluster.Events, error) {
	return e.OperatorRequests(mark, append(filters, cluster.Writes(), cluster.Except(cluster.OnResource("events")))...)
}
