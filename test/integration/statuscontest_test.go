package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// hold writes fields of the status by hand, as kubectl edit --subresource=status does.
func hold(ctx context.Context, manager, status string) {
	GinkgoHelper()
	kubectl(ctx, "patch", "appl/web", "--subresource=status", "--type=merge", "--field-manager="+manager, "--patch", fmt.Sprintf(`{"status": %s}`, status))
}

// release takes a manager out of the record of the Application, and changes nothing else.
func release(ctx context.Context, manager string) {
	GinkgoHelper()
	app := the(ctx, application)
	var others []metav1.ManagedFieldsEntry
	for _, entry := range app.ManagedFields {
		if entry.Manager != manager {
			others = append(others, entry)
		}
	}
	app.ManagedFields = others
	Expect(env.Client.Update(ctx, app, client.FieldOwner("janitor"))).To(Succeed())
}

// onStatus describes a conflict about a field of the Application's own status.
func onStatus(field, manager string) v1alpha1.FieldConflict {
	return v1alpha1.FieldConflict{
		Kind: v1alpha1.Kind, Name: web, Field: field, Manager: manager, Operation: byUpdate,
		Subresource: "status", APIVersion: v1alpha1.SchemeGroupVersion.String(),
	}
}

// haveContested matches an Application whose children are as wanted, while others hold fields of its status.
func haveContested(conflicts ...v1alpha1.FieldConflict) types.GomegaMatcher {
	var fields []types.GomegaMatcher
	for _, c := range conflicts {
		fields = append(fields, And(ContainSubstring("%s", c.Field), ContainSubstring("%q", c.Manager)))
	}
	return And(
		haveCondition(v1alpha1.ConditionSynced, metav1.ConditionTrue, v1alpha1.ReasonStatusContested, fields...),
		HaveField("Status.Conflicts", ConsistOf(conflicts)),
	)
}

// stored returns the status as the API server stores it.
func stored(ctx context.Context) map[string]any {
	GinkgoHelper()
	app := &unstructured.Unstructured{}
	app.SetAPIVersion(v1alpha1.SchemeGroupVersion.String())
	app.SetKind(v1alpha1.Kind)
	Expect(env.Client.Get(ctx, key(), app)).To(Succeed())
	status, _, err := unstructured.NestedMap(app.Object, "status")
	Expect(err).NotTo(HaveOccurred())
	return status
}

