package integration

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// conflictGauge is what the operator's metrics tell of contested fields, by "KIND MANAGER".
type conflictGauge map[string]float64

// withMetrics starts the operator anew with a metrics endpoint, for this spec, and returns how to read the gauge.
func withMetrics(ctx context.Context) func(context.Context) (conflictGauge, error) {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	address := listener.Addr().String()
	Expect(listener.Close()).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(env.RestartOperator(ctx, operatorFlags...)).To(Succeed()) })
	Expect(env.RestartOperator(ctx, append(operatorFlags, "--metrics-bind-address="+address)...)).To(Succeed())
	return func(ctx context.Context) (conflictGauge, error) { return readGauge(ctx, "http://"+address+"/metrics") }
}

func readGauge(ctx context.Context, url string) (conflictGauge, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	gauge := conflictGauge{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var kind, manager, count string
		labels, found := strings.CutPrefix(lines.Text(), "application_operator_field_conflicts{kind=\"")
		if !found {
			continue
		}
		kind, labels, _ = strings.Cut(labels, `",manager="`)
		manager, count, _ = strings.Cut(labels, `"} `)
		if gauge[kind+" "+manager], err = strconv.ParseFloat(count, 64); err != nil {
			return nil, fmt.Errorf("%s: %w", lines.Text(), err)
		}
	}
	return gauge, nil
}

// notes returns the notes of the Events of a reason, the first one first.
func notes(ctx context.Context, reason string) ([]string, error) {
	list := &eventsv1.EventList{}
	if err := env.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var all []string
	for _, event := range list.Items {
		if event.Reason == reason {
			all = append(all, event.Note)
		}
	}
	return all, nil
}

