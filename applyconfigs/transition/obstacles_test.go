package transition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/transition"
)

// obstacleTest: the operator applied ours, somebody changed that to theirs, and the operator wants ours still, or
// something else. All are fields of the container, but for volumes.
type obstacleTest struct {
	name, ours, theirs, wanted string
	volumes                    [2]string
	// conflicts are the contested fields of the pod's spec, and after each what it is against.
	conflicts string
}

const (
	someEnv   = `env[name="A"]`
	someProbe = "{httpGet: {path: /, port: 80}}"
)

var obstacleTests = []obstacleTest{
	{
		name: "a variable gets a source", ours: "env: [{name: A, value: ours}]",
		theirs:    "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
		conflicts: someEnv + ".valueFrom.fieldRef against " + someEnv + ".value",
	},
	{
		name: "a variable gets a value", ours: "env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: a}}}]",
		theirs:    "env: [{name: A, value: theirs}]",
		conflicts: someEnv + ".value against " + someEnv + ".valueFrom",
	},
	{
		name: "a variable gets another source", ours: "env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: a}}}, {name: B, value: b}]",
		theirs:    "env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: a}}}, {name: B, value: b}]",
		conflicts: someEnv + ".valueFrom.secretKeyRef against " + someEnv + ".valueFrom.configMapKeyRef",
	},
	{
		name: "a probe gets another handler", ours: "readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 7}",
		theirs:    "readinessProbe: {tcpSocket: {port: 81}, periodSeconds: 7}",
		conflicts: "readinessProbe.tcpSocket.port against readinessProbe.httpGet",
	},
	{
		name: "a probe gets a command", ours: "startupProbe: {grpc: {port: 80}}", theirs: "startupProbe: {exec: {command: [a]}}",
		conflicts: "startupProbe.exec.command against startupProbe.grpc",
	},
	{
		name: "a hook gets another handler", ours: "lifecycle: {preStop: {exec: {command: [a]}}}", theirs: "lifecycle: {preStop: {sleep: {seconds: 3}}}",
		conflicts: "lifecycle.preStop.sleep.seconds against lifecycle.preStop.exec",
	},
	{
		name: "a port gets another number", ours: "ports: [{name: app, containerPort: 8080}]", theirs: "ports: [{name: app, containerPort: 9090}]",
		conflicts: `ports[containerPort=9090,protocol="TCP"].name against ports[containerPort=8080,protocol="TCP"]`,
	},
	{
		name: "a port gets another protocol", ours: "ports: [{name: app, containerPort: 8080}, {name: more, containerPort: 1}]",
		theirs:    "ports: [{name: app, containerPort: 8080, protocol: UDP}, {name: more, containerPort: 1}]",
		conflicts: `ports[containerPort=8080,protocol="UDP"].name against ports[containerPort=8080,protocol="TCP"]`,
	},
	{
		name: "the wanted handler changes, and somebody holds a part of the old one", ours: "livenessProbe: " + someProbe,
		theirs: "livenessProbe: {httpGet: {path: /theirs, port: 80}}", wanted: "livenessProbe: {tcpSocket: {port: 80}}",
		conflicts: "livenessProbe.httpGet.path against livenessProbe.tcpSocket",
	},
	{
		name: "no probe is wanted any more, and somebody holds a part of it", ours: "livenessProbe: " + someProbe,
		theirs: "livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 33}", wanted: "workingDir: /",
		conflicts: "livenessProbe.periodSeconds against livenessProbe",
	},
	{
		name: "no probe is wanted any more, and somebody holds a part of its handler", ours: "livenessProbe: " + someProbe,
		theirs: "livenessProbe: {httpGet: {path: /theirs, port: 80}}", wanted: "workingDir: /",
		conflicts: "livenessProbe.httpGet.path against livenessProbe.httpGet",
	},
	{
		name: "a volume gets another source", volumes: [2]string{"{name: v, emptyDir: {}}", "{name: v, persistentVolumeClaim: {claimName: a}}"},
		conflicts: `volumes[name="v"].persistentVolumeClaim.claimName against volumes[name="v"].emptyDir`,
	},
}

func (c *obstacleTest) before() string { return podSpec("nginx:1", c.ours, c.volumes[0]) }
func (c *obstacleTest) change() string { return podSpec("nginx:1", c.theirs, c.volumes[1]) }

func (c *obstacleTest) wants(image string) string {
	if c.wanted == "" {
		return podSpec(image, c.ours, c.volumes[0])
	}
	return podSpec(image, c.wanted, c.volumes[0])
}

