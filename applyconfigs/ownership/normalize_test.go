package ownership

import "testing"

func TestNormalQuantities(t *testing.T) {
	for given, want := range map[string]string{
		"1000m":      "'1'",
		"1":          "'1'",
		"1.0":        "'1'",
		"'1.5'":      "1500m",
		"0.1":        "100m",
		"1024Mi":     "1Gi",
		"1Gi":        "1Gi",
		"1000Mi":     "1000Mi",
		"'0'":        "'0'",
		"100u":       "1m",
		"nonsense":   "nonsense",
		"1000000000": "1G",
	} {
		config := container("resources: {requests: {cpu: " + given + "}}")
		content := fromYAML(t, identity+config).Object
		kind, err := resolveKind(types, deploymentGVK)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, given, kind.normalize(content), fromYAML(t, identity+container("resources: {requests: {cpu: "+want+"}}")).Object)
		wantEqual(t, given+" afterwards", content, fromYAML(t, identity+config).Object)
	}
}

// Only a resource list is rounded, and only quantities are touched at all.
func TestNormalizeElsewhere(t *testing.T) {
	intent := newTestIntent(t, "  annotations: {a: 1000m}\n"+
		podSpec("volumes: [{name: a, emptyDir: {sizeLimit: 1024Mi}}], containers: [{name: app, args: [1000m], env: [{name: A, value: 1000m}, {name: B, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 100u}}}]}]"))
	want := fromYAML(t, identity+"  annotations: {a: 1000m}\n"+
		podSpec("volumes: [{name: a, emptyDir: {sizeLimit: 1Gi}}], containers: [{name: app, args: [1000m], env: [{name: A, value: 1000m}, {name: B, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 100u}}}]}]"))
	wantEqual(t, "object", intent.Object(), want)
}
