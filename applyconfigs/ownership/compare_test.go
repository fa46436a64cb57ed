package ownership

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCompare(t *testing.T) {
	full := container("image: a, args: [x], env: [{name: A, value: x}, {name: B, value: v}], resources: {limits: {cpu: 1000m}}")
	zeros := container("env: [{name: A, value: ''}], livenessProbe: {initialDelaySeconds: 0}")
	allZeros := "spec: {paused: false, minReadySeconds: 0, template: {metadata: {labels: {}}, spec: {hostname: '', containers: [{name: app, args: []}]}}}"
	for name, tc := range map[string]struct {
		live    *appsv1.Deployment
		desired string
		want    string
	}{
		"no live object": {
			desired: "spec: {replicas: 3}",
			want:    "ownership is not recorded; value differs: .spec.replicas; not owned yet: .spec.replicas",
		},
		"as applied": {
			live:    newHistory(t).apply(us.Name, full).live(),
			desired: full,
			want:    "up to date",
		},
		"others beside us": {
			live: newHistory(t).apply(us.Name, full).apply("gitops", "spec: {paused: true}").apply("mesh", podSpec("containers: [{name: proxy, image: p}]")).
				update("kubectl", func(c map[string]any) {
					c["metadata"].(map[string]any)["annotations"] = map[string]any{"a": "b"}
				}).live(),
			desired: full,
			want:    "up to date",
		},
		"shared with others": {
			live:    newHistory(t).apply("gitops", full).apply(us.Name, full).live(),
			desired: full,
			want:    "up to date",
		},
		"a legacy entry of ours beside it": {
			live: newHistory(t).update(us.Name, func(c map[string]any) { c["spec"] = map[string]any{"replicas": int64(3)} }).
				apply(us.Name, "spec: {replicas: 3}").live(),
			desired: "spec: {replicas: 3}",
			want:    "up to date",
		},
		"quantity in another notation": {
			live:    newHistory(t).apply(us.Name, container("resources: {limits: {cpu: '1', memory: 1Gi}}")).live(),
			desired: container("resources: {limits: {cpu: 1000m, memory: 1024Mi}}"),
			want:    "up to date",
		},
		"value changed in the intent": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 2}").live(),
			desired: "spec: {replicas: 3}",
			want:    "value differs: .spec.replicas",
		},
		"right value, not ours": {
			live:    newHistory(t).apply("gitops", "spec: {replicas: 3}").live(),
			desired: "spec: {replicas: 3}",
			want:    "not owned yet: .spec.replicas",
		},
		"seized": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 3, paused: true}").update("kubectl", setReplicas(5)).live(),
			desired: "spec: {replicas: 3, paused: true}",
			want:    "value differs: .spec.replicas; not owned yet: .spec.replicas",
		},
		"no longer desired": {
			live:    newHistory(t).apply(us.Name, full).live(),
			desired: container("image: a, args: [x], env: [{name: A, value: x}], resources: {limits: {cpu: '1'}}"),
			want:    "no longer desired: " + inApp + `.env[name="B"] ` + inApp + `.env[name="B"].name ` + inApp + `.env[name="B"].value`,
		},
		"only by update under our name": {
			live:    newHistory(t).update(us.Name, func(c map[string]any) { c["spec"] = map[string]any{"replicas": int64(3)} }).live(),
			desired: "spec: {replicas: 3}",
			want:    "not owned yet: .spec.replicas",
		},
		"through another subresource": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 3}").live(through("scale", us.Name)),
			desired: "spec: {replicas: 3}",
			want:    "not owned yet: .spec.replicas",
		},
		"order of list items": {
			live:    newHistory(t).apply(us.Name, full).live(),
			desired: container("image: a, args: [x], env: [{name: B, value: v}, {name: A, value: x}], resources: {limits: {cpu: 1000m}}"),
			want:    "list order differs",
		},
		"order of an atomic list": {
			live:    newHistory(t).apply(us.Name, container("args: [x, z]")).live(),
			desired: container("args: [z, x]"),
			want:    "value differs: " + inApp + ".args",
		},
		"item of another manager in between": {
			live: newHistory(t).apply(us.Name, container("env: [{name: A, value: x}, {name: B, value: v}]")).
				update("mesh", func(c map[string]any) {
					setEnv(c, env("A", "x"), env("INJECTED", "z"), env("B", "v"))
				}).live(),
			desired: container("env: [{name: A, value: x}, {name: B, value: v}]"),
			want:    "up to date",
		},
		"empty values that are not stored": {
			live:    newHistory(t).apply(us.Name, zeros).live(),
			desired: zeros,
			want:    "up to date",
		},
		"empty values of all kinds": {
			live:    newHistory(t).apply(us.Name, allZeros).live(),
			desired: allZeros,
			want:    "up to date",
		},
		"empty values over stored ones": {
			live:    newHistory(t).apply(us.Name, container("env: [{name: A, value: x}], livenessProbe: {initialDelaySeconds: 5}")).live(),
			desired: zeros,
			want:    "value differs: " + inApp + `.env[name="A"].value ` + inApp + ".livenessProbe.initialDelaySeconds",
		},
		"empty values that somebody filled": {
			live: newHistory(t).apply(us.Name, zeros).update("kubectl", func(c map[string]any) {
				setEnv(c, env("A", "x"))
			}).live(),
			desired: zeros,
			want:    "value differs: " + inApp + `.env[name="A"].value; not owned yet: ` + inApp + `.env[name="A"].value`,
		},
		"empty values and a real difference": {
			live:    newHistory(t).apply(us.Name, container("image: a, env: [{name: A, value: ''}]")).live(),
			desired: container("image: b, env: [{name: A, value: ''}]"),
			want:    "value differs: " + inApp + ".image",
		},
		"empty values not yet applied": {
			live:    newHistory(t).apply(us.Name, container("env: [{name: A}]")).live(),
			desired: container("env: [{name: A, value: ''}]"),
			want:    "value differs: " + inApp + `.env[name="A"].value; not owned yet: ` + inApp + `.env[name="A"].value`,
		},
		"owned but gone": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 3}").live(func(d *appsv1.Deployment) { d.Spec.Replicas = nil }),
			desired: "spec: {replicas: 3}",
			want:    "value differs: .spec.replicas",
		},
		"managedFields stripped": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 3}").live(wipe),
			desired: "spec: {replicas: 3}",
			want:    "ownership is not recorded; not owned yet: .spec.replicas",
		},
		"managedFields stripped, nothing desired": {
			live:    newHistory(t).apply(us.Name, "spec: {replicas: 3}").live(wipe),
			desired: "",
			want:    "ownership is not recorded",
		},
		"nothing desired, nothing owned": {
			live:    newHistory(t).apply("gitops", "spec: {replicas: 3}").live(),
			desired: "",
			want:    "up to date",
		},
		"another entry cannot be decoded": {
			live: newHistory(t).apply(us.Name, "spec: {replicas: 3}").live(func(d *appsv1.Deployment) {
				d.ManagedFields = append(d.ManagedFields, entry("x", applied, "", `{"garbage":{}}`))
			}),
			desired: "spec: {replicas: 3}",
			want:    "ownership is not recorded; not owned yet: .spec.replicas",
		},
		"applied at another version": {
			live: newHistory(t).apply(us.Name, "spec: {replicas: 3}").live(func(d *appsv1.Deployment) {
				d.ManagedFields[0].APIVersion = "apps/v1beta2"
			}),
			desired: "spec: {replicas: 3}",
			want:    "applied at version apps/v1beta2",
		},
		"number and text of one port": {
			live:    newHistory(t).apply(us.Name, container("livenessProbe: {httpGet: {port: 80}}")).live(),
			desired: container("livenessProbe: {httpGet: {port: '80'}}"),
			want:    "value differs: " + inApp + ".livenessProbe.httpGet.port",
		},
		"owner reference": {
			live:    newHistory(t).apply(us.Name, "  ownerReferences: [{apiVersion: v1, kind: A, name: web, uid: abc, controller: true}]").live(),
			desired: "  ownerReferences: [{apiVersion: v1, kind: A, name: web, uid: abc, controller: true}]",
			want:    "up to date",
		},
		"another owner reference": {
			live:    newHistory(t).apply(us.Name, "  ownerReferences: [{apiVersion: v1, kind: A, name: web, uid: abc}]").live(),
			desired: "  ownerReferences: [{apiVersion: v1, kind: A, name: web, uid: def}]",
			want:    `value differs: .metadata.ownerReferences[uid="def"]; not owned yet: .metadata.ownerReferences[uid="def"]; no longer desired: .metadata.ownerReferences[uid="abc"]`,
		},
		"the known uid goes along": {
			live:    newHistory(t).apply(us.Name, "  labels: {a: b}").live(),
			desired: "  uid: 11111111-2222-3333-4444-555555555555\n  labels: {a: b}",
			want:    "up to date",
		},
	} {
		t.Run(name, func(t *testing.T) {
			intent := newTestIntent(t, tc.desired)
			for _, form := range forms {
				diff, err := intent.Compare(inForm(t, form, tc.live))
				if err != nil {
					t.Fatal(err)
				}
				wantEqual(t, form, diff.String(), tc.want)
				wantEqual(t, form+": empty", diff.Empty(), tc.want == "up to date")
			}
		})
	}
}

