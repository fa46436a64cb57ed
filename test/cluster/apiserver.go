package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

const (
	apiServerName = "kube-apiserver"
	serviceCIDR   = "10.96.0.0/16"
	apiServiceIP  = "10.96.0.1"
	tokenIssuer   = "https://kubernetes.default.svc.cluster.local"
)

// writeAPIServerFiles writes the files that kube-apiserver's flags name.
func (c *Cluster) writeAPIServerFiles() error {
	serving, err := c.authority.issueServing()
	if err != nil {
		return err
	}
	tokenPrivate, tokenPublic, err := newTokenKey()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"ca.crt":        c.authority.pem(),
		"apiserver.crt": serving.certificate,
		"apiserver.key": serving.key,
		"token.key":     tokenPrivate,
		"token.pub":     tokenPublic,
	} {
		if err := os.WriteFile(c.layout.pkiFile(name), content, 0o600); err != nil {
			return err
		}
	}
	c.auditPolicy, err = c.layout.writeConfig("audit-policy.yaml", []byte(c.options.AuditPolicy))
	return err
}

func (c *Cluster) startAPIServer() error {
	if err := c.Audit().endCutLine(); err != nil {
		return fmt.Errorf("go on with the audit log: %w", err)
	}
	args := []string{
		"--etcd-servers=http://" + c.etcdPort.address(),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.apiPort.number),
		"--permit-port-sharing=true", // see reservedPort
		"--tls-cert-file=" + c.layout.pkiFile("apiserver.crt"),
		"--tls-private-key-file=" + c.layout.pkiFile("apiserver.key"),
		"--client-ca-file=" + c.layout.pkiFile("ca.crt"),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=" + serviceCIDR,
		"--service-account-issuer=" + tokenIssuer,
		"--service-account-key-file=" + c.layout.pkiFile("token.pub"),
		"--service-account-signing-key-file=" + c.layout.pkiFile("token.key"),
		// Without these it looks for an address of this machine that Pods could use,
		// and fails on one that has no network.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		// Blocking: an event is in the file before the response is complete.
		"--audit-log-mode=blocking-strict",
		"--audit-log-path=" + c.layout.auditLog(),
		"--audit-log-maxsize=0", // no rotation
		"--audit-policy-file=" + c.auditPolicy,
		"--allow-privileged=true",
		"--profiling=false",
	}
	if !c.options.Controllers {
		// Nobody makes the service accounts that it would insist on.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return c.startComponent(apiServerName, nil, append(args, c.options.APIServerArgs...)...)
}

// StopAPIServer ends kube-apiserver as abruptly as a crash does. Connections
// break, and new ones are refused until StartAPIServer.
func (c *Cluster) StopAPIServer() error {
	if c.existing {
		return errors.New("an existing cluster's API server can't be stopped")
	}
	p := c.component(apiServerName)
	if p == nil {
		return errors.New("the API server isn't running")
	}
	return p.Kill()
}

// StartAPIServer starts kube-apiserver again, with the same address,
// certificates and data, and waits until it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	if c.existing {
		return errors.New("an existing cluster's API server can't be started")
	}
	if err := c.startAPIServer(); err != nil {
		return err
	}
	return c.waitForAPI(ctx)
}

// LogFile returns the file with everything a component or a process of
// StartProcess printed, such as "kube-apiserver".
func (c *Cluster) LogFile(name string) string {
	return filepath.Join(c.layout.logs(), fmt.Sprintf("%s.log", name))
}
