package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// startTimeout bounds a start whose context has no deadline. A slow machine
	// that runs several clusters at once needs a good part of it.
	startTimeout = 5 * time.Minute
	pollInterval = 100 * time.Millisecond
)

// waitForAPI waits until kube-apiserver says that it is ready and has made the
// namespace that every test uses.
func (c *Cluster) waitForAPI(ctx context.Context) error {
	return c.waitFor(ctx, "kube-apiserver to become ready", func(ctx context.Context, client kubernetes.Interface) error {
		if err := client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
			return err
		}
		_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	})
}

// waitForControllers waits until Pods can be created and scheduled.
func (c *Cluster) waitForControllers(ctx context.Context) error {
	return c.waitFor(ctx, "the controllers and fake nodes to become ready", func(ctx context.Context, client kubernetes.Interface) error {
		if _, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err
		}
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, node := range nodes.Items {
			if !schedulable(&node) {
				return fmt.Errorf("node %s isn't ready", node.Name)
			}
		}
		return nil
	})
}

// schedulable needs the taint gone too: a new node has it until its condition
// has been seen by the node lifecycle controller.
func schedulable(node *corev1.Node) bool {
	if len(node.Spec.Taints) > 0 {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// waitFor polls until the check succeeds, a component fails or ctx ends.
func (c *Cluster) waitFor(ctx context.Context, what string, check func(context.Context, kubernetes.Interface) error) error {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()

	last := errors.New("not tried yet")
	for {
		if err := c.checkOnce(ctx, client, check); err == nil {
			return nil
		} else if ctx.Err() == nil {
			last = err
		}
		if err := c.failure(); err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last: %w\n%s", what, context.Cause(ctx), last, c.logTails())
		case <-ticker.C:
		}
	}
}

// checkOnce limits one try: a server that is just starting may accept a
// connection and then not answer.
func (c *Cluster) checkOnce(ctx context.Context, client kubernetes.Interface, check func(context.Context, kubernetes.Interface) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return check(ctx, client)
}
