package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func main() {}

func write(ctx context.Context, c client.Client, object client.Object) {
	_ = c.Update(ctx, object) // want "apply or delete"
}
