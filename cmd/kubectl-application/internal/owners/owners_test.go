package owners

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

// run runs the command on what is given as the standard input.
func run(t *testing.T, input string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	streams, in, out, errOut := genericiooptions.NewTestIOStreams()
	in.WriteString(input)
	command := newCommand(&options{
		factory: cli.NewFactory(streams),
		now:     func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) },
	})
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetArgs(append([]string{}, args...)) // nil would be the test's own
	command.SetOut(out)
	command.SetErr(errOut)
	err = command.ExecuteContext(t.Context())
	return out.String(), errOut.String(), err
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s, written anew with -update (-want +got):\n%s", path, diff)
	}
}

// TestPageOfApplicationsWithoutUID: what a file has of two Applications is told of both, though neither has a uid.
func TestPageOfApplicationsWithoutUID(t *testing.T) {
	const application = `
---
{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: %s, namespace: shop}, spec: {image: a},
 status: {conflicts: [{kind: Deployment, name: %[1]s, field: .spec.%[1]sField, manager: kubectl, operation: Update}]}}`
	out, _, err := run(t, fmt.Sprintf(application, "web")+fmt.Sprintf(application, "api")+fmt.Sprintf(application, "api"), "--output=html", "--filename=-")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(out, "<main")
	for _, field := range []string{".spec.webField", ".spec.apiField"} {
		if got := strings.Count(head, field); got != 1 {
			t.Errorf("the summary names %s %d times, want once:\n%s", field, got, head)
		}
	}
}

func TestOutputs(t *testing.T) {
	t.Setenv("COLUMNS", "")
	for name, args := range map[string][]string{
		"list.txt":          nil,
		"list.redacted.txt": {"--redact"},
		"list.out.json":     {"--output=json"},
		"list.out.yaml":     {"--output=yaml", "--redact"},
		"list.html":         {"--output=html"},
		"manager.out.yaml":  {"--output=yaml", "--manager=old-tool"},
		"field.txt":         {"--field=spec.maxReplicas"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errOut, err := run(t, "", append(args, "--filename=testdata/list.yaml")...)
			if err != nil || errOut != "" {
				t.Fatalf("%v: %s", err, errOut)
			}
			golden(t, name, out)
		})
	}
}

// Pages hide secrets unless they are told not to; everything else shows them unless it is told to hide them.
func TestRedactByDefault(t *testing.T) {
	const secret = "czNjcjN0"
	for args, hidden := range map[string]bool{
		"":                             false,
		"--redact":                     true,
		"--output=json":                false,
		"--output=json --redact":       true,
		"--output=yaml --redact":       true,
		"--output=html":                true,
		"--output=html --redact=false": false,
		"--output=html --redact":       true,
	} {
		out, _, err := run(t, "", append(strings.Fields(args), "-f", "testdata/list.yaml")...)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out, secret) == hidden {
			t.Errorf("%q: the secret is hidden: %v", args, !hidden)
		}
	}
}

// FR-46: the answer is the same from YAML, JSON and a pipe.
func TestFR46SameFromFileAndPipe(t *testing.T) {
	file, err := os.ReadFile("testdata/list.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := run(t, "", "-f", "testdata/list.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var concatenated bytes.Buffer
	for document := range strings.SplitSeq(string(file), "\n---\n") {
		asJSON, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		concatenated.Write(asJSON)
		concatenated.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "list.json")
	if err := os.WriteFile(path, concatenated.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for way, test := range map[string]struct {
		input string
		args  []string
	}{
		"YAML from a pipe": {input: string(file), args: []string{"-f", "-"}},
		"JSON from a pipe": {input: concatenated.String(), args: []string{"-f", "-"}},
		"JSON from a file": {args: []string{"-f", path}},
	} {
		got, _, err := run(t, test.input, test.args...)
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-YAML from a file +this):\n%s", way, diff)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, test := range []struct {
		input string
		args  []string
		want  string
	}{
		{args: nil, want: "name an Application, an object as TYPE/NAME, or a file with --filename"},
		{args: []string{"web", "-f", "-"}, want: "give either an object's name or --filename, not both"},
		{args: []string{"-f", "-", "--object=service"}, want: "leave it out with --filename"},
		{args: []string{"web", "--object=pod"}, want: "must be one of deployment, service, application, status"},
		{args: []string{"web", "-o", "xml"}, want: "--output=xml: must be json, yaml or html"},
		{args: []string{"-f", "testdata/absent.yaml"}, want: "testdata/absent.yaml: no such file"},
		{args: []string{"-f", "-"}, want: `there is no object in "-"`},
		{args: []string{"-f", "-"}, input: "a: [", want: "the standard input, document 1: "},
		{args: []string{"-f", "-"}, input: "{apiVersion: v1, kind: A, metadata: {name: a}}\n---\n{a: b}", want: "the standard input, document 2 is no Kubernetes object: "},
		{args: []string{"-f", "testdata/list.yaml", "--field=.spec.nope"}, want: "there is no field .spec.nope in Secret pool and HorizontalPodAutoscaler web and Gadget a: list the paths of all fields with --output=json"},
		{args: []string{"-f", "testdata/list.yaml", "--manager=nope"}, want: `their managers are "kubectl-create", "old-tool"`},
		{args: []string{"-f", "testdata/list.yaml", "--manager=old-tool", "--field=.type"}, want: `no manager "old-tool" owns field .type`},
	} {
		out, _, err := run(t, test.input, test.args...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: error is %v, not %q", test.args, err, test.want)
		}
		if out != "" {
			t.Errorf("%v: it prints %s", test.args, out)
		}
	}
}
