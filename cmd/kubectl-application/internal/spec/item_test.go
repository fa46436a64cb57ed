package spec_test

import (
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/spec"
)

// TestPorts: a printed command means the port of the path's protocol, wherever it stands, and no other.
func TestPorts(t *testing.T) {
	service := map[string]any{"spec": map[string]any{"ports": []any{
		map[string]any{"name": "tcp", "port": int64(53), "protocol": "TCP"}, map[string]any{"name": "udp", "port": int64(53), "protocol": "UDP"},
	}}}
	udp := fieldpath.MakePathOrDie("spec", "ports", fieldpath.KeyByFields("port", int64(53), "protocol", "UDP"))
	const tests = `[{"op":"test","path":"/spec/ports/1/port","value":53},{"op":"test","path":"/spec/ports/1/protocol","value":"UDP"},`
	const command = "kubectl patch service/web --type=json --patch='" + tests

	got, err := spec.Write(shell.Target{}, "service/web", service, append(udp.Copy(), fieldpath.MakePathOrDie("name")...), "dns")
	if want := command + `{"op":"add","path":"/spec/ports/1/name","value":"dns"}]'`; got != want || err != nil {
		t.Errorf("Write: %s, %v; want %s", got, err, want)
	}
	got, err = spec.Replace(shell.Target{}, "service/web", service, udp, map[string]any{"port": 54})
	if want := command + `{"op":"replace","path":"/spec/ports/1","value":{"port":54}}]'`; got != want || err != nil {
		t.Errorf("Replace: %s, %v; want %s", got, err, want)
	}
	absent := fieldpath.MakePathOrDie("spec", "ports", fieldpath.KeyByFields("port", int64(80), "protocol", "TCP"))
	if got, err := spec.Replace(shell.Target{}, "service/web", service, absent, nil); err == nil {
		t.Errorf("a port that is not there is replaced: %s", got)
	}
}
