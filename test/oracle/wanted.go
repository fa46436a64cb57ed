package oracle

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wantedFields returns the fields that an Application wants of a child, or nil if it wants no such child. It is written
// down from the README's words, not from the operator's code. Of a faulty spec, they mean nothing.
//
// No field comes from two places of a spec, so what the partial child says is just more of them.
func wantedFields(app *unstructured.Unstructured, kind string) fields {
	wanted := generatedFields(app, kind)
	if wanted != nil {
		maps.Copy(wanted, partialWish(specOf(app), kind))
	}
	return wanted
}

// generatedFields are those that the spec wants without its partial children.
func generatedFields(app *unstructured.Unstructured, kind string) fields {
	spec := specOf(app)
	name := app.GetName()
	metadata := map[string]any{
		"labels":          childLabels(name),
		"ownerReferences": []any{controllerReference(app)},
	}
	if kind == service {
		if !wantsService(spec) {
			return nil
		}
		return flatten(map[string]any{"metadata": metadata, "spec": map[string]any{
			"type":     spec["expose"],
			"selector": selectorLabels(name),
			"ports":    []any{map[string]any{"name": "app", "port": spec["port"], "targetPort": "app"}},
		}})
	}
	child := map[string]any{
		"selector": map[string]any{"matchLabels": selectorLabels(name)},
		"template": map[string]any{
			"metadata": map[string]any{"labels": childLabels(name)},
			"spec":     map[string]any{"containers": []any{wantedContainer(spec)}},
		},
	}
	if replicas, found := spec["replicas"]; found {
		child["replicas"] = replicas
	}
	return flatten(map[string]any{"metadata": metadata, "spec": child})
}

func controllerReference(app *unstructured.Unstructured) map[string]any {
	return map[string]any{
		"apiVersion": appVersion, "kind": appKind, "name": app.GetName(), "uid": string(app.GetUID()),
		"controller": true, "blockOwnerDeletion": true,
	}
}

// wantedContainer returns the main container: what the spec says of it, word for word, but for what says nothing.
func wantedContainer(spec map[string]any) map[string]any {
	container := map[string]any{"name": "app"}
	for _, field := range []string{"image", "imagePullPolicy", "command", "args", "envFrom", "resources", "livenessProbe", "readinessProbe", "startupProbe"} {
		if value, found := spec[field]; found {
			container[field] = value
		}
	}
	if entries, found := spec["env"].([]any); found {
		var env []any
		for _, entry := range entries {
			content, _ := entry.(map[string]any)
			content = maps.Clone(content)
			if content["value"] == "" {
				delete(content, "value")
			}
			env = append(env, content)
		}
		container["env"] = env
	}
	if port, found := spec["port"]; found {
		container["ports"] = []any{map[string]any{"name": "app", "containerPort": port}}
	}
	return container
}

func wantsService(spec map[string]any) bool { return spec["expose"] != nil && spec["port"] != nil }

func childLabels(name string) map[string]any {
	labels := selectorLabels(name)
	labels["app.kubernetes.io/name"] = name
	labels["app.kubernetes.io/instance"] = name
	labels["app.kubernetes.io/managed-by"] = operatorName
	return labels
}

func specOf(app *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(app.Object, "spec")
	return spec
}

func isPaused(spec map[string]any) bool { return spec["paused"] == true }
func yields(spec map[string]any) bool   { return spec["conflictPolicy"] == "Yield" }
func orphans(spec map[string]any) bool  { return spec["deletionPolicy"] == "Orphan" }

// controls reports whether app is the controller of a child.
func controls(app, child *unstructured.Unstructured) bool {
	return app != nil && metav1.IsControlledBy(child, app)
}

// adoptable reports whether app may take an object that nobody controls: its writer consents, and a Deployment has the
// selector, which cannot be changed.
func adoptable(app, child *unstructured.Unstructured) bool {
	if child.GetAnnotations()[adoptAnnotation] != app.GetName() || metav1.GetControllerOf(child) != nil {
		return false
	}
	wanted, live := wantedFields(app, child.GetKind()), flatten(child.Object)
	return child.GetKind() == service || equal(".spec.selector", wanted[".spec.selector"], live[".spec.selector"])
}

func apiVersionOf(object metav1.Object) string {
	if typed, ok := object.(*unstructured.Unstructured); ok {
		return typed.GetAPIVersion()
	}
	return ""
}
