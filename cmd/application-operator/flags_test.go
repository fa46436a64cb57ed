package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"mycompany.io/application-operator/controllers"
)

func TestFlags(t *testing.T) {
	defaults := options{
		metricsAddress: ":8443", metricsSecure: true, webhookAddress: "0", probeAddress: ":8081", apiQPS: 50, apiBurst: 100,
		leaseDuration: 15 * time.Second, renewDeadline: 10 * time.Second, retryPeriod: 450 * time.Millisecond,
		controller: controllers.Options{MaxConcurrentReconciles: 4, MinBackoff: 500 * time.Millisecond, MaxBackoff: time.Minute, ReconciliationTimeout: time.Minute},
	}
	for _, c := range []struct {
		name   string
		args   []string
		change func(*options)
	}{
		{"none", nil, func(*options) {}},
		{"addresses", []string{"--metrics-bind-address=0", "--health-probe-bind-address", ":9090"}, func(o *options) { o.metricsAddress, o.probeAddress = "0", ":9090" }},
		{"webhook", []string{"--webhook-bind-address=127.0.0.1:9443", "--webhook-cert-dir=/certs"}, func(o *options) {
			o.webhookAddress, o.webhookHost, o.webhookPort, o.webhookCertDir = "127.0.0.1:9443", "127.0.0.1", 9443, "/certs"
		}},
		{"metrics", []string{"--metrics-cert-dir=/certs"}, func(o *options) { o.metricsCertDir = "/certs" }},
		{"metrics in clear text", []string{"--metrics-secure=false"}, func(o *options) { o.metricsSecure = false }},
		{"leader election", []string{"--leader-elect", "--leader-election-namespace=ops"}, func(o *options) { o.leaderElect, o.leaderElection = true, "ops" }},
		{"lease", []string{"--leader-election-lease-duration=5s", "--leader-election-renew-deadline=3s", "--leader-election-retry-period=1s"}, func(o *options) {
			o.leaseDuration, o.renewDeadline, o.retryPeriod = 5*time.Second, 3*time.Second, time.Second
		}},
		{"API", []string{"--kube-api-qps=2.5", "--kube-api-burst=1"}, func(o *options) { o.apiQPS, o.apiBurst = 2.5, 1 }},
		{"work", []string{"--max-concurrent-reconciles=1", "--min-backoff=1s", "--max-backoff=1s", "--reconciliation-timeout=5s"}, func(o *options) {
			o.controller = controllers.Options{MaxConcurrentReconciles: 1, MinBackoff: time.Second, MaxBackoff: time.Second, ReconciliationTimeout: 5 * time.Second}
		}},
		{"namespaces", []string{"--watch-namespaces=b,a"}, func(o *options) { o.controller.Scope.Namespaces = []string{"a", "b"} }},
		{"selector", []string{"--application-selector=team in (red, blue),!legacy"}, func(o *options) {
			o.controller.Scope.Selector, _ = labels.Parse("team in (red,blue),!legacy")
		}},
		{"trusted operators", []string{"--trusted-operator-namespaces=ops"}, func(o *options) { o.controller.TrustedNamespaces = []string{"ops"} }},
		{"legacy field managers", []string{"--legacy-field-managers=old operator, older"}, func(o *options) {
			o.controller.LegacyFieldManagers = []string{"old operator", "older"}
		}},
		{"version", []string{"--version"}, func(o *options) { o.printVersion = true }},
		{"kubeconfig", []string{"--kubeconfig="}, func(*options) {}},
		{"log", []string{"--zap-log-level=error", "--zap-devel=false", "--zap-encoder=json"}, func(*options) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := defaults
			c.change(&want)
			got, err := parseFlags(c.args, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want, got, cmp.AllowUnexported(options{}), cmp.Comparer(func(a, b labels.Selector) bool { return selectorString(a) == selectorString(b) }), cmpopts.IgnoreTypes(zap.Options{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--max-concurrent-reconciles=0", "--max-concurrent-reconciles must be at least 1"},
		{"--max-concurrent-reconciles=many", `invalid value "many" for flag -max-concurrent-reconciles`},
		{"--min-backoff=0s", "--min-backoff must be positive"},
		{"--min-backoff=-1s", "--min-backoff must be positive"},
		{"--min-backoff=5", `invalid value "5" for flag -min-backoff`},
		{"--min-backoff=2m", "--max-backoff must not be less than --min-backoff"},
		{"--max-backoff=1ms", "--max-backoff must not be less than --min-backoff"},
		{"--reconciliation-timeout=0s", "--reconciliation-timeout must be positive"},
		{"--kube-api-qps=0", "--kube-api-qps must be positive"},
		{"--kube-api-qps=-1", "--kube-api-qps must be positive"},
		{"--kube-api-qps=NaN", "--kube-api-qps must be positive"},
		{"--kube-api-burst=0", "--kube-api-burst must be at least 1"},
		{"--metrics-cert-dir=x --metrics-secure=false", "--metrics-cert-dir needs --metrics-secure"},
		{"--webhook-bind-address=:9443", "--webhook-bind-address and --webhook-cert-dir need each other"},
		{"--webhook-cert-dir=/certs", "--webhook-bind-address and --webhook-cert-dir need each other"},
		{"--webhook-bind-address=9443", "--webhook-bind-address: address 9443: missing port in address"},
		{"--webhook-bind-address=:https", `--webhook-bind-address: "https" is no number of a port`},
		{"--leader-election-lease-duration=0s", "--leader-election-lease-duration must be one or more whole seconds"},
		{"--leader-election-lease-duration=12500ms", "--leader-election-lease-duration must be one or more whole seconds"},
		{"--leader-election-renew-deadline=15s", "--leader-election-renew-deadline must be less than --leader-election-lease-duration"},
		{"--leader-election-retry-period=9s", "--leader-election-renew-deadline must be more than 1.2 times --leader-election-retry-period"},
		{"--leader-election-retry-period=0s", "--leader-election-retry-period must be positive"},
		{"--v=-1", `invalid value "-1" for flag -v`},
		{"--application-selector=team=a=b", "--application-selector: found '='"},
		{"--trusted-operator-namespaces=Ops", `--trusted-operator-namespaces: "Ops" is no name of a namespace`},
		{"--watch-namespaces=Shop", `--watch-namespaces: "Shop" is no name of a namespace`},
		{"--legacy-field-managers=a,,b", `--legacy-field-managers: "" is no name of a field manager`},
		{"--legacy-field-managers=" + strings.Repeat("m", 129), "it has 1 to 128 characters"},
		{"--legacy-field-managers=before-first-apply", "would seize their fields"},
		{"--legacy-field-managers=ancient-changes", "would seize their fields"},
		{"--zap-log-level=loud", "invalid log level"},
		{"--no-such-flag", "flag provided but not defined: -no-such-flag"},
		{"--field-manager=other", "flag provided but not defined"}, // its name is no matter of configuration
		{"start", `unexpected argument "start": the operator takes flags only`},
		{"--leader-elect false", `unexpected argument "false"`},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), strings.Fields(c.args), &stdout, &stderr); code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			if len(lines) != 2 || !strings.HasPrefix(lines[0], "application-operator: ") || !strings.Contains(lines[0], c.want) || !strings.Contains(lines[1], "--help") {
				t.Errorf("stderr %q, want a line with %q and one that leads to --help", stderr.String(), c.want)
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout %q", stdout.String())
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"--help", "-h"} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), []string{arg}, &stdout, &stderr); code != 0 {
			t.Errorf("%s: exit code %d", arg, code)
		}
		usage := stdout.String() + stderr.String()
		for _, name := range []string{
			"metrics-bind-address", "metrics-secure", "metrics-cert-dir", "webhook-bind-address", "webhook-cert-dir", "health-probe-bind-address", "leader-elect", "leader-election-namespace", "leader-election-lease-duration", "leader-election-renew-deadline", "leader-election-retry-period", "v", "kubeconfig", "max-concurrent-reconciles",
			"min-backoff", "max-backoff", "reconciliation-timeout", "kube-api-qps", "kube-api-burst", "watch-namespaces", "application-selector", "trusted-operator-namespaces", "legacy-field-managers", "version", "zap-log-level",
		} {
			if !strings.Contains(usage, "-"+name) {
				t.Errorf("%s does not tell of --%s", arg, name)
			}
		}
		// Who owns what outlives any process, so its names are not for a command line to change; and nothing forces.
		for _, never := range []string{" -field-manager", " -manager", "-force"} {
			if strings.Contains(strings.ToLower(usage), never) {
				t.Errorf("there is a flag for %q:\n%s", never, usage)
			}
		}
	}
	if _, err := parseFlags([]string{"--help"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v", err)
	}
}

func TestVersion(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--version"}, &stdout, &stderr); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := stdout.String(); !strings.HasPrefix(got, "application-operator "+version+" (commit "+commit+", go1.") || strings.Count(got, "\n") != 1 {
		t.Errorf("stdout %q", got)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr %q", stderr.String())
	}
}

func TestParseNamespaces(t *testing.T) {
	for _, c := range []struct {
		list  string
		want  []string
		fault string
	}{
		{"", nil, ""},
		{"  ", nil, ""},
		{"shop", []string{"shop"}, ""},
		{" shop , bar ", []string{"bar", "shop"}, ""},
		{"b,a,b,a,b", []string{"a", "b"}, ""},
		{"1-a", []string{"1-a"}, ""},
		{"shop,", nil, `""`},
		{",shop", nil, `""`},
		{"a,,b", nil, `""`},
		{"a b", nil, `"a b"`},
		{"a,B", nil, `"B"`},
		{"-a", nil, `"-a"`},
		{"a.b", nil, `"a.b"`},
		{"*", nil, `"*"`},
		{strings.Repeat("a", 64), nil, "63"},
	} {
		got, err := parseNamespaces("--watch-namespaces", c.list)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.list, diff)
		}
		if (err != nil) != (c.fault != "") || err != nil && (!strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "--watch-namespaces")) {
			t.Errorf("%q: error %v, want %q in it", c.list, err, c.fault)
		}
	}
}
