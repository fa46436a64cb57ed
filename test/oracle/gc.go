package oracle

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// collectGarbage plays the garbage collector: children of an Application that is gone are deleted. It leaves them be
// while the Application of their uid exists.
func (r *run) collectGarbage(ctx context.Context) error {
	scene := r.world.history.scene(r.namespace)
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
			err = client.IgnoreNotFound(r.world.Client.Delete(ctx, child.DeepCopy(), client.Preconditions{UID: &uid}))
		}
		if err != nil {
			return fmt.Errorf("collecting %s: %w", child.GetKind(), err)
		}
	}
	return nil
}
