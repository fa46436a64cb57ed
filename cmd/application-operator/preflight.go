package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// preflightTimeout bounds each question of the preflight.
const preflightTimeout = 15 * time.Second

// watched is what the operator watches.
var watched = []schema.GroupVersionResource{
	v1alpha1.SchemeGroupVersion.WithResource(v1alpha1.Resource),
	appsv1.SchemeGroupVersion.WithResource("deployments"),
	corev1.SchemeGroupVersion.WithResource("services"),
}

// preflight asks the API server for one object of each kind that the operator is going to watch, and to watch it. What would
// otherwise come up minutes later as a cache that does not sync is told at once, in a sentence that says what to do.
func preflight(ctx context.Context, config *rest.Config, namespaces []string) error {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w", config.Host, err)
	}
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		for _, resource := range watched {
			if err := tryWatch(ctx, client.Resource(resource).Namespace(namespace)); err != nil {
				return explainPreflight(config.Host, err)
			}
		}
	}
	return nil
}

// tryWatch lists one object and begins a watch.
func tryWatch(ctx context.Context, resource metadata.ResourceInterface) error {
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	if _, err := resource.List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return err
	}
	watcher, err := resource.Watch(ctx, metav1.ListOptions{TimeoutSeconds: new(int64(1))})
	if err != nil {
		return err
	}
	watcher.Stop()
	return nil
}

func explainPreflight(server string, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the API server %s does not serve %s.%s %s: install the CustomResourceDefinition first (kubectl apply --server-side -k deploy/crd)",
			server, v1alpha1.Resource, v1alpha1.GroupName, v1alpha1.SchemeGroupVersion.Version)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the operator's user lacks rights: %w; grant them with kubectl apply --server-side -k deploy/rbac", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server %s does not accept the operator's credentials: %w; check the kubeconfig or the service account", server, err)
	default:
		return fmt.Errorf("the API server %s does not answer: %w", server, err)
	}
}
