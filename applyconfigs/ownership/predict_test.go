package ownership

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podSpec puts containers and the like where they belong in a Deployment.
func podSpec(rest string) string { return "spec: {template: {spec: {" + rest + "}}}" }

func container(rest string) string { return podSpec("containers: [{name: app, " + rest + "}]") }

const inApp = `.spec.template.spec.containers[name="app"]`

func by(manager string, operation metav1.ManagedFieldsOperationType, subresource, field string) Conflict {
	return Conflict{Field: field, Manager: manager, Operation: operation, Subresource: subresource, APIVersion: "apps/v1"}
}

func setReplicas(n int64) func(map[string]any) {
	return func(content map[string]any) { content["spec"].(map[string]any)["replicas"] = n }
}

func TestConflicts(t *testing.T) {
	selector := "spec: {selector: {matchLabels: {app: web}}}"
	for name, tc := range map[string]struct {
		live *appsv1.Deployment
		want []Conflict
		// desired is applied by us.
		desired string
	}{
		"no live object": {desired: "spec: {replicas: 3}"},
		"another applier, other value": {
			live:    newHistory(t).apply("gitops", "spec: {replicas: 2}").live(),
			desired: "spec: {replicas: 3}",
			want:    []Conflict{by("gitops", applied, "", ".spec.replicas")},
		},
		"another applier, same value": {
			live:    newHistory(t).apply("gitops", "spec: {replicas: 3}").live(),
			desired: "spec: {replicas: 3}",
		},
		"several owners of one field": {
			live: newHistory(t).apply("gitops", "spec: {replicas: 2}").apply("backup", "spec: {replicas: 2}").
				update("kubectl", setReplicas(4)).apply("backup", "spec: {replicas: 4}").live(),
			desired: "spec: {replicas: 3}",
			want:    []Conflict{by("backup", applied, "", ".spec.replicas"), by("kubectl", updated, "", ".spec.replicas")},
		},
		"seized from us by update": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 3}").update("kubectl-edit", setReplicas(5)).live(),
			desired: "spec: {replicas: 3}",
			want:    []Conflict{by("kubectl-edit", updated, "", ".spec.replicas")},
		},
		"through the scale subresource": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 3}").update("kubectl", setReplicas(5)).live(through("scale", "kubectl")),
			desired: "spec: {replicas: 3}",
			want:    []Conflict{by("kubectl", updated, "scale", ".spec.replicas")},
		},
		"our own name by update": {
			live:    newHistory(t).update(us.Name, func(c map[string]any) { c["spec"] = map[string]any{"replicas": int64(1)} }).live(),
			desired: "spec: {replicas: 3}",
			want:    []Conflict{by(us.Name, updated, "", ".spec.replicas")},
		},
		"our own sole ownership": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 2}").live(),
			desired: "spec: {replicas: 3}",
		},
		"a field that nobody owns": {
			live:    newHistory(t).apply("gitops", "spec: {paused: true}").live(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32) }),
			desired: "spec: {replicas: 3}",
		},
		"we drop a field that others keep": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 3, paused: true}").apply("gitops", "spec: {replicas: 3}").live(),
			desired: "spec: {paused: true}",
		},
		"atomic map": {
			live:    newHistory(t).apply("gitops", "spec: {selector: {matchLabels: {app: other}}}").live(),
			desired: selector,
			want:    []Conflict{by("gitops", applied, "", ".spec.selector")},
		},
		"atomic list": {
			live:    newHistory(t).apply("gitops", container("args: [a, b]")).live(),
			desired: container("args: [a]"),
			want:    []Conflict{by("gitops", applied, "", inApp+".args")},
		},
		"atomic list of maps": {
			live:    newHistory(t).apply("gitops", podSpec("tolerations: [{key: a, operator: Exists}]")).live(),
			desired: podSpec("tolerations: [{key: a, operator: Exists}, {key: b, operator: Exists}]"),
			want:    []Conflict{by("gitops", applied, "", ".spec.template.spec.tolerations")},
		},
		"list item by key": {
			live:    newHistory(t).apply("gitops", container("env: [{name: A.B, value: x}, {name: C, value: x}]")).live(),
			desired: container("env: [{name: C, value: x}, {name: A.B, value: v}]"),
			want:    []Conflict{by("gitops", applied, "", inApp+`.env[name="A.B"].value`)},
		},
		"list item that does not exist": {
			live:    newHistory(t).apply("gitops", container("env: [{name: A, value: x}]")).live(),
			desired: container("env: [{name: B, value: v}]"),
		},
		"neighbour container": {
			live:    newHistory(t).apply("mesh", podSpec("containers: [{name: proxy, image: p:1}]")).live(),
			desired: container("image: web:1"),
		},
		"port keyed by a defaulted protocol": {
			live:    newHistory(t).apply("gitops", container("ports: [{containerPort: 53, protocol: TCP, name: a}, {containerPort: 53, protocol: UDP, name: b}]")).live(),
			desired: container("ports: [{containerPort: 53, name: c}, {containerPort: 53, protocol: UDP, name: b}]"),
			want:    []Conflict{by("gitops", applied, "", inApp+`.ports[containerPort=53,protocol="TCP"].name`)},
		},
		"annotation with dots and slashes": {
			live:    newHistory(t).apply("gitops", "  annotations: {example.com/a.b/c: x}").live(),
			desired: "  annotations: {example.com/a.b/c: v}",
			want:    []Conflict{by("gitops", applied, "", ".metadata.annotations.example.com/a.b/c")},
		},
		"equal quantities": {
			live:    newHistory(t).apply("gitops", container("resources: {limits: {cpu: '1', memory: 1Gi, ephemeral-storage: '0'}}")).live(),
			desired: container("resources: {limits: {cpu: 1000m, memory: 1024Mi, ephemeral-storage: 0}}"),
		},
		"different quantities": {
			live:    newHistory(t).apply("gitops", container("resources: {limits: {cpu: '1', memory: 1Gi}}")).live(),
			desired: container("resources: {limits: {cpu: 1001m, memory: 1024Mi}}"),
			want:    []Conflict{by("gitops", applied, "", inApp+".resources.limits.cpu")},
		},
		"number and text of one port": {
			live:    newHistory(t).apply("gitops", container("livenessProbe: {httpGet: {port: 80}}")).live(),
			desired: container("livenessProbe: {httpGet: {port: '80'}}"),
			want:    []Conflict{by("gitops", applied, "", inApp+".livenessProbe.httpGet.port")},
		},
		"another version": {
			live: newHistory(t).apply("gitops", "spec: {replicas: 2}").live(func(d *appsv1.Deployment) {
				d.ManagedFields[0].APIVersion = "apps/v1beta1"
			}),
			desired: "spec: {replicas: 3}",
		},
		"managedFields wiped": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 2, paused: true}").live(wipe),
			desired: "spec: {replicas: 3, paused: true}",
			want:    []Conflict{by(BeforeFirstApply, updated, "", ".spec.replicas")},
		},
		"managedFields wiped, another uid": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 2}").live(wipe),
			desired: "  uid: abc\nspec: {replicas: 3}",
			want:    []Conflict{by(BeforeFirstApply, updated, "", ".spec.replicas")},
		},
		"managedFields that nobody can decode": {
			live: newHistory(t).apply(us.Name, "spec: {replicas: 2}").live(func(d *appsv1.Deployment) {
				d.ManagedFields = append(d.ManagedFields, entry("x", applied, "", `{"garbage":{}}`))
			}),
			desired: "spec: {replicas: 3}",
			want:    []Conflict{by(BeforeFirstApply, updated, "", ".spec.replicas")},
		},
		"managedFields wiped, nothing changes": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 2}").live(wipe),
			desired: "spec: {replicas: 2}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			intent := newTestIntent(t, tc.desired)
			for _, form := range forms {
				got, err := intent.Conflicts(inForm(t, form, tc.live))
				if err != nil {
					t.Fatal(err)
				}
				wantEqual(t, form, got, tc.want)
			}
		})
	}
}

