package controllers

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Another manager, as tests play it.
func steal(ctx context.Context, c client.Client, object client.Object) {
	_ = c.Patch(ctx, object, client.Apply, client.ForceOwnership)
	_ = c.Update(ctx, object)
}
