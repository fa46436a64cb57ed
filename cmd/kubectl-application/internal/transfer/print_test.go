package transfer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/test/golden"
)

func TestPrinted(t *testing.T) {
	take := func(fields ...string) func(*children.Child) (*Change, error) {
		return func(c *children.Child) (*Change, error) { return Take(c, fields) }
	}
	release := func(to string, fields ...string) func(*children.Child) (*Change, error) {
		return func(c *children.Child) (*Change, error) { return Release(c, fields, &Recipient{Name: to}) }
	}
	const paused, yielding = "{paused: true, " + ourSpecRest, "{conflictPolicy: Yield, " + ourSpecRest
	for name, tc := range map[string]struct {
		verb   verb
		spec   string
		plan   func(*children.Child) (*Change, error)
		redact bool
	}{
		"take-one":                  {verb: takeVerb, spec: ourSpec, plan: take(image)},
		"take-all":                  {verb: takeVerb, spec: ourSpec, plan: take(image, replicas, variable)},
		"take-all-redacted":         {verb: takeVerb, spec: ourSpec, plan: take(image, replicas, variable), redact: true},
		"take-one-yielding":         {verb: takeVerb, spec: yielding, plan: take(image)},
		"take-paused":               {verb: takeVerb, spec: paused, plan: take(image)},
		"take-some":                 {verb: takeVerb, spec: ourSpec, plan: take(image, app+".args", ".metadata.labels.app")},
		"take-nothing":              {verb: takeVerb, spec: ourSpec, plan: take(app + ".args")},
		"take-shared":               {verb: takeVerb, spec: "{image: theirs, replicas: 7}", plan: take(image)},
		"release-args":              {verb: releaseVerb, spec: ourSpec, plan: release("new", app+".args")},
		"release-required":          {verb: releaseVerb, spec: ourSpec, plan: release("new", ".metadata.labels.app")},
		"release-required-yielding": {verb: releaseVerb, spec: yielding, plan: release("new", ".metadata.labels.app")},
		"release-unwanted":          {verb: releaseVerb, spec: "{image: ours, paused: true}", plan: release("new", app+".args")},
		"release-shared":            {verb: releaseVerb, spec: ourSpec, plan: release("sharer", app+".args")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).
				force("sharer", "spec: {template: {spec: {containers: [{name: app, args: [ours]}]}}}").
				force("helm", theirs).
				force("gitops", "spec: {template: {spec: {containers: [{name: app, env: [{name: A, value: their-secret}]}]}}}")
			if name == "take-shared" {
				w.reconcile(tc.spec)
			}
			if name == "take-nothing" {
				w = newWorld(t)
			}
			change, err := tc.plan(w.child(tc.spec))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			app, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.application(tc.spec))
			if err != nil {
				t.Fatal(err)
			}
			run := &transfer{
				options:     &options{factory: cli.NewFactory(genericiooptions.IOStreams{Out: &out, ErrOut: &out}), redact: tc.redact},
				verb:        tc.verb,
				application: &unstructured.Unstructured{Object: app},
			}
			run.application.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.Kind))
			run.announce(change)
			if len(change.Patch) > 0 {
				out.WriteString("Done.\n")
				out.WriteString("Event: " + run.note("jane", change) + "\n")
			}
			run.next(change)
			golden.Check(t, name, out.String())
		})
	}
}

func TestConfirm(t *testing.T) {
	never, stop := io.Pipe()
	defer stop.Close()
	for name, tc := range map[string]struct {
		in          io.Reader
		interrupted bool
		yes         bool
		want        error
	}{
		"yes":                 {in: strings.NewReader("y\n")},
		"YES":                 {in: strings.NewReader(" YES \n")},
		"no":                  {in: strings.NewReader("n\n"), want: errNotConfirmed},
		"just the return key": {in: strings.NewReader("\n"), want: errNotConfirmed},
		"nobody":              {in: strings.NewReader(""), want: errNotConfirmed},
		"an interrupt":        {in: never, interrupted: true, want: errNotConfirmed},
		"agreed beforehand":   {in: never, yes: true},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		if tc.interrupted {
			interrupt()
		}
		var out bytes.Buffer
		run := &transfer{options: &options{factory: cli.NewFactory(genericiooptions.IOStreams{In: tc.in, Out: &out, ErrOut: &out}), yes: tc.yes, dryRun: dryRunNone}}
		if err := run.confirm(ctx); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v", name, err)
		}
		interrupt()
	}
}

const ourSpecRest = "image: ours, replicas: 3, env: [{name: A, value: ours}], args: [ours]}"
