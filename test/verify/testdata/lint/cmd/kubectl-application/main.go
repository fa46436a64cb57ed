package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func main() {}

// A person may update, but not force.
func write(ctx context.Context, c client.Client, object client.Object) {
	_ = c.Update(ctx, object)
	_ = c.Patch(ctx, object, client.Merge, client.ForceOwnership) // want "never force"
}
