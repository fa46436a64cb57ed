package ownership

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestForeign: what others own beside an intent.
func TestForeign(t *testing.T) {
	const desired = "spec: {replicas: 3}"
	for name, c := range map[string]struct {
		live    Object
		desired string
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
		"what is empty": {live: newHistory(t).apply("gitops", podSpec("securityContext: {}, nodeSelector: {}")).live(), desired: desired},
		"what is gone": {
			live:    newHistory(t).apply("gitops", "spec: {minReadySeconds: 4}").live(func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 0 }),
			desired: desired,
		},
	} {
		t.Run(name, func(t *testing.T) {
			foreign, err := newTestIntent(t, c.desired).Foreign(c.live)
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
