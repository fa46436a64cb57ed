package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The actors that the generator knows. Any other name will do in a program written by hand.
const (
	author     = "author"
	gitops     = "gitops"
	helm       = "helm"
	person     = "person"
	autoscaler = "autoscaler"
)

// act does a step. What the API server refuses is no failure: programs are written without regard to whether each step
// is possible just then.
func (r *run) act(ctx context.Context, s step) error {
	switch s.verb {
	case verbRestart, verbKill:
		return r.world.restart(ctx, s.verb == verbRestart)
	case verbOutage:
		return r.world.outage(ctx)
	}
	r.world.order.RLock()
	defer r.world.order.RUnlock()
	if err := r.world.ok(); err != nil {
		return err
	}
	err := r.write(ctx, s)
	if answer := apierrors.APIStatus(nil); err == nil || errors.As(err, &answer) {
		r.note(s, err)
		return nil
	}
	return fmt.Errorf("%s: %w", s, err)
}

func (r *run) write(ctx context.Context, s step) error {
	switch s.verb {
	case verbCreate:
		r.spec = settings{}.with(s.settings...)
		return r.applySpec(ctx)
	case verbEdit:
		r.spec = r.spec.with(s.settings...)
		return r.applySpec(ctx)
	case verbDelete:
		return r.deleteApplication(ctx)
	case verbCollect:
		return r.collectNow(ctx)
	case verbScaleApp:
		return r.scale(ctx, appVersion, appKind, s)
	case verbTamper:
		return r.tamper(ctx, s)
	case verbScale:
		return r.scale(ctx, deploymentVersion, deployment, s)
	case verbWipe:
		return r.patch(ctx, s, types.MergePatchType, map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{}}}})
	case verbDrop:
		return r.world.Client.Delete(ctx, r.identity(s.kind), client.PropagationPolicy("Background"))
	case verbJSON:
		return r.jsonPatch(ctx, s)
	}

	content, err := r.content(ctx, s)
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetNamespace(r.namespace)
	before := r.newestOf(s.kind)
	switch s.verb {
	case verbApply:
		err = r.world.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(s.actor))
	case verbForce:
		err = r.world.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(s.actor), client.ForceOwnership)
	case verbUpdate:
		retainKeys(content)
		return r.patch(ctx, s, types.StrategicMergePatchType, content)
	case verbPost:
		err = r.world.Client.Create(ctx, object, client.FieldOwner(s.actor))
	case verbPut:
		return r.put(ctx, s)
	default:
		return fmt.Errorf("%s: nobody does this", s.verb)
	}
	return r.made(before, object, err)
}

// content returns a child with the settings of a step. The setting controlled=NAME makes the Application its controller.
func (r *run) content(ctx context.Context, s step) (map[string]any, error) {
	rest := slices.DeleteFunc(slices.Clone(s.settings), func(one setting) bool { return one.key == "controlled" })
	content, err := childContent(s.kind, rest)
	if err != nil || len(rest) == len(s.settings) {
		return content, err
	}
	app := r.identity(appKind)
	if err := client.IgnoreNotFound(r.world.Client.Get(ctx, client.ObjectKeyFromObject(app), app)); err != nil {
		return nil, err
	}
	within(content, "metadata")["ownerReferences"] = []any{controllerReference(app)}
	return content, nil
}

// newestOf returns the number of the newest known version of an object.
func (r *run) newestOf(kind string) uint64 {
	versions := r.world.history.of(r.namespace, kind)
	if len(versions) == 0 {
		return 0
	}
	return versions[len(versions)-1].number
}

// made remembers the version that an actor's write made, if it made one: the answer to a write that changes nothing has
// the number of the version before.
func (r *run) made(before uint64, answer client.Object, err error) error {
	if err == nil && answer.GetResourceVersion() != "" {
		if n := number(answer.GetResourceVersion()); n > before {
			r.wrote[n] = true
		}
	}
	return err
}

