package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// namespaceFile tells a pod its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// setUpNeighbours finds out whether the operator may see the others of the cluster, and under which name they see this one.
func (o *options) setUpNeighbours(ctx context.Context, logger logr.Logger, config *rest.Config) error {
	if o.leaderElect {
		if o.leaderElection == "" {
			namespace, err := os.ReadFile(namespaceFile)
			if err != nil {
				return errors.New("--leader-elect needs --leader-election-namespace outside of a cluster")
			}
			o.leaderElection = strings.TrimSpace(string(namespace))
		}
		o.controller.Lease = client.ObjectKey{Namespace: o.leaderElection, Name: v1alpha1.LeaseName}
	}
	reviews, err := authorizationv1client.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w", config.Host, err)
	}
	for _, verb := range []string{"list", "watch"} {
		ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
		review, err := reviews.SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{ //nolint:forbidigo // a question, not an object
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: coordinationv1.GroupName, Resource: "leases", Name: v1alpha1.LeaseName,
			}},
		}, metav1.CreateOptions{})
		cancel()
		if err != nil {
			return fmt.Errorf("asking the API server for the operator's rights: %w", err)
		}
		if !review.Status.Allowed {
			logger.Info("Other operators of this cluster cannot be noticed: the right to " + verb + " their Leases is missing")
			return nil
		}
	}
	o.controller.SeesNeighbours = true
	return nil
}