func wipe(d *appsv1.Deployment) { d.ManagedFields = nil }

func TestConflictsLeavesLiveAlone(t *testing.T) {
	live := newHistory(t).apply("gitops", container("image: a, env: [{name: A, value: x}]")).live()
	before := live.DeepCopy()
	intent := newTestIntent(t, container("image: b, env: [{name: A, value: v}]"))
	if _, err := intent.Conflicts(live); err != nil {
		t.Fatal(err)
	}
	if _, err := intent.Compare(live); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "live", live, before)

	unstructured := inForm(t, "unstructured", live)
	untouched := unstructured.DeepCopyObject()
	if _, err := intent.Conflicts(unstructured); err != nil {
		t.Fatal(err)
	}
	wantEqual[any](t, "unstructured live", unstructured, untouched)
}

// Not even fields that are no JSON reach the code that reads Go types, which would panic.
func TestGarbageInTypedManagedFields(t *testing.T) {
	live := newHistory(t).apply("gitops", "spec: {replicas: 2}").live(func(d *appsv1.Deployment) {
		d.ManagedFields = append(d.ManagedFields, entry("x", applied, "", "garbage"))
	})
	intent := newTestIntent(t, "spec: {replicas: 3}")
	if conflicts, err := intent.Conflicts(live); err != nil || len(conflicts) != 1 {
		t.Errorf("conflicts %v, error %v", conflicts, err)
	}
	if diff, err := intent.Compare(live); err != nil || !diff.Untracked {
		t.Errorf("difference %v, error %v", diff, err)
	}
}

func TestConflictsOfTheWrongKind(t *testing.T) {
	service := fromYAML(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web}")
	intent := newTestIntent(t, "spec: {replicas: 3}")
	if _, err := intent.Conflicts(service); err == nil {
		t.Error("a Service passed for a Deployment")
	}
	if _, err := intent.Compare(service); err == nil {
		t.Error("a Service passed for a Deployment")
	}
}

func TestStatusConflicts(t *testing.T) {
	applier := us
	applier.Subresource = "status"
	intent, err := NewIntent(types, applier, fromYAML(t, identity+"spec: {paused: true}\nstatus: {replicas: 3}"))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "fields", paths(intent.Fields()), []string{".status.replicas"})
	live := newHistory(t).update("kubectl-edit", func(c map[string]any) {
		c["spec"] = map[string]any{"paused": false}
		c["status"] = map[string]any{"replicas": int64(1)}
	}).live()
	got, err := intent.Conflicts(live)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "conflicts", got, []Conflict{by("kubectl-edit", updated, "", ".status.replicas")})

	got, err = intent.Conflicts(inForm(t, "unstructured", newHistory(t).update("x", func(c map[string]any) {
		c["status"] = map[string]any{"replicas": int64(1)}
	}).live(wipe)))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "conflicts of wiped managedFields", got, []Conflict{by(BeforeFirstApply, updated, "status", ".status.replicas")})

	// The main resource's endpoint resets status, so that nothing there can be contested.
	got, err = newTestIntent(t, "status: {replicas: 3}").Conflicts(live)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "through the main resource", got, nil)
}
