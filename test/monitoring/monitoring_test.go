package monitoring

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

const (
	component = "../../deploy/components/monitoring"
	readme    = "../../README.md"
)

type ruleGroups struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	} `json:"groups"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// TestRules runs the rule unit tests of testdata with promtool, as a user would.
func TestRules(t *testing.T) {
	folder := t.TempDir()
	rules, err := yaml.Marshal(readRules(t))
	if err != nil {
		t.Fatal(err)
	}
	tests := read(t, "testdata/rules_test.yaml")
	for name, content := range map[string][]byte{"rules.yaml": rules, "rules_test.yaml": tests} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	promtool := filepath.Join(folder, "promtool")
	// Service discovery is most of it, and no test needs it.
	run(t, ".", "go", "build", "-tags", "remove_all_sd", "-o", promtool, "github.com/prometheus/prometheus/cmd/promtool")
	run(t, folder, promtool, "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
	run(t, folder, promtool, "test", "rules", "rules_test.yaml")

	// An alert without a test is one that may never fire.
	for _, rule := range allRules(t) {
		if !strings.Contains(string(tests), "alertname: "+rule.Alert+"\n") {
			t.Errorf("no test of %s", rule.Alert)
		}
	}
}

// TestRulesTellWhatToDo: each alert has a severity, a summary and a runbook that is there.
func TestRulesTellWhatToDo(t *testing.T) {
	headings := map[string]bool{}
	for line := range strings.Lines(string(read(t, readme))) {
		if heading, ok := strings.CutPrefix(line, "#### "); ok {
			headings[strings.ToLower(strings.TrimSpace(heading))] = true
		}
	}
	for _, rule := range allRules(t) {
		if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) || rule.Annotations["summary"] == "" || rule.For == "" {
			t.Errorf("%s: severity %q, summary %q, for %q", rule.Alert, rule.Labels["severity"], rule.Annotations["summary"], rule.For)
		}
		anchor := strings.ToLower(rule.Alert)
		if rule.Annotations["runbook"] != "README.md#"+anchor || !headings[anchor] {
			t.Errorf("%s: runbook %q, and the README has it: %t", rule.Alert, rule.Annotations["runbook"], headings[anchor])
		}
	}
}

// TestNamesOfMetrics: rules and dashboard name only metrics that exist. The operator's own are in the generated table; the
// others are in testdata/borrowed.txt, each of which test/production finds in a running operator.
func TestNamesOfMetrics(t *testing.T) {
	known := map[string]bool{"up": true}
	for _, match := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (\\w+) ").FindAllStringSubmatch(string(read(t, component+"/metrics.md")), -1) {
		name := match[1]
		if match[2] == "histogram" {
			name += "_bucket"
		}
		known[name] = true
	}
	if len(known) < 10 {
		t.Fatalf("the table of metrics has only %v", known)
	}
	borrowed := strings.Fields(string(read(t, "testdata/borrowed.txt")))
	for _, name := range borrowed {
		known[name] = true
	}

	used := map[string]bool{}
	queries := dashboardQueries(t)
	for _, rule := range allRules(t) {
		queries = append(queries, rule.Expr)
	}
	for _, query := range queries {
		for _, name := range metricsOf(t, query) {
			used[name] = true
			if !known[name] {
				t.Errorf("there is no metric %s, as in %s", name, query)
			}
		}
	}
	for _, name := range borrowed {
		if !used[name] {
			t.Errorf("testdata/borrowed.txt has %s, which nothing uses", name)
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "application_operator_") && !used[name] {
			t.Errorf("neither a rule nor the dashboard shows %s", name)
		}
	}
}

// metricsOf returns the names of the metrics of a query, which must be valid.
func metricsOf(t *testing.T, query string) []string {
	t.Helper()
	// Grafana's own variables stand for durations and label values.
	query = strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*").Replace(query)
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var names []string
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			names = append(names, selector.Name)
		}
		return nil
	})
	return names
}

func dashboardQueries(t *testing.T) []string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(read(t, component+"/dashboard.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, panel := range dashboard.Panels {
		if panel.Title == "" || len(panel.Targets) == 0 {
			t.Errorf("a panel %q with %d queries", panel.Title, len(panel.Targets))
		}
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

func readRules(t *testing.T) ruleGroups {
	t.Helper()
	var object struct {
		Spec ruleGroups `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(withoutHead(read(t, component+"/prometheus_rule.yaml")), &object); err != nil {
		t.Fatal(err)
	}
	return object.Spec
}

// withoutHead leaves the spec of a manifest, so that it can be read strictly.
func withoutHead(manifest []byte) []byte {
	_, spec, _ := strings.Cut(string(manifest), "\nspec:")
	return []byte("spec:" + spec)
}

func allRules(t *testing.T) []rule {
	t.Helper()
	var rules []rule
	for _, group := range readRules(t).Groups {
		rules = append(rules, group.Rules...)
	}
	if len(rules) == 0 {
		t.Fatal("no rules")
	}
	return rules
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func run(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, output)
	}
}
