package cli

import (
	"k8s.io/utils/ptr"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
)

// Target returns what printed commands are to be about: a namespace of the cluster that the flags name.
func (f *Factory) Target(namespace string) shell.Target {
	return shell.Target{
		Namespace:  namespace,
		Context:    ptr.Deref(f.Config.Context, ""),
		Kubeconfig: ptr.Deref(f.Config.KubeConfig, ""),
	}
}
