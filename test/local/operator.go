package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"mycompany.io/application-operator/test/cluster"
)

const (
	// The names that deploy/rbac gives rights to.
	operatorNamespace = "application-operator-system"
	operatorAccount   = "system:serviceaccount:" + operatorNamespace + ":application-operator"
	// The names in deploy/samples.
	sampleNamespace = "shop"
	sampleName      = "web"
)

// installation says where the operator and its manifests are.
type installation struct {
	binary string
	deploy string
	// metrics is the address at which the operator serves its metrics.
	metrics string
}

func (i *installation) bindFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.binary, "operator", filepath.Join("bin", "application-operator"), "the operator's binary")
	cmd.Flags().StringVar(&i.deploy, "deploy", "deploy", "folder of the operator's manifests")
	cmd.Flags().StringVar(&i.metrics, "metrics", "0", "address at which the operator serves its metrics; 0 serves none")
}

func (i *installation) crds() string    { return filepath.Join(i.deploy, "crd") }
func (i *installation) rbac() string    { return filepath.Join(i.deploy, "rbac") }
func (i *installation) samples() string { return filepath.Join(i.deploy, "samples") }

// check tells what is missing before anything is started.
func (i *installation) check() error {
	for path, advice := range map[string]string{
		i.binary:    "build it with `make build`",
		i.crds():    "run this from the repository's root, or name the folder by --deploy",
		i.rbac():    "run this from the repository's root, or name the folder by --deploy",
		i.samples(): "run this from the repository's root, or name the folder by --deploy",
	} {
		if _, err := os.Stat(path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s doesn't exist: %s", path, advice)
			}
			return err
		}
	}
	return nil
}

// authorize gives the operator's identity the rights that it has in production.
func (i *installation) authorize(ctx context.Context, t *terminal) error {
	if err := createOperatorNamespace(ctx, t.cluster); err != nil {
		return fmt.Errorf("create namespace %s: %w", operatorNamespace, err)
	}
	return t.all(ctx, []string{"apply", "--server-side", "--kustomize", i.rbac()})
}

// applySamples creates what the samples describe.
func (i *installation) applySamples(ctx context.Context, t *terminal) error {
	_, err := t.kubectl(ctx, "apply", "--server-side", "--kustomize", i.samples())
	if err == nil {
		return nil
	}
	if _, missing := t.cluster.Kubectl(ctx, "get", "--kustomize", i.samples(), "--output=name"); missing != nil {
		return err
	}
	t.say("The samples have been changed since they were applied, and are left as they are.")
	return nil
}

// createOperatorNamespace makes the namespace that deploy/rbac refers to. It is
// part of deploy/manager, along with the manager that isn't wanted here.
func createOperatorNamespace(ctx context.Context, c *cluster.Cluster) error {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}}
	_, err = client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil // a second run in the same cluster
	}
	return err
}

// start runs the operator as the service account of deploy/rbac.
func (i *installation) start(c *cluster.Cluster, output io.Writer) (*cluster.Process, error) {
	kubeconfig, err := c.KubeconfigFor(operatorAccount, "system:serviceaccounts", "system:serviceaccounts:"+operatorNamespace)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(i.binary)
	if err != nil {
		return nil, err
	}
	return c.StartProcess(cluster.ProcessOptions{
		Name: "application-operator",
		Path: path,
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			// The usual ports may be taken.
			"--metrics-bind-address=" + i.metrics,
			"--health-probe-bind-address=0",
			"--zap-devel",
		},
		Output: output,
	})
}
