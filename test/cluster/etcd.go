package cluster

// startEtcd starts etcd without waiting for it: kube-apiserver does that.
func (c *Cluster) startEtcd() error {
	client, peer := "http://"+c.etcdPort.address(), "http://"+c.peerPort.address()
	return c.startComponent("etcd", nil,
		"--data-dir="+c.layout.etcdData(),
		"--listen-client-urls="+client,
		"--advertise-client-urls="+client,
		"--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer,
		"--initial-cluster=default="+peer,
		"--socket-reuse-port=true", // see reservedPort
		"--unsafe-no-fsync=true",   // the data needn't survive a power cut
		"--log-level=warn",
	)
}