func podSpec(image, container, volume string) string {
	return fmt.Sprintf(`{selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {
		containers: [{name: app, image: %q, %s}], volumes: [%s]}}}`, image, container, volume)
}

// against renders the conflicts as the tests write them.
func against(plan *transition.Plan) string {
	var list []string
	for _, c := range plan.Conflicts {
		list = append(list, fmt.Sprintf("%s against %s", c.Field, c.Against))
	}
	short := strings.ReplaceAll(strings.Join(list, " "), `.spec.template.spec.containers[name="app"].`, "")
	return strings.ReplaceAll(short, ".spec.template.spec.", "")
}

// TestObstacles: what is foretold, and which steps there are, for each kind of obstacle.
func TestObstacles(t *testing.T) {
	for _, c := range obstacleTests {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			s.apply(v1alpha1.FieldManager, c.before())
			s.update("ops", c.change())
			plan := func(image string, policy v1alpha1.ConflictPolicy) *transition.Plan {
				t.Helper()
				plan, err := transition.For(types, intent(t, c.wants(image)), s.live(), policy)
				if err != nil {
					t.Fatal(err)
				}
				return plan
			}
			blocked := plan("nginx:2", v1alpha1.ConflictAbort)
			if diff := cmp.Diff(c.conflicts, against(blocked)); diff != "" || !blocked.Blocked || len(blocked.Steps) > 0 {
				t.Errorf("under Abort: blocked %t, steps %q, conflicts (-want +got):\n%s", blocked.Blocked, steps(blocked), diff)
			}
			yielding := plan("nginx:2", v1alpha1.ConflictYield)
			if got := steps(yielding); got != "operator" || against(yielding) != c.conflicts {
				t.Errorf("under Yield: steps %q, conflicts %q", got, against(yielding))
			}
			play(t, s, yielding, 0)
			rest := plan("nginx:2", v1alpha1.ConflictYield)
			if got := steps(rest); got != "" || against(rest) != c.conflicts {
				t.Errorf("at rest under Yield: steps %q, conflicts %q", got, against(rest))
			}
			s.update("ops", c.before())
			play(t, s, plan("nginx:2", v1alpha1.ConflictYield), 0)
			if over := plan("nginx:2", v1alpha1.ConflictAbort); len(over.Steps) > 0 && c.wanted == "" {
				t.Errorf("at rest after it was undone: steps %q (%s), conflicts %q", steps(over), over.Difference, against(over))
			}
		})
	}
}

// TestObstaclesOnServer: the API server does refuse a plain apply, and takes all that is planned instead.
func TestObstaclesOnServer(t *testing.T) {
	fresh := startServer(t)
	for _, c := range obstacleTests {
		t.Run(c.name, func(t *testing.T) {
			s := fresh(t)
			s.must(nil, s.apply(v1alpha1.FieldManager, c.wants("nginx:2"), false))
			wanted := podOf(s)
			s.must(nil, s.objects.Delete(t.Context(), "web", metav1.DeleteOptions{}))

			s.must(nil, s.apply(v1alpha1.FieldManager, c.before(), false))
			s.replace("ops", c.change())
			theirs := podOf(s)
			if err := s.apply(v1alpha1.FieldManager, c.wants("nginx:2"), false); !apierrors.IsInvalid(err) {
				t.Fatalf("a plain apply gives %v", err)
			}
			if got := s.plan(c.wants("nginx:2"), v1alpha1.ConflictAbort); against(got) != c.conflicts {
				t.Errorf("conflicts are %q", against(got))
			}
			s.reach(c.wants("nginx:2"), v1alpha1.ConflictYield, false)
			yielded := podOf(s)
			if got := yielded.Containers[0].Image; got != "nginx:2" {
				t.Errorf("the rest did not come: image is %s", got)
			}
			yielded.Containers[0].Image = "nginx:1"
			yielded.Containers[0].WorkingDir = ""
			if diff := cmp.Diff(theirs, yielded); diff != "" {
				t.Errorf("theirs was not left alone (-theirs +got):\n%s", diff)
			}

			// They let go: of their claim alone, and the operator crashes at each step.
			s.forget("ops")
			s.reach(c.wants("nginx:2"), v1alpha1.ConflictYield, true)
			if diff := cmp.Diff(wanted, podOf(s)); diff != "" {
				t.Errorf("it was not taken back (-want +got):\n%s", diff)
			}
		})
	}
}

func podOf(s *realServer) corev1.PodSpec { return s.live().Spec.Template.Spec }
