package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"mycompany.io/application-operator/test/cluster"
)

func runCommand(s *state) *cobra.Command {
	i := &installation{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the operator in the foreground, with a control plane and the samples",
		Long: "Run the operator in the foreground, with a control plane and the samples.\n" +
			"Uses the control plane in the background if there is one, else starts its own.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := run(cmd.Context(), cmd.OutOrStdout(), s, i)
			if cmd.Context().Err() != nil && errors.Is(err, context.Canceled) {
				return nil // a signal during the start is as good an end as any
			}
			return err
		},
	}
	i.bindFlags(cmd)
	return cmd
}

func run(ctx context.Context, out io.Writer, s *state, i *installation) (err error) {
	if err := i.check(); err != nil {
		return err
	}
	c, closeCluster, err := openCluster(ctx, out, s, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeCluster()) }()

	t := &terminal{cluster: c, out: out}
	if err := i.authorize(ctx, t); err != nil {
		return interrupted(ctx, err)
	}
	if err := i.applySamples(ctx, t); err != nil {
		return interrupted(ctx, err)
	}
	if err := explain(out, s, c); err != nil {
		return err
	}

	operator, err := i.start(c, out)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		fmt.Fprintln(out, "\nStopping …")
		return operator.Stop()
	case <-operator.Done():
		if err := operator.Err(); err != nil {
			return fmt.Errorf("the operator ended by itself: %w", err)
		}
		return errors.New("the operator ended by itself")
	}
}

// interrupted returns the reason why ctx has ended rather than what that broke.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// openCluster returns the cluster in the background or a new one, with the CRD
// installed, and what undoes that.
func openCluster(ctx context.Context, out io.Writer, s *state, i *installation) (*cluster.Cluster, func() error, error) {
	if cluster.UsesExisting() {
		return openExisting(ctx, out, i)
	}
	running, err := s.owner()
	if err != nil {
		return nil, nil, err
	}
	if running != nil && running.command == ownerUp {
		if err := waitUntilPublished(ctx, s); err != nil {
			return nil, nil, err
		}
		fmt.Fprintln(out, "Using the control plane in the background.")
		c, err := cluster.Start(ctx, cluster.Options{Kubeconfig: s.kubeconfig(), CRDs: []string{i.crds()}})
		if err != nil {
			return nil, nil, err
		}
		return c, c.Stop, nil
	}

	release, err := s.own(ownerRun)
	if errors.Is(err, errOwned) {
		err = fmt.Errorf("%w; stop the other `make run` first", err)
	}
	if err != nil {
		return nil, nil, err
	}
	c, err := startCluster(ctx, out, cluster.Options{Controllers: true, CRDs: []string{i.crds()}, Dir: s.clusterDir()})
	if err == nil {
		err = s.publish(c.Kubeconfig())
	}
	if err != nil {
		if c != nil {
			err = errors.Join(err, c.Stop())
		}
		release()
		return nil, nil, err
	}
	return c, func() error {
		defer release()
		return c.Stop()
	}, nil
}

// openExisting returns the cluster that the user named by KUBECONFIG, with the CRD installed.
func openExisting(ctx context.Context, out io.Writer, i *installation) (*cluster.Cluster, func() error, error) {
	for _, path := range filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)) {
		if _, err := os.Stat(path); err != nil {
			return nil, nil, fmt.Errorf("KUBECONFIG: %w", err)
		}
	}
	fmt.Fprintln(out, "Using the cluster of your kubeconfig.")
	c, err := cluster.Start(ctx, cluster.Options{CRDs: []string{i.crds()}})
	if err != nil {
		return nil, nil, err
	}
	return c, c.Stop, nil
}

// startCluster starts a cluster and tells about it.
func startCluster(ctx context.Context, out io.Writer, options cluster.Options) (*cluster.Cluster, error) {
	fmt.Fprintln(out, "Starting a control plane: etcd, kube-apiserver, controllers, scheduler and fake nodes …")
	started := time.Now()
	c, err := cluster.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "Ready after %s, with the CustomResourceDefinitions of %v.\n", time.Since(started).Round(100*time.Millisecond), options.CRDs)
	return c, nil
}

// explain says what to do now, before the operator's log begins.
func explain(out io.Writer, s *state, c *cluster.Cluster) error {
	kubeconfig := c.Kubeconfig()
	if running, err := s.owner(); err != nil {
		return err
	} else if running != nil && !cluster.UsesExisting() {
		kubeconfig = s.kubeconfig()
	}
	path, err := filepath.Abs(kubeconfig)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `
In another terminal:

%[1]s

# 1. See what the Application became.
kubectl --namespace %[2]s get application,deployment,service,pods

# 2. Change it, and watch the rolling update.
kubectl --namespace %[2]s patch application %[3]s --type=merge --patch '{"spec":{"image":"nginx:1.30"}}'
kubectl --namespace %[2]s rollout status deployment %[3]s

# 3. Take a field from the operator. It doesn't fight: the Application names the conflict.
kubectl --namespace %[2]s scale deployment %[3]s --replicas=5
kubectl --namespace %[2]s get application %[3]s --output=yaml

# 4. See who owns what, what is contested, and what ends it.
kubectl application owners %[3]s --namespace=%[2]s
kubectl application conflicts %[3]s --namespace=%[2]s

Ctrl-C stops everything that this command started. The operator's log follows.

`, exports(path), sampleNamespace, sampleName)
	return nil
}
