package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

const operatorNamespace = "application-operator-system"

// OperatorUser is the identity that the operator runs under.
const OperatorUser = "system:serviceaccount:" + operatorNamespace + ":application-operator"

// Options say what to run.
type Options struct {
	// Controllers also runs kube-controller-manager, kube-scheduler and kwok: Deployments roll out, owners take their
	// children with them.
	Controllers bool
	// Manifests is a file to install from, instead of the CRD and the roles in deploy.
	Manifests string
	// APIServerArgs are more flags for kube-apiserver.
	APIServerArgs []string
	// Output receives a copy of the operator's log, if not nil.
	Output io.Writer
}

// Environment is a cluster with the operator's CRD and roles, and the operator itself once StartOperator was called.
type Environment struct {
	*cluster.Cluster
	// Client is the administrator's. It reads and writes without any cache.
	Client client.Client

	binary     string
	kubeconfig string
	output     io.Writer
	operator   *cluster.Process
	metrics    string // where it serves its metrics
	starts     int
}

// Start starts a cluster, installs the CRD and the roles, and builds the operator. Stop ends everything.
func Start(ctx context.Context, o Options) (*Environment, error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	binary, err := buildOperator(ctx, root)
	if err != nil {
		return nil, err
	}
	options := cluster.Options{Controllers: o.Controllers, APIServerArgs: o.APIServerArgs}
	if o.Manifests == "" {
		options.CRDs = []string{filepath.Join(root, "deploy", "crd")}
	}
	c, err := cluster.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	e := &Environment{Cluster: c, binary: binary, output: o.Output}
	if err := e.prepare(ctx, root, o.Manifests); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return e, nil
}

func (e *Environment) prepare(ctx context.Context, root, manifests string) (err error) {
	if e.Client, err = client.New(e.Config(), client.Options{Scheme: newScheme()}); err != nil {
		return fmt.Errorf("creating the administrator's client: %w", err)
	}
	if err = e.authorize(ctx, root, manifests); err != nil {
		return err
	}
	e.kubeconfig, err = e.KubeconfigFor(OperatorUser)
	return err
}

// authorize gives the operator the rights that it has in production.
func (e *Environment) authorize(ctx context.Context, root, manifests string) error {
	if manifests != "" {
		if _, err := e.Kubectl(ctx, "apply", "--server-side", "--filename", manifests); err != nil {
			return fmt.Errorf("installing %s: %w", manifests, err)
		}
		return nil
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}}
	if err := client.IgnoreAlreadyExists(e.Client.Create(ctx, namespace)); err != nil {
		return fmt.Errorf("creating the operator's namespace: %w", err)
	}
	if _, err := e.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(root, "deploy", "rbac")); err != nil {
		return fmt.Errorf("granting the operator's rights: %w", err)
	}
	return nil
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}