// applySpec makes the Application as the author has it in mind. The author is the one who forces, since nobody else is
// to decide what the spec says.
func (r *run) applySpec(ctx context.Context) error {
	content, err := applicationContent(r.spec)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetNamespace(r.namespace)
	return r.world.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(author), client.ForceOwnership)
}

// goneWithin is how long an Application may take to go once it was deleted.
const goneWithin = 30 * time.Second

func (r *run) deleteApplication(ctx context.Context) error {
	app := r.identity(appKind)
	if err := r.world.Client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
		return err
	}
	uid := app.GetUID()
	if err := r.world.Client.Delete(ctx, app, client.PropagationPolicy("Background")); err != nil {
		return err
	}
	for deadline := time.Now().Add(goneWithin); time.Now().Before(deadline); {
		alive, err := r.applicationExists(ctx, uid)
		if err != nil || !alive {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return &failure{invariant: "I4", text: fmt.Sprintf("the Application is still there %s after it was deleted", goneWithin)}
}

// applicationExists asks the API server whether the Application of that uid is there.
func (r *run) applicationExists(ctx context.Context, uid types.UID) (bool, error) {
	app := r.identity(appKind)
	err := r.world.Client.Get(ctx, client.ObjectKeyFromObject(app), app)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && app.GetUID() == uid, err
}

func (r *run) scale(ctx context.Context, apiVersion, kind string, s step) error {
	replicas, err := integer(s.settings[0])
	if err != nil {
		return err
	}
	object := r.identity(kind)
	object.SetAPIVersion(apiVersion)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": replicas}})
	if err != nil {
		return err
	}
	before := r.newestOf(kind)
	err = r.world.Client.SubResource("scale").Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(s.actor))
	return r.made(before, object, err)
}

// tamperedText is no value that the operator would ever write.
const tamperedText = "tampered"

// tamper writes top-level fields of the status, or removes them.
func (r *run) tamper(ctx context.Context, s step) error {
	status := map[string]any{}
	for _, one := range s.settings {
		status[one.key] = nullable(one)
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	return r.world.Client.Status().Patch(ctx, r.identity(appKind), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(s.actor))
}

func (r *run) patch(ctx context.Context, s step, patchType types.PatchType, content any) error {
	if object, ok := content.(map[string]any); ok {
		delete(object, "apiVersion")
		delete(object, "kind")
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	actor := s.actor
	if actor == "" {
		actor = person
	}
	object, before := r.identity(s.kind), r.newestOf(s.kind)
	err = r.world.Client.Patch(ctx, object, client.RawPatch(patchType, raw), client.FieldOwner(actor))
	return r.made(before, object, err)
}

// put reads a child, changes it, and writes all of it.
func (r *run) put(ctx context.Context, s step) error {
	live := r.identity(s.kind)
	if err := r.world.Client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return err
	}
	for _, one := range s.settings {
		change, err := newChange(s.kind, one, live.Object)
		if err != nil {
			return err
		}
		change.applyTo(live.Object)
	}
	before := r.newestOf(s.kind)
	return r.made(before, live, r.world.Client.Update(ctx, live, client.FieldOwner(s.actor)))
}

// jsonPatch sends an operation for each setting, with paths made for the object as it is now.
func (r *run) jsonPatch(ctx context.Context, s step) error {
	live := r.identity(s.kind)
	if err := r.world.Client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return err
	}
	var operations []any
	for _, one := range s.settings {
		change, err := newChange(s.kind, one, live.Object)
		if err != nil {
			return err
		}
		if change.op != "" {
			operations = append(operations, change.operation())
			change.applyTo(live.Object)
		}
	}
	if len(operations) == 0 {
		return nil
	}
	return r.patch(ctx, s, types.JSONPatchType, operations)
}

func (r *run) identity(kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(map[string]string{appKind: appVersion, deployment: deploymentVersion, service: serviceVersion}[kind])
	object.SetKind(kind)
	object.SetNamespace(r.namespace)
	object.SetName(appName)
	return object
}