var _ = Describe("A field of the status that somebody wrote by hand", func() {
	DescribeTable("is theirs until they let go; the rest arrives, and says so:",
		func(ctx SpecContext, field, byHand, value, letGo string) {
			given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")
			rollOut(ctx)
			Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
			waitForQuiet()

			By("writing it")
			hold(ctx, "by-hand", byHand)
			Eventually(ctx, application).Should(haveContested(onStatus(field, "by-hand")))
			Eventually(func() ([]string, error) { return notes(ctx, v1alpha1.ReasonStatusContested) }).Should(ConsistOf(ContainSubstring(field)))
			Eventually(env.OperatorLog).Should(And(ContainSubstring("Other field managers hold fields of the status"), ContainSubstring(field)))
			encoded, err := json.Marshal(stored(ctx))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(encoded)).To(ContainSubstring(value), "no seizure")

			By("changing what the rest tells of")
			scale(ctx, "kubectl", 4)
			rollOut(ctx)
			Eventually(ctx, application).Should(HaveField("Status.Conflicts", ContainElements(
				onStatus(field, "by-hand"), onDeployment(replicasField, "kubectl", byUpdate, "scale"))))
			scale(ctx, "kubectl", 2)
			rollOut(ctx)
			Eventually(ctx, application).Should(haveContested(onStatus(field, "by-hand")))

			By("resting: a standing contest is no loop")
			waitForQuiet()
			mark := now()
			touch(ctx, "again")
			whileOperatorIsDown(ctx, func() {})
			expectNoWrites(mark)

			By("letting go")
			hold(ctx, "by-hand", letGo)
			eventuallySynced(ctx)
			Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
			Expect(owned(the(ctx, application), v1alpha1.FieldManagerStatus, byApply, "status")).To(ContainElement(field))
			encoded, err = json.Marshal(stored(ctx))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(encoded)).NotTo(ContainSubstring(value))
			expectNoFailures()
		},
		Entry("phase", ".status.phase", `{"phase": "Failed"}`, `"Failed"`, `{"phase": null}`),
		Entry("message", ".status.message", `{"message": "I know better"}`, "I know better", `{"message": "Deployment web has rolled out"}`),
		Entry("selector", ".status.selector", `{"selector": "other=pods"}`, "other=pods", `{"selector": null}`),
		Entry("a number of the Deployment's status", ".status.deploymentStatus.readyReplicas", `{"deploymentStatus": {"readyReplicas": 77}}`, "77", `{"deploymentStatus": {"readyReplicas": null}}`),
	)

	DescribeTable("may be one that the operator does not want now: it is named as well, and no loop:",
		func(ctx SpecContext, field, byHand, letGo string) {
			given(ctx, "{image: registry.example/web:1, replicas: 2}")
			rollOut(ctx)
			Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
			waitForQuiet()
			if conditions, found := strings.CutPrefix(byHand, "condition "); found {
				byHand = `{"conditions": ` + conditionsWith(ctx, conditions) + "}"
				letGo = strings.ReplaceAll(letGo, "CONDITIONS", conditionsWith(ctx))
			}
			hold(ctx, "by-hand", byHand)
			Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "True", v1alpha1.ReasonStatusContested,
				And(ContainSubstring("%s", field), ContainSubstring(`"by-hand"`))))
			if field != ".status.conflicts" {
				Expect(the(ctx, application)).To(haveContested(onStatus(field, "by-hand")))
			}
			Eventually(func() ([]string, error) { return notes(ctx, v1alpha1.ReasonStatusContested) }).Should(ConsistOf(ContainSubstring(field)))

			By("resting")
			waitForQuiet()
			mark := now()
			touch(ctx, "again")
			expectNoWrites(mark)

			By("letting go")
			hold(ctx, "by-hand", letGo)
			eventuallySynced(ctx)
			Expect(the(ctx, application).Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)))
			expectNoFailures()
		},
		Entry("the list of conflicts", ".status.conflicts",
			`{"conflicts": [{"kind": "Deployment", "name": "web", "field": "made up", "manager": "nobody"}]}`, `{"conflicts": null}`),
		Entry("the status of a Service that is not there", ".status.serviceStatus.loadBalancer.ingress",
			`{"serviceStatus": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}`, `{"serviceStatus": null}`),
		Entry("a condition", `.status.conditions[type="Stalled"]`,
			`condition {"type": "Stalled", "status": "True", "reason": "MadeUp", "message": "I say so", "lastTransitionTime": "2020-01-01T00:00:00Z"}`,
			`{"conditions": CONDITIONS}`),
	)

	It("may be observedGeneration: the conditions are about the newest generation all the same", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		hold(ctx, "by-hand", `{"observedGeneration": 99}`)
		contested := And(
			HaveField("Status.ObservedGeneration", BeEquivalentTo(99)),
			HaveField("Status.Conflicts", ConsistOf(onStatus(".status.observedGeneration", "by-hand"))),
			HaveField("Status.Conditions", ContainElement(And(HaveField("Type", v1alpha1.ConditionSynced), HaveField("Reason", v1alpha1.ReasonStatusContested)))))
		Eventually(ctx, application).Should(contested)
		write(ctx, "{image: registry.example/web:2}")
		Eventually(ctx, deployment).Should(HaveField("Spec.Template.Spec.Containers", ConsistOf(HaveField("Image", "registry.example/web:2"))))
		Eventually(ctx, application).Should(And(contested,
			HaveField("Status.Conditions", HaveEach(HaveField("ObservedGeneration", BeEquivalentTo(2))))))
		release(ctx, "by-hand")
		eventuallySynced(ctx)
	})

	It("may be the list of conflicts itself: the condition still names it", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		hold(ctx, "by-hand", `{"conflicts": [{"kind": "Deployment", "name": "web", "field": "made up", "manager": "nobody"}]}`)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonFieldConflict, And(
			ContainSubstring(replicasField), ContainSubstring(".status.conflicts"), ContainSubstring(`"by-hand"`))))
		Expect(the(ctx, application).Status.Conflicts).To(ConsistOf(HaveField("Field", "made up")))
		waitForQuiet()
		mark := now()
		touch(ctx, "again")
		expectNoWrites(mark)

		By("letting go")
		hold(ctx, "by-hand", `{"conflicts": null}`)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		expectNoFailures()
	})

	It("may be a condition: whoever wrote it keeps it, and status.conflicts names it", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		app := the(ctx, application)
		apimeta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionSynced).Message = "I know better"
		Expect(env.Client.Status().Update(ctx, app, client.FieldOwner("by-hand"))).To(Succeed())
		field := `.status.conditions[type="Synced"].message`
		Eventually(ctx, application).Should(And(
			HaveField("Status.Conflicts", ContainElement(onStatus(field, "by-hand"))),
			HaveField("Status.Conditions", ContainElement(And(HaveField("Type", v1alpha1.ConditionSynced), HaveField("Message", "I know better"))))))

		By("looking at the rest: it is up to date")
		write(ctx, "{image: registry.example/web:2, replicas: 2}")
		Eventually(ctx, application).Should(HaveField("Status.ObservedGeneration", BeEquivalentTo(2)))
		waitForQuiet()
		mark := now()
		touch(ctx, "again")
		expectNoWrites(mark)
		release(ctx, "by-hand")
		eventuallySynced(ctx)
	})

	It("may come in a race: the apply fails once, and the next knows", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1}")
		gate := addGate(ctx)
		gate.once(statusApply, func() bool {
			hold(ctx, "by-hand", `{"phase": "Failed"}`)
			return true
		})
		write(ctx, "{image: registry.example/web:2}")
		Eventually(ctx, application).Should(haveContested(onStatus(".status.phase", "by-hand")))
		waitForQuiet()
		Expect(len(writesSince(begin, cluster.OnResource("applications/status"), cluster.WithCode(409)))).To(BeNumerically("<=", 1))
	})
})

