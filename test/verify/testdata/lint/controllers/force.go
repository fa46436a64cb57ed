package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	renamed "sigs.k8s.io/controller-runtime/pkg/client"
)

var always = renamed.ForceOwnership // want "never force"

func forced(ctx context.Context, c client.Client, set kubernetes.Interface, config *appsv1ac.DeploymentApplyConfiguration) {
	owner := client.FieldOwner("application-operator")
	_ = c.Apply(ctx, config, owner, client.ForceOwnership)                                  // want "never force"
	_ = c.Apply(ctx, config, &client.ApplyOptions{Force: new(true)})                        // want "never force"
	_ = c.Apply(ctx, config, &renamed.ApplyOptions{FieldManager: "x", Force: ptr.To(true)}) // want "never force"
	_ = c.Status().Apply(ctx, config, owner, client.ForceOwnership)                         // want "never force"

	deployments := set.AppsV1().Deployments("shop")
	_, _ = deployments.Apply(ctx, config, metav1.ApplyOptions{FieldManager: "x", Force: true})       // want "never force"
	_, _ = deployments.ApplyStatus(ctx, config, metav1.ApplyOptions{FieldManager: "x", Force: true}) // want "never force"

	options := metav1.ApplyOptions{FieldManager: "x"}
	options.Force = true // want "never force"
	patch := &metav1.PatchOptions{}
	patch.Force = ptr.To(true)                                 // want "never force"
	(&client.PatchOptions{}).Force = patch.Force               // want "never force"
	client.ForceOwnership.ApplyToApply(&client.ApplyOptions{}) // want "never force"
}

func forcedPatch(ctx context.Context, c client.Client, object client.Object) {
	_ = c.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, nil), &client.PatchOptions{ // want "apply or delete"
		Force: ptr.To(true), // want "never force"
	})
}

type wrapper struct{ client.Client }

func (w wrapper) write(ctx context.Context, object client.Object, scheme *runtime.Scheme) {
	_ = w.Update(ctx, object)                                               // want "apply or delete"
	_ = w.Client.Create(ctx, object)                                        // want "apply or delete"
	_ = w.Status().Update(ctx, object)                                      // want "apply or delete"
	_ = w.SubResource("scale").Patch(ctx, object, client.MergeFrom(object)) // want "apply or delete"
	_ = w.DeleteAllOf(ctx, object)                                          // want "apply or delete"
	_ = w.Delete(ctx, object)
}

func update(ctx context.Context, set kubernetes.Interface) {
	deployments := set.AppsV1().Deployments("shop")
	_, _ = deployments.Update(ctx, nil, metav1.UpdateOptions{})                            // want "apply or delete"
	_, _ = deployments.UpdateStatus(ctx, nil, metav1.UpdateOptions{})                      // want "apply or delete"
	_, _ = deployments.Patch(ctx, "web", types.MergePatchType, nil, metav1.PatchOptions{}) // want "apply or delete"
}

func untyped(ctx context.Context, set kubernetes.Interface, direct rest.RESTClient) {
	requests := set.AppsV1().RESTClient()
	requests.Patch(types.ApplyYAMLPatchType).Do(ctx) // want "apply or delete"
	requests.Post().Do(ctx)                          // want "apply or delete"
	requests.Put().Do(ctx)                           // want "apply or delete"
	requests.Verb("PATCH").Do(ctx)                   // want "apply or delete"
	direct.Put().Do(ctx)                             // want "apply or delete"
	requests.Get().Do(ctx)
}

type settings struct{ manager string }

func (s settings) WithForce() settings { return s }

func chained() settings {
	return settings{}.WithForce() // want "never force"
}
