package oracle

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// collectGarbage plays the garbage collector: children of an Application that is gone are deleted. It leaves them be
// while the Application of their uid exists.
func (r *run) collectGarbage(ctx context.Context, scene scene) error {
	for _, child := range scene.children {
		if child == nil {
			continue
		}
		controller := metav1.GetControllerOf(child)
		if controller == nil || controller.Kind != appKind || (scene.app != nil && scene.app.GetUID() == controller.UID) {
			continue
		}
		// The watch of Applications may be behind that of the children.
		alive, err := r.applicationExists(ctx, controller.UID)
		if err != nil {
			return err
		}
		uid := child.GetUID()
		if !alive {
			err = r.world.Client.Delete(ctx, child.DeepCopy(), client.Preconditions{UID: &uid})
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("collecting %s: %w", child.GetKind(), err)
		}
	}
	return nil
}

// collectNow plays the garbage collector with what the API server has just now.
func (r *run) collectNow(ctx context.Context) error {
	now := scene{children: map[string]*unstructured.Unstructured{}}
	for kind := range watched {
		object := r.identity(kind)
		err := r.world.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return err
		case kind == appKind:
			now.app = object
		default:
			now.children[kind] = object
		}
	}
	return r.collectGarbage(ctx, now)
}
