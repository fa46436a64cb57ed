package oracle

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// plainImage is the field that the cases below are about.
const plainImage = mainContainer + ".image"

func parseObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return object
}

func application(t *testing.T, spec string) *unstructured.Unstructured {
	return parseObject(t, "{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: web, uid: u}, spec: "+spec+"}")
}

// liveChild returns the Deployment that app wants, with an image and the managedFields of that image's owners; the operator
// owns all else.
func liveChild(t *testing.T, app *unstructured.Unstructured, image string, imageOwners ...string) *unstructured.Unstructured {
	t.Helper()
	content, err := childContent(deployment, settings{{key: "image", value: image}})
	if err != nil {
		t.Fatal(err)
	}
	metadata, spec := within(content, "metadata"), within(content, "spec")
	metadata["labels"] = childLabels(appName)
	metadata["ownerReferences"] = []any{controllerReference(app)}
	spec["selector"] = map[string]any{"matchLabels": selectorLabels(appName)}
	within(within(spec, "template"), "metadata")["labels"] = childLabels(appName)
	container := `"k:{\"name\":\"app\"}"`
	labels := `"f:labels":{"f:app":{},"f:owner":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{}}`
	fieldsOf := func(own bool, image string) string {
		if !own {
			return fmt.Sprintf(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{%s:{%s}}}}}}`, container, image)
		}
		return fmt.Sprintf(`{"f:metadata":{%s,"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}},`+
			`"f:spec":{"f:selector":{},"f:template":{"f:metadata":{%s},"f:spec":{"f:containers":{%s:{".":{},"f:name":{}%s}}}}}}`,
			labels, labels, container, image)
	}
	var entries []any
	add := func(manager, operation, fields string) {
		var tree map[string]any
		if err := yaml.Unmarshal([]byte(fields), &tree); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, map[string]any{"manager": manager, "operation": operation, "apiVersion": deploymentVersion, "fieldsType": "FieldsV1", "fieldsV1": tree})
	}
	ours := ""
	if slices.Contains(imageOwners, operatorName) {
		ours = `,"f:image":{}`
	}
	add(operatorName, "Apply", fieldsOf(true, ours))
	for _, other := range imageOwners {
		if other != operatorName {
			add(other, "Update", fieldsOf(false, `"f:image":{}`))
		}
	}
	metadata["managedFields"] = entries
	return &unstructured.Unstructured{Object: content}
}

func TestJudge(t *testing.T) {
	const refused, adopted = "refused", "adopted"
	for _, c := range []struct {
		name   string
		spec   string
		image  string
		owners []string
		change func(live *unstructured.Unstructured)
		// what is expected
		reason    string
		contested []string
		held      bool
	}{
		{name: "as wanted", spec: "{image: a}", image: "a", owners: []string{operatorName}, reason: reasonSynced, held: true},
		{name: "an equal value is shared", spec: "{image: a}", image: "a", owners: []string{operatorName, "x"}, reason: reasonSynced, held: true},
		{name: "nobody's value is to be taken", spec: "{image: a}", image: "b", reason: reasonSynced, held: true},
		{name: "contested", spec: "{image: a}", image: "b", owners: []string{"x"}, reason: reasonFieldConflict, contested: []string{"x"}},
		{name: "by two", spec: "{image: a}", image: "b", owners: []string{"y", "x"}, reason: reasonFieldConflict, contested: []string{"x", "y"}},
		{name: "yielded", spec: "{image: a, conflictPolicy: Yield}", image: "b", owners: []string{"x"}, reason: reasonFieldsYielded, contested: []string{"x"}, held: true},
		{name: "lost", spec: "{image: a}", image: "b", owners: []string{unknownName}, reason: reasonOwnershipLost, contested: []string{unknownName}},
		{name: "paused, contested", spec: "{image: a, paused: true}", image: "b", owners: []string{"x"}, reason: reasonPaused, contested: []string{"x"}},
		{name: "paused, to be changed", spec: "{image: a, paused: true}", image: "b", reason: reasonPaused},
		{name: "paused, as wanted", spec: "{image: a, paused: true}", image: "a", owners: []string{operatorName}, reason: reasonSynced, held: true},
		{name: "a partial object is wanted, too", spec: "{image: a, paused: true, deployment: {spec: {minReadySeconds: 1}}}", image: "a", owners: []string{operatorName}, reason: reasonPaused},
		{name: "a contradiction", spec: "{image: a, deployment: {metadata: {labels: {owner: x}}}}", image: "b", owners: []string{"x"}, reason: reasonInvalid},
		{name: refused, spec: "{image: a}", image: "a", owners: []string{operatorName}, reason: reasonResourceExists,
			change: func(live *unstructured.Unstructured) { live.SetOwnerReferences(nil) }},
		{name: adopted, spec: "{image: a}", image: "a", owners: []string{operatorName}, reason: reasonSynced, held: true,
			change: func(live *unstructured.Unstructured) {
				live.SetOwnerReferences(nil)
				live.SetAnnotations(map[string]string{adoptAnnotation: appName})
			}},
		{name: "adoption of another selector", spec: "{image: a}", image: "a", owners: []string{operatorName}, reason: reasonResourceExists,
			change: func(live *unstructured.Unstructured) {
				live.SetOwnerReferences(nil)
				live.SetAnnotations(map[string]string{adoptAnnotation: appName})
				_ = unstructured.SetNestedField(live.Object, "other", "spec", "selector", "matchLabels", "app")
			}},
		{name: "wiped", spec: "{image: a}", image: "b", reason: reasonOwnershipLost, contested: []string{unknownName},
			change: func(live *unstructured.Unstructured) { live.SetManagedFields(nil) }},
		{name: "a source of nobody's beside the value of a variable", spec: "{image: a, env: [{name: A, value: x}]}", image: "a", owners: []string{operatorName}, reason: reasonSynced, held: true,
			change: func(live *unstructured.Unstructured) {
				containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
				containers[0].(map[string]any)["env"] = []any{map[string]any{"name": "A", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "p"}}}}
				_ = unstructured.SetNestedSlice(live.Object, containers, "spec", "template", "spec", "containers")
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			app := application(t, c.spec)
			live := liveChild(t, app, c.image, c.owners...)
			if c.change != nil {
				c.change(live)
			}
			got := judge(app, deployment, live)
			var contested []string
			for _, one := range got.conflicts {
				if one.field != plainImage {
					t.Errorf("contested: %s", one)
				}
				contested = append(contested, one.owner.name)
			}
			if got.reason != c.reason || !slices.Equal(contested, c.contested) || (got.held != nil) != c.held {
				t.Errorf("%s, contested by %v, held: %t; expected %s, %v, %t", got.reason, contested, got.held != nil, c.reason, c.contested, c.held)
			}
		})
	}
}

