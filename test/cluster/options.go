package cluster

import (
	"os"
	"strconv"
)

const (
	// EnvAssets names the folder to look for the components' binaries in first.
	EnvAssets = "KUBEBUILDER_ASSETS"
	// EnvExisting makes Start use the cluster that kubectl would use.
	EnvExisting = "USE_EXISTING_CLUSTER"
	// DefaultNodes is how many fake nodes a cluster with controllers has.
	DefaultNodes = 3
)

// Options say what a cluster consists of. The zero value is an etcd and a
// kube-apiserver.
type Options struct {
	// Controllers also runs kube-controller-manager, kube-scheduler and kwok.
	Controllers bool
	// Nodes is the number of fake nodes, DefaultNodes if 0. Only with Controllers.
	Nodes int
	// CRDs are folders or files of CustomResourceDefinitions to install. They are
	// established before the controllers start: the garbage collector looks for new
	// resources only every half minute, but knows these from the beginning.
	CRDs []string
	// AuditPolicy is the YAML of an audit.k8s.io/v1 Policy to use instead of the
	// default, which records the bodies of writes and the metadata of the rest.
	AuditPolicy string
	// APIServerArgs are more flags for kube-apiserver, such as
	// "--feature-gates=…". A flag given here wins over the one set by this package.
	APIServerArgs []string
	// Dir is the folder for data, logs, certificates and kubeconfigs. What an
	// earlier cluster left in it is replaced, and Stop leaves all but the data. By
	// default it is a temporary folder, which goes with the cluster.
	Dir string
	// Kubeconfig is the kubeconfig of a cluster to use instead of starting one. By
	// default that happens only if EnvExisting asks for it.
	Kubeconfig string
}

func (o Options) withDefaults() Options {
	if o.Nodes == 0 {
		o.Nodes = DefaultNodes
	}
	if o.AuditPolicy == "" {
		o.AuditPolicy = defaultAuditPolicy
	}
	return o
}

// UsesExisting reports whether EnvExisting asks for the cluster that kubectl would
// use.
func UsesExisting() bool { return Options{}.useExisting() }

// useExisting reports whether to use a cluster that runs already.
func (o Options) useExisting() bool {
	asked, err := strconv.ParseBool(os.Getenv(EnvExisting))
	return o.Kubeconfig != "" || (err == nil && asked)
}