func env(name, value string) map[string]any { return map[string]any{"name": name, "value": value} }

func setEnv(content map[string]any, entries ...any) {
	spec := content["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	spec["containers"].([]any)[0].(map[string]any)["env"] = entries
}

// An API server of a later version knows fields that this code does not.
func TestUnknownFieldsOfOthers(t *testing.T) {
	typed := newHistory(t).apply(us.Name, container("image: a")).apply("gitops", "spec: {replicas: 2}").live(func(d *appsv1.Deployment) {
		d.ManagedFields = append(d.ManagedFields, entry("newer", applied, "",
			`{"f:spec":{"f:later":{"f:on":{}},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:later":{"k:{\"name\":\"x\"}":{".":{}}}}}}}}}`))
	})
	untyped := inForm(t, "unstructured", typed).(*unstructured.Unstructured)
	spec := untyped.Object["spec"].(map[string]any)
	spec["later"] = map[string]any{"on": true}
	podSpec := spec["template"].(map[string]any)["spec"].(map[string]any)
	podSpec["containers"].([]any)[0].(map[string]any)["later"] = []any{map[string]any{"name": "x"}}

	for name, live := range map[string]Object{"typed": typed, "unstructured": untyped} {
		diff, err := newTestIntent(t, container("image: a")).Compare(live)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantEqual(t, name, diff.String(), "up to date")
		conflicts, err := newTestIntent(t, "spec: {replicas: 3}").Conflicts(live)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantEqual(t, name, conflicts, []Conflict{by("gitops", applied, "", ".spec.replicas")})
	}
	if _, err := NewIntent(types, us, untyped); !errors.Is(err, ErrInvalid) {
		t.Errorf("an intent with unknown fields: %v", err)
	}
}

// A live list may hold one key twice, where validation lets it pass.
func TestCompareWithRepeatedKeys(t *testing.T) {
	config := container("image: a")
	live := newHistory(t).apply(us.Name, config).live(func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}
	})
	diff, err := newTestIntent(t, config).Compare(live)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "difference", diff.String(), "up to date")
}

// BenchmarkCompare is what an object at rest costs.
func BenchmarkCompare(b *testing.B) {
	config := "spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: a, args: [x], env: [{name: A, value: a}, {name: B, value: b}], ports: [{containerPort: 80}], resources: {limits: {cpu: '1'}}}]}}}"
	live := newHistory(b).apply(us.Name, config).update("kubelet", setReplicas(3)).live()
	intent := newTestIntent(b, config)
	b.ReportAllocs()
	for b.Loop() {
		if diff, err := intent.Compare(live); err != nil || !diff.Empty() {
			b.Fatal(diff, err)
		}
	}
}