// TestExcluded: what stands beside something that excludes it, by whom, and what the operator is left with.
func TestExcluded(t *testing.T) {
	const (
		variable = mainContainer + `.env[name="A"]`
		probe    = mainContainer + ".livenessProbe"
		port     = `.spec.ports[port=80,protocol="TCP"]`
		other    = `.spec.ports[port=81,protocol="TCP"]`
	)
	for _, c := range []struct {
		name string
		kind string
		held fields
		live fields
		// owned by x, and by the operator
		theirs, ours []string
		contested    []string
		left         []string
	}{
		{
			name: "a value", kind: deployment, held: fields{variable: isItem, variable + ".value": "a"},
			live: fields{variable: isItem, variable + ".valueFrom.fieldRef": "p"}, theirs: []string{variable + ".valueFrom.fieldRef"}, ours: []string{variable},
			contested: []string{variable + ".valueFrom.fieldRef"}, left: []string{variable},
		},
		{
			name: "a handler of which the operator has a part", kind: deployment, held: fields{probe + ".tcpSocket.port": 1},
			live:   fields{probe + ".httpGet.port": 1, probe + ".httpGet.path": "/"},
			theirs: []string{probe + ".httpGet.path"}, ours: []string{probe + ".httpGet.port"},
			contested: []string{probe + ".httpGet.path"}, left: []string{probe + ".httpGet.port"},
		},
		{
			name: "the rest of a probe", kind: deployment, held: fields{},
			live:   fields{probe + ".exec.command": "a", probe + ".periodSeconds": 3},
			theirs: []string{probe + ".periodSeconds"}, ours: []string{probe + ".exec.command"},
			contested: []string{probe + ".periodSeconds"}, left: []string{probe + ".exec.command"},
		},
		{
			name: "parameters of another strategy", kind: deployment, held: fields{strategyType: "Recreate"},
			live: fields{strategyType: "RollingUpdate", rollingUpdate + ".maxSurge": 1}, theirs: []string{rollingUpdate + ".maxSurge"},
			contested: []string{rollingUpdate + ".maxSurge"},
		},
		{
			name: "another strategy, for its parameters", kind: deployment, held: fields{rollingUpdate + ".maxSurge": 1},
			live: fields{strategyType: "Recreate"}, theirs: []string{strategyType}, contested: []string{strategyType},
		},
		{
			name: "a source of a volume", kind: deployment, held: fields{volumeList + "v]": isItem, volumeList + "v].emptyDir": map[string]any{}},
			live:      fields{volumeList + "v]": isItem, volumeList + "v].configMap.name": "c"},
			theirs:    []string{volumeList + "v]", volumeList + "v].configMap.name"},
			contested: []string{volumeList + "v].configMap.name"}, left: []string{volumeList + "v]"},
		},
		{
			name: "a name", kind: service, held: fields{port: isItem, port + ".name": "app", port + ".port": 80},
			live: fields{other: isItem, other + ".name": "app", other + ".port": 81}, theirs: []string{other, other + ".name", other + ".port"},
			contested: []string{other + ".name"},
		},
		{
			name: "no name", kind: service, held: fields{port: isItem, port + ".name": "app", port + ".port": 80},
			live: fields{other: isItem, other + ".port": 81}, theirs: []string{other, other + ".port"},
			contested: []string{other},
		},
		{
			name: "another name", kind: service, held: fields{port: isItem, port + ".name": "app"},
			live: fields{other: isItem, other + ".name": "b"}, theirs: []string{other, other + ".name"}, left: []string{port, port + ".name"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			owners := ownership{}
			for by, paths := range map[owner][]string{{name: "x", operation: "Update"}: c.theirs, {name: operatorName, operation: "Apply"}: c.ours} {
				owners[by] = map[string]bool{}
				for _, path := range paths {
					owners[by][path] = true
				}
			}
			conflicts, left, _ := excluded(c.kind, c.held, c.live, owners)
			var contested []string
			for _, one := range conflicts {
				contested = append(contested, one.field)
			}
			if diff := cmp.Diff(c.contested, contested); diff != "" {
				t.Errorf("contested (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.left, left.paths()); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeInvalid(t *testing.T) {
	app := application(t, "{image: a, deployment: {spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}}}")
	if got := judge(app, deployment, nil); got.exists == nil || *got.exists || got.reason != reasonInvalid {
		t.Error("what is invalid in itself is not created")
	}
}

func TestJudgeService(t *testing.T) {
	app := application(t, "{image: a, port: 80, expose: ClusterIP}")
	if got := judge(app, service, nil); got.exists == nil || !*got.exists {
		t.Error("a Service is wanted")
	}
	app = application(t, "{image: a, port: 80}")
	if got := judge(app, service, nil); got.exists == nil || *got.exists || got.reason != reasonSynced {
		t.Error("no Service is wanted")
	}
	theirs := parseObject(t, "{apiVersion: v1, kind: Service, metadata: {name: web}}")
	if got := judge(app, service, theirs); got.exists == nil || !*got.exists || got.reason != reasonSynced {
		t.Error("somebody else's Service does not matter")
	}
}

func TestValid(t *testing.T) {
	probe := mainContainer + ".livenessProbe"
	for name, c := range map[string]struct {
		kind  string
		child fields
		want  bool
	}{
		"a probe":                  {deployment, fields{probe + ".tcpSocket.port": int64(1), probe + ".periodSeconds": int64(5)}, true},
		"no handler":               {deployment, fields{probe + ".periodSeconds": int64(5)}, false},
		"two handlers":             {deployment, fields{probe + ".tcpSocket.port": int64(1), probe + ".exec.command": []any{"x"}}, false},
		"a handler without a port": {deployment, fields{probe + ".httpGet.path": "/"}, false},
		"ports of one name": {deployment, fields{
			mainContainer + ".ports[containerPort=1]": isItem, mainContainer + ".ports[containerPort=1].name": "a",
			mainContainer + ".ports[containerPort=2]": isItem, mainContainer + ".ports[containerPort=2].name": "a",
		}, false},
		"parameters of no rolling update": {deployment, fields{strategyType: "Recreate", rollingUpdate + ".maxSurge": int64(1)}, false},
		"parameters of a rolling update":  {deployment, fields{strategyType: "RollingUpdate", rollingUpdate + ".maxSurge": int64(1)}, true},
		"a volume of two sources": {deployment, fields{
			volumeList + "v]": isItem, volumeList + "v].emptyDir": map[string]any{}, volumeList + "v].configMap.name": "c",
		}, false},
		"a mount of nothing": {deployment, fields{mainContainer + ".volumeMounts[m]": isItem, mainContainer + ".volumeMounts[m].name": "v"}, false},
		"a mount": {deployment, fields{
			mainContainer + ".volumeMounts[m]": isItem, mainContainer + ".volumeMounts[m].name": "v", volumeList + "v]": isItem, volumeList + "v].name": "v",
		}, true},
		"a container without an image": {deployment, fields{mainContainer: isItem}, false},
		"a port without a name": {service, fields{
			".spec.ports[port=1]": isItem, ".spec.ports[port=1].name": "a", ".spec.ports[port=2]": isItem,
		}, false},
		"a target without a letter": {service, fields{".spec.ports[port=1]": isItem, ".spec.ports[port=1].targetPort": "70"}, false},
		"the only port needs none":  {service, fields{".spec.ports[port=1]": isItem}, true},
	} {
		if got := valid(c.kind, c.child); got != c.want {
			t.Errorf("%s: valid is %t", name, got)
		}
	}
}

func TestTransitionRules(t *testing.T) {
	const item = mainContainer + `.env[name="A"]`
	other, us := owner{name: "x", operation: "Update"}, owner{name: operatorName, operation: "Apply"}
	r := &run{world: &world{history: newHistory(nil)}}
	r.world.history.versions[objectKey{kind: appKind}] = []version{{number: 1, object: application(t, "{image: a}")}}
	for name, c := range map[string]struct {
		path    string
		was, is fields
		before  ownership
		after   ownership
		want    string
	}{
		"seized":           {".spec.x", fields{".spec.x": "1"}, fields{".spec.x": "2"}, ownership{other: {".spec.x": true}}, nil, "I2"},
		"removed":          {".spec.x", fields{".spec.x": "1"}, fields{}, ownership{other: {".spec.x": true}}, nil, "I2"},
		"a default":        {".spec.x", fields{}, fields{".spec.x": "1"}, nil, nil, ""},
		"gone with a type": {".spec.x", fields{".spec.x": "1"}, fields{}, nil, nil, ""},
		"not asked for":    {".spec.x", fields{}, fields{".spec.x": "1"}, nil, ownership{us: {".spec.x": true}}, "I5"},
		"back to default":  {".spec.replicas", fields{".spec.replicas": int64(3)}, fields{".spec.replicas": int64(1)}, ownership{us: {".spec.replicas": true}}, nil, "I5"},
		"with its item":    {item + ".value", fields{item: isItem, item + ".value": "1"}, fields{}, ownership{us: {item: true}, other: {item + ".value": true}}, nil, ""},
		"an item of both": {item + ".value", fields{item: isItem, item + ".value": "1"}, fields{item: isItem}, ownership{us: {item: true}, other: {item: true, item + ".value": true}},
			nil, "I2"},
	} {
		got := ""
		if found := r.judgeField(deployment, c.path, c.was, c.is, c.before, c.after); found != nil {
			got = found.invariant
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// TestOutcome: what the API server had added to a struct goes with what the operator had of it, unless somebody else has a
// part in it.
func TestOutcome(t *testing.T) {
	const probe = mainContainer + ".livenessProbe"
	live := fields{
		probe + ".httpGet.path": "/", probe + ".httpGet.port": int64(1), probe + ".httpGet.scheme": "HTTP",
		probe + ".failureThreshold": int64(6), probe + ".periodSeconds": int64(10), ".spec.paused": true,
	}
	owners := ownership{
		{name: operatorName, operation: "Apply"}: {probe + ".httpGet.path": true, probe + ".httpGet.port": true},
		{name: "x", operation: "Update"}:         {probe + ".failureThreshold": true, ".spec.paused": true},
	}
	for name, c := range map[string]struct {
		held fields
		want []string
	}{
		"nothing is wanted there":    {fields{}, []string{".spec.paused", probe + ".failureThreshold", probe + ".periodSeconds"}},
		"a part of it still is":      {fields{probe + ".httpGet.port": int64(1)}, []string{".spec.paused", probe + ".failureThreshold", probe + ".httpGet.port", probe + ".httpGet.scheme", probe + ".periodSeconds"}},
		"another handler is instead": {fields{probe + ".tcpSocket.port": int64(2)}, []string{".spec.paused", probe + ".failureThreshold", probe + ".periodSeconds", probe + ".tcpSocket.port"}},
	} {
		if got := outcome(c.held, live, owners).paths(); !slices.Equal(got, c.want) {
			t.Errorf("%s: left are %v, want %v", name, got, c.want)
		}
	}
}

// TestContestedMap: a map that has gone with its last entry still has the owner that somebody had become of the map.
func TestContestedMap(t *testing.T) {
	const limits = mainContainer + ".resources.limits"
	owners := ownership{{name: "x", operation: "Update"}: {limits: true}}
	wanted := fields{limits + ".cpu": "500m"}
	got := contestedFields(deployment, wanted, fields{mainContainer + ".resources": map[string]any{}}, owners)
	if len(got) != 1 || got[0].field != limits || got[0].owner.name != "x" {
		t.Errorf("contested: %v", got)
	}
	if got := contestedFields(deployment, wanted, fields{limits + ".memory": "1Gi"}, owners); len(got) > 0 {
		t.Errorf("contested although the map is there: %v", got)
	}
}
