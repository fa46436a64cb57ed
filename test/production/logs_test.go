package production

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("The log", func() {
	const secret = "correct-horse-battery-staple"

	It("has one line for each outcome, with object and fields in keys, none at rest, and never a value of env", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		process := start(ctx, "log", "--zap-encoder=json", "--watch-namespaces="+namespace)
		log := func() []string { return outcomes(lines(process, namespace)) }
		spec := func(image, more string) string {
			return fmt.Sprintf("{image: %s, replicas: 1, port: 80, env: [{name: TOKEN, value: %s}]%s}", image, secret, more)
		}

		By("going through the life of an Application")
		apply(ctx, namespace, "web", spec("registry.example/web:1", ", expose: ClusterIP"))
		Eventually(log).Should(ConsistOf("Deployment Created", "Service Created", "Synced True Synced"))
		apply(ctx, namespace, "web", spec("registry.example/web:2", ", expose: ClusterIP"))
		Eventually(log).Should(ContainElement(`Deployment Configured [.spec.template.spec.containers[name="app"].image]`))
		scale(ctx, namespace, "web", 3)
		Eventually(log).Should(ContainElement("Synced False FieldConflict .spec.replicas of kubectl"))
		apply(ctx, namespace, "web", spec("registry.example/web:2", ", expose: ClusterIP, paused: true"))
		Eventually(synced(namespace, "web")).WithContext(ctx).Should(Equal("Paused"))
		scale(ctx, namespace, "web", 1)
		apply(ctx, namespace, "web", spec("registry.example/web:2", ""))
		Eventually(log).Should(ContainElement("Service Deleted"))
		editEnv(ctx, namespace, "TOKEN", secret+"-2")
		Eventually(log).Should(ContainElement(`Synced False FieldConflict .spec.template.spec.containers[name="app"].env[name="TOKEN"].value of ops`))
		apply(ctx, namespace, "web", `{image: registry.example/web:2, replicas: 1, env: [{name: "A=B", value: `+secret+`}]}`)
		Eventually(log).Should(ContainElement("Synced False Invalid"))
		told := log()
		Expect(told).To(ContainElements("Synced False Paused .spec.replicas of kubectl", "Synced True Synced"))
		counts := map[string]int{}
		for _, outcome := range told {
			counts[outcome]++
		}
		delete(counts, "Synced True Synced") // it came twice to that
		for outcome, count := range counts {
			Expect(count).To(Equal(1), "%s: %v", outcome, told)
		}

		By("resting")
		count := func() int { return len(lines(process, namespace)) }
		Eventually(func(g Gomega) { g.Consistently(count).Should(Equal(count())) }).Should(Succeed())
		Expect(read(process.Log())).NotTo(ContainSubstring(secret))
	})

	It("tells more with -v, and still no value", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		process := start(ctx, "verbose", "--zap-encoder=json", "--watch-namespaces="+namespace, "-v=5")
		apply(ctx, namespace, "web", fmt.Sprintf("{image: registry.example/web:1, env: [{name: TOKEN, value: %s}]}", secret))
		Eventually(func() []string { return outcomes(lines(process, namespace)) }).Should(ContainElements("Deployment Created", "Deployment Unchanged"))
		Expect(read(process.Log())).NotTo(ContainSubstring(secret))
	})
})

// outcomes sums up the lines that have an outcome or a condition.
func outcomes(lines []string) []string {
	GinkgoHelper()
	var told []string
	for _, line := range lines {
		entry := struct {
			Name, Namespace            string
			Child, Outcome             string
			Condition, Status, Reason  string
			Changed                    []string
			Conflicts                  []struct{ Field, Manager string }
			Application                struct{ Name, Namespace string }
			Controller, ControllerKind string
		}{}
		Expect(json.Unmarshal([]byte(line), &entry)).To(Succeed(), line)
		switch {
		case entry.Outcome != "":
			told = append(told, strings.TrimSuffix(fmt.Sprintf("%s %s %v", entry.Child, entry.Outcome, entry.Changed), " []"))
		case entry.Condition != "":
			sum := fmt.Sprintf("%s %s %s", entry.Condition, entry.Status, entry.Reason)
			for _, c := range entry.Conflicts {
				sum += fmt.Sprintf(" %s of %s", c.Field, c.Manager)
			}
			told = append(told, sum)
		default:
			continue
		}
		Expect(entry.Application.Name).To(Equal("web"), line)
		Expect(entry.Application.Namespace).NotTo(BeEmpty(), line)
	}
	return told
}

// editEnv sets a variable of the container by hand.
func editEnv(ctx context.Context, namespace, name, value string) {
	GinkgoHelper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	Expect(env.StrategicMergeYAML(ctx, "ops", deployment, fmt.Sprintf(
		"{spec: {template: {spec: {containers: [{name: app, env: [{name: %s, value: %s}]}]}}}}", name, value))).To(Succeed())
}
