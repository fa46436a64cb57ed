package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// preflightTimeout bounds each question of the preflight.
const preflightTimeout = 15 * time.Second

// preflight asks the API server for one Application, where the operator is going to watch them. What would otherwise
// come up minutes later as a cache that does not sync is told at once, in a sentence that says what to do.
func preflight(ctx context.Context, config *rest.Config, namespaces []string) error {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w", config.Host, err)
	}
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	resource := v1alpha1.SchemeGroupVersion.WithResource(v1alpha1.Resource)
	for _, namespace := range namespaces {
		ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
		_, err := client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		cancel()
		if err != nil {
			return explainPreflight(config.Host, err)
		}
	}
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
