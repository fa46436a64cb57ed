package harness

import (
	"context"
	"fmt"
	"os"

	"mycompany.io/application-operator/test/cluster"
)

// StartReplica starts one more process of the operator, beside the one of StartOperator, and waits until it is ready.
// It acts as the same user, but its requests also carry a group, by which the audit log tells replicas apart. The
// caller stops it; the end of the cluster does so at the latest.
func (e *Environment) StartReplica(ctx context.Context, group string, flags ...string) (*cluster.Process, error) {
	// Both calls write the same file: it is named after the user.
	written, err := e.KubeconfigFor(OperatorUser, group)
	if err != nil {
		return nil, err
	}
	kubeconfig := written + "." + group
	if err := os.Rename(written, kubeconfig); err != nil {
		return nil, fmt.Errorf("naming the kubeconfig of replica %s: %w", group, err)
	}
	if e.kubeconfig, err = e.KubeconfigFor(OperatorUser); err != nil {
		return nil, err
	}
	return e.launch(ctx, kubeconfig, flags...)
}

// OperatorFailure returns an error if the operator of StartOperator has ended without having been asked to.
func (e *Environment) OperatorFailure() error {
	if e.operator == nil {
		return nil
	}
	select {
	case <-e.operator.Done():
		return fmt.Errorf("the operator ended by itself: %w; its last lines:\n%s", e.operator.Err(), e.operator.LogTail())
	default:
		return nil
	}
}

// OperatorNamespace is where the operator's service account lives.
const OperatorNamespace = operatorNamespace

// StartOperatorAs starts one more process of the operator under another identity, and waits until it is ready. The caller
// stops it; the end of the cluster does so at the latest.
func (e *Environment) StartOperatorAs(ctx context.Context, user string, flags ...string) (*cluster.Process, error) {
	kubeconfig, err := e.KubeconfigFor(user)
	if err != nil {
		return nil, err
	}
	return e.launch(ctx, kubeconfig, flags...)
}
