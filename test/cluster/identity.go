package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// adminGroup may do everything, without any RBAC binding.
const adminGroup = "system:masters"

// ConfigFor returns a client configuration for a user and its groups, to which
// RBAC applies: a client certificate, or impersonation on an existing cluster.
// "system:serviceaccount:NAMESPACE:NAME" stands for a service account.
// The configuration limits the rate of requests no more than Config does.
func (c *Cluster) ConfigFor(user string, groups ...string) *rest.Config {
	if c.existing {
		config := rest.CopyConfig(c.admin)
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
		return config
	}
	pair, err := c.authority.issueClient(user, groups...)
	if err != nil {
		// Only a broken random source could cause it.
		panic(fmt.Sprintf("cluster: %v", err))
	}
	return &rest.Config{
		Host: "https://" + c.apiPort.address(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.authority.pem(),
			CertData: pair.certificate,
			KeyData:  pair.key,
		},
		QPS: -1,
	}
}

// KubeconfigFor writes a kubeconfig for a user, as ConfigFor describes, and
// returns its path.
func (c *Cluster) KubeconfigFor(user string, groups ...string) (string, error) {
	// Colons, as in the names of service accounts, separate the files in $KUBECONFIG.
	name := strings.NewReplacer(":", "_", "/", "_").Replace(user)
	return c.writeKubeconfig(name, c.ConfigFor(user, groups...))
}

func (c *Cluster) writeKubeconfig(name string, config *rest.Config) (string, error) {
	path := filepath.Join(c.layout.kubeconfigs(), name)
	content, err := clientcmd.Write(kubeconfig(config))
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("write the kubeconfig of %s: %w", name, err)
	}
	return path, nil
}

func kubeconfig(config *rest.Config) clientcmdapi.Config {
	const name = "application-operator"
	result := *clientcmdapi.NewConfig()
	result.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   config.Host,
		CertificateAuthority:     config.CAFile,
		CertificateAuthorityData: config.CAData,
		InsecureSkipTLSVerify:    config.Insecure,
		TLSServerName:            config.ServerName,
	}
	result.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificate:     config.CertFile,
		ClientCertificateData: config.CertData,
		ClientKey:             config.KeyFile,
		ClientKeyData:         config.KeyData,
		Token:                 config.BearerToken,
		TokenFile:             config.BearerTokenFile,
		Username:              config.Username,
		Password:              config.Password,
		Exec:                  config.ExecProvider,
		Impersonate:           config.Impersonate.UserName,
		ImpersonateGroups:     config.Impersonate.Groups,
	}
	result.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	result.CurrentContext = name
	return result
}