var _ = Describe("The life of a conflict", func() {
	const spec = "{image: registry.example/web:1, replicas: 2, env: [{name: A, value: ours}], conflictPolicy: %s}"

	for _, policy := range []string{"Abort", "Yield"} {
		reason := map[string]string{"Abort": v1alpha1.ReasonFieldConflict, "Yield": v1alpha1.ReasonFieldsYielded}[policy]

		It("is told by one Event for each change of the contested set, and one when that is empty, under "+policy, func(ctx SpecContext) {
			given(ctx, fmt.Sprintf(spec, policy))
			Eventually(ctx, reasons).Should(ConsistOf("Normal Synced"))

			By("contesting one field")
			scale(ctx, "kubectl", 5)
			Eventually(func() ([]string, error) { return notes(ctx, reason) }).Should(ConsistOf(ContainSubstring(replicasField)))

			By("contesting another")
			editApp(ctx, "ops", "env: [{name: A, value: theirs}]")
			Eventually(func() ([]string, error) { return notes(ctx, reason) }).Should(ConsistOf(
				Not(ContainSubstring("env")), And(ContainSubstring(replicasField), ContainSubstring(`env[name="A"].value`))))

			By("waking the operator, restarting it, and changing what nobody contests")
			waitForQuiet()
			mark, message := now(), the(ctx, application).Status.Message
			for _, value := range []string{"1", "2", "3"} {
				touch(ctx, value)
				kubectl(ctx, "annotate", "--overwrite", "deployment/web", "note="+value)
			}
			scale(ctx, "kubectl", 6)
			whileOperatorIsDown(ctx, func() {})
			Consistently(func() int { return eventWritesSince(mark) }).Should(BeZero())
			Expect(the(ctx, application).Status.Message).To(Equal(message), "messages are stable")
			expectNoWrites(mark)

			By("releasing one, then the other")
			editApp(ctx, "ops", "env: [{name: A, value: ours}]")
			Eventually(func() ([]string, error) { return notes(ctx, reason) }).Should(HaveLen(3))
			scale(ctx, "kubectl", 2)
			eventuallySynced(ctx)
			Eventually(ctx, reasons).Should(ConsistOf("Normal Synced", "Warning "+reason, "Warning "+reason, "Warning "+reason, "Normal Synced"))
			Expect(the(ctx, application).Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)))
		})
	}

	It("FR-08, FR-09: shows each field once for each manager, sorted, in words that stay the same", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, "Abort"))
		applyDeployment(ctx, `ops "night" team`, otherImage, client.ForceOwnership)
		applyDeployment(ctx, "a, b: c", otherImage, client.ForceOwnership)
		scale(ctx, "kubectl", 5)
		want := haveConflicts(
			onDeployment(replicasField, "kubectl", byUpdate, "scale"),
			onDeployment(imageField, "a, b: c", byApply),
			onDeployment(imageField, `ops "night" team`, byApply),
		)
		Eventually(ctx, application).Should(want)
		message := the(ctx, application).Status.Message
		Expect(message).To(ContainSubstring(`.spec.replicas is owned by "kubectl" (Update, subresource scale); %s is owned by "a, b: c" (Apply) and %q (Apply)`,
			imageField, `ops "night" team`))

		By("letting them write in another order, through a restart")
		applyDeployment(ctx, `ops "night" team`, otherImage, client.ForceOwnership)
		whileOperatorIsDown(ctx, func() { scale(ctx, "kubectl", 7) })
		waitForQuiet()
		Expect(the(ctx, application)).To(want)
		Expect(the(ctx, application).Status.Message).To(Equal(message))
	})

	It("is counted by kind and manager, and no series outlives its cause", func(ctx SpecContext) {
		gauge := withMetrics(ctx)
		const exposed = "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP, conflictPolicy: Yield}"
		given(ctx, exposed)
		Expect(gauge(ctx)).To(BeEmpty())

		By("contesting by a well-known manager and by two that nobody knows")
		scale(ctx, "kubectl", 5)
		applyDeployment(ctx, "zoe", otherImage, client.ForceOwnership)
		edit(ctx, "adam", theService(), "{spec: {ports: [{port: 8080, targetPort: 1}]}}")
		hold(ctx, "kubectl-edit", `{"phase": "Failed"}`)
		Eventually(ctx, gauge).Should(Equal(conflictGauge{
			"Deployment kubectl": 1, "Deployment other": 1, "Service other": 1, "Application kubectl-edit": 1}))

		By("restarting: the count is right again")
		gauge = withMetrics(ctx)
		Eventually(ctx, gauge).Should(HaveLen(4))

		By("resolving one, and deleting the Application")
		scale(ctx, "kubectl", 2)
		Eventually(ctx, gauge).Should(Not(HaveKey("Deployment kubectl")))
		Expect(env.Client.Delete(ctx, theApplication())).To(Succeed())
		Eventually(ctx, gauge).Should(BeEmpty())
	})

	It("FR-37: ends within seconds of the release, however long it lasted, without a touch of the Application", func(ctx SpecContext) {
		given(ctx, fmt.Sprintf(spec, "Abort"))
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		By("waiting for longer than the longest back-off: there is no retry that could get rarer")
		mark := now()
		Consistently(func() cluster.Events { return writesSince(mark) }).WithTimeout(maxBackoff + quiet).Should(BeEmpty())
		scale(ctx, "kubectl", 2)
		Eventually(ctx, application).WithTimeout(maxBackoff).Should(beSynced())
	})

	It("FR-05: of one child leaves the other child alone, costs no request while it stands, and says what it holds up", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")
		kubectl(ctx, "scale", "deployment/web", "--replicas=3")
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		write(ctx, "{image: registry.example/web:2, replicas: 2, port: 9090, expose: ClusterIP}")
		Eventually(ctx, service).Should(HaveField("Spec.Ports", ConsistOf(HaveField("Port", BeEquivalentTo(9090)))))
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		Expect(the(ctx, application).Status.Message).To(ContainSubstring("no change of it is applied"))
		waitForQuiet()
		mark := now()
		Consistently(func() (cluster.Events, error) { return env.OperatorRequests(mark, cluster.InNamespace(namespace)) }).Should(BeEmpty())
		kubectl(ctx, "scale", "deployment/web", "--replicas=2")
		eventuallySynced(ctx)
	})
})

var _ = Describe("FR-25: a child whose creation is held up by slow admission", func() {
	It("until its Application is replaced is never changed for the next one, which waits for its end", func(ctx SpecContext) {
		met := addGate(ctx).once(applyOf("deployments", v1alpha1.FieldManager), func() bool {
			Expect(env.Client.Delete(ctx, theApplication())).To(Succeed())
			write(ctx, "{image: registry.example/web:2}")
			return true
		})
		write(ctx, "{image: registry.example/web:1}")
		Eventually(met.Load).Should(BeTrue())
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonTerminating, ContainSubstring("earlier Application")))
		late := the(ctx, deployment)
		Expect(late).NotTo(beControlledBy(the(ctx, application)))
		Expect(late.Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:1"))
		waitForQuiet()
		Expect(the(ctx, deployment).ResourceVersion).To(Equal(late.ResourceVersion))

		By("collecting it, in place of the garbage collector")
		Expect(env.Client.Delete(ctx, late)).To(Succeed())
		eventuallySynced(ctx)
		Expect(the(ctx, deployment)).To(beControlledBy(the(ctx, application)))
		Expect(the(ctx, deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/web:2"))
	})
})
