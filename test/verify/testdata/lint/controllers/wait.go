package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func waits(ctx context.Context, c client.Client, object client.Object) {
	time.Sleep(time.Second)                                                           // want "never sleep"
	_ = wait.PollUntilContextCancel(ctx, time.Second, true, nil)                      // want "never poll"
	_, _ = controllerutil.CreateOrUpdate(ctx, c, object, func() error { return nil }) // want "apply or delete"
	println("here")                                                                   // want "left from debugging"
}

func excused() {
	time.Sleep(time.Second)    //nolint:forbidigo // a reason
	time.Sleep(time.Second)    //nolint // want "should mention specific linter"
	fmt.Println("not excused") //nolint:forbidigo // want "is unused for linter"
}
