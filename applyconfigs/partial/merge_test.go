package partial_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestMergeOver(t *testing.T) {
	for _, c := range []struct{ name, base, partial, merged string }{
		{"a field more", "{spec: {replicas: 1}}", "{spec: {paused: true}}", "{spec: {replicas: 1, paused: true}}"},
		{"keys of a map", "{metadata: {labels: {a: b}}}", "{metadata: {labels: {c: d}}}", "{metadata: {labels: {a: b, c: d}}}"},
		{
			"an entry that is there, and one that is not", "{spec: {template: {spec: {containers: [{name: app, image: a}]}}}}",
			"{spec: {template: {spec: {containers: [{name: proxy, image: b}, {name: app, stdin: true}]}}}}",
			"{spec: {template: {spec: {containers: [{name: proxy, image: b}, {name: app, image: a, stdin: true}]}}}}",
		},
		{
			"an entry of which the default is a key", "{spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 80, name: app}]}]}}}}",
			"{spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 80, protocol: TCP, hostPort: 80}, {containerPort: 80, protocol: UDP}]}]}}}}",
			"{spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 80, name: app, protocol: TCP, hostPort: 80}, {containerPort: 80, protocol: UDP}]}]}}}}",
		},
		{
			"a list without keys", "{spec: {template: {spec: {tolerations: [{key: a}]}}}}",
			"{spec: {template: {spec: {tolerations: [{key: b}]}}}}", "{spec: {template: {spec: {tolerations: [{key: b}]}}}}",
		},
		{
			"empty values that are told from none", "{spec: {replicas: 1}}",
			"{metadata: {annotations: {a: ''}}, spec: {revisionHistoryLimit: 0, template: {spec: {terminationGracePeriodSeconds: 0, enableServiceLinks: false, securityContext: {}, volumes: [{name: a, emptyDir: {medium: ''}}, {name: b, hostPath: {path: ''}}]}}}}",
			"{metadata: {annotations: {a: ''}}, spec: {replicas: 1, revisionHistoryLimit: 0, template: {spec: {terminationGracePeriodSeconds: 0, enableServiceLinks: false, securityContext: {}, volumes: [{name: a, emptyDir: {}}, {name: b, hostPath: {}}]}}}}",
		},
		{
			"empty values that are not", "{spec: {replicas: 1}}",
			"{metadata: {annotations: {}}, spec: {strategy: {type: ''}, paused: false, minReadySeconds: 0, template: {spec: {dnsPolicy: '', nodeSelector: {}, tolerations: [], containers: [{name: a, image: a, imagePullPolicy: '', args: [], resources: {}, livenessProbe: {periodSeconds: 0, exec: {command: [a]}}, ports: [{containerPort: 80, protocol: '', hostPort: 0}]}]}}}}",
			"{spec: {replicas: 1, template: {spec: {containers: [{name: a, image: a, livenessProbe: {exec: {command: [a]}}, ports: [{containerPort: 80}]}]}}}}",
		},
		{"nulls", "{metadata: {labels: {a: b}}, spec: {replicas: 1}}", "{metadata: {labels: null}, spec: {replicas: null, paused: true, template: {spec: null}}}", "{metadata: {labels: {a: b}}, spec: {replicas: 1, paused: true}}"},
		{
			"what is atomic, as the API server stores it", "{}",
			"{spec: {template: {spec: {tolerations: [{key: a, effect: ''}], volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: a}}, {downwardAPI: {items: [{path: a, resourceFieldRef: {resource: limits.cpu}}]}}]}}]}}}}",
			"{spec: {template: {spec: {tolerations: [{key: a}], volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: a, expirationSeconds: 3600}}, {downwardAPI: {items: [{path: a, resourceFieldRef: {resource: limits.cpu, divisor: '0'}}]}}]}}]}}}}",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := deployment(t, c.base)
			before := base.DeepCopy()
			merged, err := mustParse(t, c.partial).MergeOver(base)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(deployment(t, c.merged).Object, merged.Object); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			merged.SetLabels(map[string]string{"changed": "afterwards"})
			if diff := cmp.Diff(before, base); diff != "" {
				t.Errorf("the base was changed:\n%s", diff)
			}
		})
	}
}

func TestOverlap(t *testing.T) {
	base := deployment(t, `{metadata: {labels: {a: b}}, spec: {replicas: 1, template: {spec: {containers: [{name: app, image: a, args: [a],
		ports: [{containerPort: 80, name: app}], env: [{name: A, value: a}]}]}}}}`)
	const app = `.spec.template.spec.containers[name="app"]`
	for _, c := range []struct{ partial, overlap string }{
		{"{spec: {paused: true, template: {spec: {containers: [{name: app, stdin: true, ports: [{containerPort: 80, hostPort: 80}]}, {name: b, image: b}]}}}}", ""},
		{"{spec: {replicas: 1}}", ".spec.replicas"},
		{"{spec: {replicas: null, strategy: {}}}", ""},
		{"{metadata: {labels: {a: c, d: e}}}", ".metadata.labels.a"},
		{"{metadata: {labels: {}}}", ""},
		{
			"{spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 80, protocol: '', name: ''}, {containerPort: 81, protocol: ''}]}]}}}}", "",
		},
		{
			"{spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 80, protocol: '', name: b}]}]}}}}",
			app + `.ports[containerPort=80,protocol="TCP"].name`,
		},
		{
			"{spec: {template: {spec: {containers: [{name: app, image: b, args: [], ports: [{containerPort: 80, protocol: TCP, name: b}], env: [{name: A, value: ''}, {name: B, value: b}]}]}}}}",
			app + ".args " + app + `.env[name="A"].value ` + app + ".image " + app + `.ports[containerPort=80,protocol="TCP"].name`,
		},
	} {
		overlap, err := mustParse(t, c.partial).Overlap(base)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		overlap.Iterate(func(path fieldpath.Path) { paths = append(paths, path.String()) })
		slices.Sort(paths)
		if got := strings.Join(paths, " "); got != c.overlap {
			t.Errorf("%s: %q, want %q", c.partial, got, c.overlap)
		}
	}
}

func TestBaseOfAnotherKind(t *testing.T) {
	object := mustParse(t, "{spec: {paused: true}}")
	base := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"a": "b"}}}
	if merged, err := object.MergeOver(base); err == nil {
		t.Errorf("merged to %v", merged)
	}
	if overlap, err := object.Overlap(make(chan int)); err == nil {
		t.Errorf("overlap %v", overlap)
	}
}
