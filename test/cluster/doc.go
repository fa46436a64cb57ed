// Package cluster runs Kubernetes control planes for suites and for people: etcd
// and kube-apiserver, and on request kube-controller-manager, kube-scheduler and
// kwok with fake nodes, so that Deployments roll out and Pods become Ready.
//
// A cluster belongs to the process that started it and doesn't outlive it, not
// even when that process is killed. Any number of clusters run side by side.
//
// The binaries come from $KUBEBUILDER_ASSETS, else from bin/controlplane, which
// `make controlplane` fills. With USE_EXISTING_CLUSTER=true nothing is started,
// and the cluster of the current kubeconfig is used instead.
package cluster
