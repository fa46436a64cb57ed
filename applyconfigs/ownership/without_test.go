package ownership

import (
	"errors"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestWithout(t *testing.T) {
	for name, tc := range map[string]struct {
		config string
		remove []string
		want   string
	}{
		"nothing": {config: "spec: {replicas: 3}", want: "spec: {replicas: 3}"},
		"a leaf": {
			config: "spec: {replicas: 3, paused: true}",
			remove: []string{".spec.replicas"},
			want:   "spec: {paused: true}",
		},
		"the last leaf": {config: "spec: {replicas: 3}", remove: []string{".spec.replicas"}},
		"a map entry": {
			config: container("image: a, resources: {limits: {cpu: '1', memory: 1Gi}}"),
			remove: []string{inApp + ".resources.limits.cpu"},
			want:   container("image: a, resources: {limits: {memory: 1Gi}}"),
		},
		"the last entry of nested maps": {
			config: container("image: a, resources: {limits: {cpu: '1'}}"),
			remove: []string{inApp + ".resources.limits.cpu"},
			want:   container("image: a"),
		},
		"all but the key of an item": {
			config: container("image: a"),
			remove: []string{inApp + ".image"},
			want:   podSpec("containers: [{name: app}]"),
		},
		"all but the keys of a port": {
			config: container("ports: [{containerPort: 53, protocol: UDP, name: dns}, {containerPort: 80, name: http}]"),
			remove: []string{inApp + `.ports[containerPort=53,protocol="UDP"].name`, inApp + `.ports[containerPort=80,protocol="TCP"].name`},
			want:   container("ports: [{containerPort: 53, protocol: UDP}, {containerPort: 80}]"),
		},
		"a key field": {
			config: container("image: a, env: [{name: A, value: x}]"),
			remove: []string{inApp + ".name", inApp + `.env[name="A"].name`},
			want:   container("image: a, env: [{name: A, value: x}]"),
		},
		"an item": {
			config: container("env: [{name: A, value: x}, {name: B, value: x}]"),
			remove: []string{inApp + `.env[name="A"]`},
			want:   container("env: [{name: B, value: x}]"),
		},
		"an item with its key field": {
			config: container("env: [{name: A, value: x}, {name: B, value: x}]"),
			remove: []string{inApp + `.env[name="A"]`, inApp + `.env[name="A"].name`, inApp + `.env[name="A"].value`},
			want:   container("env: [{name: B, value: x}]"),
		},
		"the last item": {
			config: container("image: a, env: [{name: A, value: x}]"),
			remove: []string{inApp + `.env[name="A"]`},
			want:   container("image: a"),
		},
		"a leaf in one of two items": {
			config: container("env: [{name: A, valueFrom: {fieldRef: {fieldPath: a}}}, {name: B, valueFrom: {fieldRef: {fieldPath: a}}}]"),
			remove: []string{inApp + `.env[name="A"].valueFrom.fieldRef`},
			want:   container("env: [{name: A}, {name: B, valueFrom: {fieldRef: {fieldPath: a}}}]"),
		},
		"an atomic list": {
			config: container("image: a, args: [a, b]"),
			remove: []string{inApp + ".args"},
			want:   container("image: a"),
		},
		"an atomic map": {
			config: "spec: {replicas: 3, selector: {matchLabels: {a: b, c: d}}}",
			remove: []string{".spec.selector"},
			want:   "spec: {replicas: 3}",
		},
		"part of an atomic map": {
			config: "spec: {replicas: 3, selector: {matchLabels: {a: b, c: d}}}",
			remove: []string{".spec.selector.matchLabels"},
			want:   "spec: {replicas: 3, selector: {matchLabels: {a: b, c: d}}}",
		},
		"a map that is no field itself": {
			config: container("image: a, resources: {limits: {cpu: '1'}, requests: {cpu: '1'}}"),
			remove: []string{inApp + ".resources"},
			want:   container("image: a"),
		},
		"a whole list": {
			config: "spec: {replicas: 3, template: {spec: {containers: [{name: app, image: a}]}}}",
			remove: []string{".spec.template.spec.containers"},
			want:   "spec: {replicas: 3}",
		},
		"a set item": {
			config: "  finalizers: [a/b, c/d]",
			remove: []string{`.metadata.finalizers[="a/b"]`},
			want:   "  finalizers: [c/d]",
		},
		"the last annotation": {
			config: "  annotations: {example.com/a.b/c: x}\nspec: {replicas: 3}",
			remove: []string{".metadata.annotations.example.com/a.b/c"},
			want:   "spec: {replicas: 3}",
		},
		"what is not there": {
			config: "spec: {replicas: 3}",
			remove: []string{".spec.paused", inApp + ".image", ".metadata.labels.a"},
			want:   "spec: {replicas: 3}",
		},
		"identity": {
			config: "spec: {replicas: 3}",
			remove: []string{".apiVersion", ".kind", ".metadata", ".metadata.name"},
			want:   "spec: {replicas: 3}",
		},
		"an empty map with a meaning": {
			config: podSpec("volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {medium: Memory}}]"),
			remove: []string{`.spec.template.spec.volumes[name="a"].emptyDir.medium`, `.spec.template.spec.volumes[name="b"].emptyDir.medium`},
			want:   podSpec("volumes: [{name: a, emptyDir: {}}, {name: b}]"),
		},
		"a null with a meaning": {
			config: podSpec("volumes: [{name: a, emptyDir: null}, {name: b, emptyDir: {medium: Memory}}]"),
			remove: []string{`.spec.template.spec.volumes[name="b"].emptyDir.medium`},
			want:   podSpec("volumes: [{name: a, emptyDir: null}, {name: b}]"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			intent := newTestIntent(t, tc.config)
			var conflicts []Conflict
			for _, path := range tc.remove {
				conflicts = append(conflicts, Conflict{Field: path})
			}
			rest, err := intent.Without(conflicts)
			if err != nil {
				t.Fatal(err)
			}
			want := newTestIntent(t, tc.want)
			wantEqual(t, "object", rest.Object(), want.Object())
			wantEqual(t, "fields", paths(rest.Fields()), paths(want.Fields()))
			wantEqual(t, "original", intent.Object(), newTestIntent(t, tc.config).Object())
		})
	}
}

func TestWithoutUnknownField(t *testing.T) {
	if _, err := newTestIntent(t, "spec: {replicas: 3}").Without([]Conflict{{Field: ".spec.nonsense"}}); err == nil {
		t.Error("a field that Deployments do not have was taken for one")
	}
}

func TestWithoutTheOnlyFieldOfAnItem(t *testing.T) {
	intent := newTestIntent(t, container("env: [{value: x}]"))
	if rest, err := intent.Without([]Conflict{{Field: inApp + `.env[name=""].value`}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("intent %v, error %v", rest, err)
	}
}

// Giving up exactly what is contested leaves nothing contested, and only that is missing.
func TestWithoutConflictsHasNone(t *testing.T) {
	live := newHistory(t).
		apply("gitops", container("image: a, args: [a], env: [{name: A, value: x}], resources: {limits: {cpu: '1'}}")).
		update("kubectl", setReplicas(5)).live(through("scale", "kubectl"))
	desired := newTestIntent(t, "spec: {replicas: 3, template: {spec: {containers: [{name: app, image: b, args: [b], env: [{name: A, value: z}, {name: B, value: z}], resources: {limits: {cpu: '2', memory: 1Gi}}}]}}}")
	conflicts, err := desired.Conflicts(live)
	if err != nil {
		t.Fatal(err)
	}
	contested := []string{".spec.replicas", inApp + ".args", inApp + `.env[name="A"].value`, inApp + ".image", inApp + ".resources.limits.cpu"}
	wantEqual(t, "contested", len(conflicts), len(contested))
	rest, err := desired.Without(conflicts)
	if err != nil {
		t.Fatal(err)
	}
	left, err := rest.Conflicts(live)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "conflicts left", left, nil)
	wantEqual(t, "fields given up", paths(desired.Fields().Difference(rest.Fields())), contested)
}

func TestWithLive(t *testing.T) {
	live := newHistory(t).apply("gitops", "spec: {replicas: 7, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}, template: {spec: {containers: [{name: app, image: a, env: [{name: A, value: x}, {name: B, value: x}]}]}}}").live()
	for name, tc := range map[string]struct {
		config string
		add    []string
		want   string
	}{
		"a leaf":             {add: []string{".spec.replicas"}, want: "spec: {replicas: 7}"},
		"beside others":      {config: "spec: {paused: true}", add: []string{".spec.replicas"}, want: "spec: {paused: true, replicas: 7}"},
		"over another value": {config: "spec: {replicas: 3}", add: []string{".spec.replicas"}, want: "spec: {replicas: 7}"},
		"a whole map": {
			config: "spec: {strategy: {type: Recreate}}",
			add:    []string{".spec.strategy.rollingUpdate"},
			want:   "spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}",
		},
		"within an item": {
			config: container("image: b, env: [{name: B, value: z}]"),
			add:    []string{inApp + `.env[name="A"].value`},
			want:   container("image: b, env: [{name: B, value: z}, {name: A, value: x}]"),
		},
		"what live has not": {config: "spec: {paused: true}", add: []string{".spec.minReadySeconds"}, want: "spec: {paused: true}"},
		"nothing":           {config: "spec: {paused: true}", want: "spec: {paused: true}"},
		"identity":          {config: "spec: {paused: true}", add: []string{".metadata.uid"}, want: "spec: {paused: true}"},
	} {
		t.Run(name, func(t *testing.T) {
			shared, err := newTestIntent(t, tc.config).WithLive(live, set(t, tc.add...))
			if err != nil {
				t.Fatal(err)
			}
			want := newTestIntent(t, tc.want)
			wantEqual(t, "object", shared.Object(), want.Object())
			wantEqual(t, "fields", paths(shared.Fields()), paths(want.Fields()))
		})
	}
	if _, err := newTestIntent(t, "").WithLive(nil, fieldpath.NewSet()); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("no live object: error is %v", err)
	}
}