var _ = Describe("FR-31: the conditions of an Application", func() {
	It("survive each other: the operator touches none but its own", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		hold(ctx, "auditor", `{"conditions": `+conditionsWith(ctx, `{"type": "Audited", "status": "True", "reason": "ByHand", "message": "fine", "lastTransitionTime": "2020-01-01T00:00:00Z"}`)+`}`)
		audited := ContainElement(And(HaveField("Type", "Audited"), HaveField("Message", "fine")))

		By("going through Ready, a conflict and its end, orphaning and yielding")
		rollOut(ctx)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonRolledOut))
		scale(ctx, "kubectl", 5)
		Eventually(ctx, application).Should(haveConflicts(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		Expect(the(ctx, application).Status.Conditions).To(audited)
		write(ctx, "{image: registry.example/web:1, replicas: 2, conflictPolicy: Yield}")
		Eventually(ctx, application).Should(haveYielded(onDeployment(replicasField, "kubectl", byUpdate, "scale")))
		scale(ctx, "kubectl", 2)
		eventuallySynced(ctx)
		Expect(the(ctx, application).Status.Conditions).To(audited)
		Expect(the(ctx, application).Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)), "what is over goes")
		Expect(owned(the(ctx, application), v1alpha1.FieldManagerStatus, byApply, "status")).NotTo(ContainElement(ContainSubstring("Audited")))
		Expect(owned(the(ctx, application), v1alpha1.FieldManager, byApply, "")).To(BeEmpty())
	})
})

// conditionsWith returns the present conditions and more, as JSON.
func conditionsWith(ctx context.Context, conditions ...string) string {
	GinkgoHelper()
	all := the(ctx, application).Status.Conditions
	for _, condition := range conditions {
		more := metav1.Condition{}
		Expect(json.Unmarshal([]byte(condition), &more)).To(Succeed())
		all = append(all, more)
	}
	encoded, err := json.Marshal(all)
	Expect(err).NotTo(HaveOccurred())
	return string(encoded)
}
