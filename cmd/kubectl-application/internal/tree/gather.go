package tree

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// objects are what there is of an Application.
type objects struct {
	application *v1alpha1.Application
	// deployment and service are nil if they do not exist, or could not be read.
	deployment *appsv1.Deployment
	service    *corev1.Service
	// unknown are the kinds that could not be read.
	unknown map[string]bool
	// replicaSets and pods are those of the deployment.
	replicaSets []appsv1.ReplicaSet
	pods        []corev1.Pod
}

// gather reads all that there is of the Application. If it returns objects and an error, some could not be read.
func gather(ctx context.Context, c *cli.Client, name string) (*objects, error) {
	app, _, err := c.Application(ctx, name)
	if err != nil {
		return nil, err
	}
	found := &objects{application: app, unknown: map[string]bool{}}
	deployment, deploymentErr := read(ctx, c, found, cli.DeploymentObject, &appsv1.Deployment{})
	service, serviceErr := read(ctx, c, found, cli.ServiceObject, &corev1.Service{})
	found.deployment, found.service = deployment, service
	if deployment == nil {
		return found, errors.Join(deploymentErr, serviceErr)
	}
	return found, errors.Join(serviceErr, gatherPods(ctx, c, found))
}

// read returns nil if there is no such child.
func read[T client.Object](ctx context.Context, c *cli.Client, found *objects, which cli.Object, object T) (T, error) {
	var none T
	err := c.Get(ctx, client.ObjectKeyFromObject(found.application), object)
	switch {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		found.unknown[which.GroupVersionKind().Kind] = true
		return none, cli.Explain(err, cli.Request{Verb: "get", Resource: which.Resource(), Namespace: c.Namespace, Name: found.application.Name})
	}
	return object, nil
}

func gatherPods(ctx context.Context, c *cli.Client, found *objects) error {
	selector, err := metav1.LabelSelectorAsSelector(found.deployment.Spec.Selector)
	if err != nil {
		return err
	}
	replicaSets, pods := &appsv1.ReplicaSetList{}, &corev1.PodList{}
	return errors.Join(
		list(ctx, c, replicaSets, schema.GroupResource{Group: appsv1.GroupName, Resource: "replicasets"}, selector, func() {
			found.replicaSets = replicaSets.Items
		}),
		list(ctx, c, pods, schema.GroupResource{Resource: "pods"}, selector, func() {
			found.pods = pods.Items
		}),
	)
}

func list(ctx context.Context, c *cli.Client, into client.ObjectList, resource schema.GroupResource, selector labels.Selector, done func()) error {
	if err := c.List(ctx, into, client.InNamespace(c.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return cli.Explain(err, cli.Request{Verb: "list", Resource: resource, Namespace: c.Namespace})
	}
	done()
	return nil
}
