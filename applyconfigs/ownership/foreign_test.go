package ownership

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestForeign: what others own beside an intent.
func TestForeign(t *testing.T) {
	const desired = "spec: {replicas: 3}"
	for name, c := range map[string]struct {
		live    Object
		desired string
		ignored func(fieldpath.Path, any) bool
		want    map[string][]string
	}{
		"nothing":                                {live: newHistory(t).apply(us.Name, desired).live(), desired: desired},
		"no object":                              {desired: desired},
		"our own, which is not desired any more": {live: newHistory(t).apply(us.Name, "spec: {replicas: 3, paused: true}").live(), desired: desired},
		"what is shared":                         {live: newHistory(t).apply(us.Name, desired).apply("gitops", desired).live(), desired: desired},
		"what is contested":                      {live: newHistory(t).apply("gitops", "spec: {replicas: 4}").live(), desired: desired},
		"a field of others": {
			live: newHistory(t).apply(us.Name, desired).apply("gitops", "spec: {paused: true, minReadySeconds: 4}").live(), desired: desired,
			want: map[string][]string{"gitops": {".spec.minReadySeconds", ".spec.paused"}},
		},
		"a field of several others": {
			live: newHistory(t).apply("a", "spec: {minReadySeconds: 4}").apply("b", "spec: {minReadySeconds: 4}").live(), desired: desired,
			want: map[string][]string{"a": {".spec.minReadySeconds"}, "b": {".spec.minReadySeconds"}},
		},
		"an item of others, with its keys": {
			live: newHistory(t).apply("gitops", container("env: [{name: A, value: x}]")).live(), desired: container("image: web:1"),
			want: map[string][]string{"gitops": {inApp + `.env[name="A"].name`, inApp + `.env[name="A"].value`}},
		},
		"a field of others in our item": {
			live: newHistory(t).apply(us.Name, container("image: web:1")).apply("gitops", container("args: [a]")).live(), desired: container("image: web:1"),
			want: map[string][]string{"gitops": {inApp + ".args"}},
		},
		"what is not ignored": {
			live: newHistory(t).apply("gitops", "spec: {paused: true, minReadySeconds: 4}").live(), desired: desired,
			ignored: func(path fieldpath.Path, value any) bool {
				return path.String() == ".spec.minReadySeconds" && value == int64(4)
			},
			want: map[string][]string{"gitops": {".spec.paused"}},
		},
		"what is empty": {live: newHistory(t).apply("gitops", podSpec("securityContext: {}, nodeSelector: {}")).live(), desired: desired},
		"what is gone": {
			live:    newHistory(t).apply("gitops", "spec: {minReadySeconds: 4}").live(func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 0 }),
			desired: desired,
		},
	} {
		t.Run(name, func(t *testing.T) {
			foreign, err := newTestIntent(t, c.desired).Foreign(c.live, c.ignored)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string][]string
			for _, entry := range foreign {
				if got == nil {
					got = map[string][]string{}
				}
				entry.Fields.Iterate(func(path fieldpath.Path) { got[entry.Name] = append(got[entry.Name], path.String()) })
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnownedItems: what nobody owns, and is not desired either.
func TestUnownedItems(t *testing.T) {
	const desired = "spec: {replicas: 3}"
	add := func(d *appsv1.Deployment) {
		app := &d.Spec.Template.Spec.Containers[0]
		app.Env = append(app.Env, corev1.EnvVar{Name: "OLD", Value: "x"})
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers,
			corev1.Container{Name: "side", Ports: []corev1.ContainerPort{{ContainerPort: 1}}})
		d.Spec.MinReadySeconds = 3
	}
	for name, c := range map[string]struct {
		live    Object
		desired string
		want    []string
	}{
		"nothing":             {live: newHistory(t).apply(us.Name, container("image: web:1")).live(), desired: desired},
		"no object":           {desired: desired},
		"no record of owners": {live: newHistory(t).apply(us.Name, container("image: web:1")).live(add, func(d *appsv1.Deployment) { d.ManagedFields = nil }), desired: desired},
		"items, the outermost of them, and no plain fields": {
			live: newHistory(t).apply(us.Name, container("image: web:1")).live(add), desired: desired,
			want: []string{inApp + `.env[name="OLD"]`, `.spec.template.spec.containers[name="side"]`},
		},
		"not what is desired": {
			live: newHistory(t).apply(us.Name, container("image: web:1")).live(add), desired: container("env: [{name: OLD, value: z}]"),
			want: []string{`.spec.template.spec.containers[name="side"]`},
		},
		"not one in which somebody has a field": {
			live:    newHistory(t).apply("gitops", podSpec("containers: [{name: app, image: a}]")).live(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].TTY = true }),
			desired: desired,
		},
	} {
		t.Run(name, func(t *testing.T) {
			unowned, err := newTestIntent(t, c.desired).UnownedItems(c.live)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			unowned.Iterate(func(path fieldpath.Path) { got = append(got, path.String()) })
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
