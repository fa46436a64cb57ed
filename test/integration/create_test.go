package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

var _ = Describe("A new Application", func() {
	It("gets a Deployment and a Service with one apply each", func(ctx SpecContext) {
		By("writing an Application that shall be exposed")
		given(ctx, "{image: registry.example/web:1, replicas: 2, port: 8080, expose: ClusterIP}")

		By("looking at the Deployment")
		app := the(ctx, application)
		deployment := the(ctx, deployment)
		Expect(metav1.IsControlledBy(deployment, app)).To(BeTrue())
		Expect(deployment.Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(deployment.Spec.Selector.MatchLabels).To(Equal(map[string]string{"app": "web", "owner": "application-operator"}))
		Expect(deployment.Spec.Template.Spec.Containers).To(ConsistOf(And(
			HaveField("Name", "app"),
			HaveField("Image", "registry.example/web:1"),
			HaveField("Ports", ConsistOf(corev1.ContainerPort{Name: "app", ContainerPort: 8080, Protocol: corev1.ProtocolTCP})),
		)))

		By("looking at the Service")
		service := the(ctx, service)
		Expect(metav1.IsControlledBy(service, app)).To(BeTrue())
		Expect(service.Spec.Type).To(Equal(corev1.ServiceTypeClusterIP))
		Expect(service.Spec.Selector).To(Equal(map[string]string{"app": "web", "owner": "application-operator"}))
		Expect(service.Spec.Ports).To(ConsistOf(corev1.ServicePort{
			Name: "app", Port: 8080, TargetPort: intstr.FromString("app"), Protocol: corev1.ProtocolTCP,
		}))

		By("counting what it took")
		Expect(appliesTo("deployments", begin)).To(Equal(1))
		Expect(appliesTo("services", begin)).To(Equal(1))
		Expect(writesSince(begin, cluster.WithCode(201))).To(HaveLen(2), "an apply creates what is not there")

		By("looking whether the API server was asked, before each creation, if the Application is still there")
		requests, err := env.OperatorRequests(begin, cluster.InNamespace(namespace))
		Expect(err).NotTo(HaveOccurred())
		asked := false
		for _, request := range requests {
			switch {
			case request.Verb == "get" && request.ObjectRef.Resource == v1alpha1.Resource:
				asked = true
			case request.Code() == 201 && request.ObjectRef.Resource != "events":
				Expect(asked).To(BeTrue(), "the cache may be behind a deletion: %s", request)
				asked = false
			}
		}
	})

	It("owns just the fields that the spec speaks of", func(ctx SpecContext) {
		By("writing an Application with nothing but what is used below")
		given(ctx, "{image: registry.example/web:1, port: 8080, expose: ClusterIP}")
		app := the(ctx, application)
		metadata := []string{
			".metadata.labels.app",
			".metadata.labels.app.kubernetes.io/instance",
			".metadata.labels.app.kubernetes.io/managed-by",
			".metadata.labels.app.kubernetes.io/name",
			".metadata.labels.owner",
			fmt.Sprintf(`.metadata.ownerReferences[uid="%s"]`, app.UID),
		}

		By("reading managedFields of the Deployment: no replicas, no strategy, no protocol")
		Expect(ownedByOperator(the(ctx, deployment))).To(ConsistOf(append([]string{
			".spec.selector",
			".spec.template.metadata.labels.app",
			".spec.template.metadata.labels.app.kubernetes.io/instance",
			".spec.template.metadata.labels.app.kubernetes.io/managed-by",
			".spec.template.metadata.labels.app.kubernetes.io/name",
			".spec.template.metadata.labels.owner",
			imageField,
			`.spec.template.spec.containers[name="app"].name`,
			`.spec.template.spec.containers[name="app"].ports[containerPort=8080,protocol="TCP"].containerPort`,
			`.spec.template.spec.containers[name="app"].ports[containerPort=8080,protocol="TCP"].name`,
		}, metadata...)))

		By("reading managedFields of the Service")
		Expect(ownedByOperator(the(ctx, service))).To(ConsistOf(append([]string{
			`.spec.ports[port=8080,protocol="TCP"].name`,
			`.spec.ports[port=8080,protocol="TCP"].port`,
			`.spec.ports[port=8080,protocol="TCP"].targetPort`,
			".spec.selector",
			".spec.type",
		}, metadata...)))
	})

	It("becomes Ready when its Deployment has rolled out", func(ctx SpecContext) {
		By("writing an Application")
		given(ctx, "{image: registry.example/web:1, replicas: 2}")
		Expect(the(ctx, application)).To(And(
			haveCondition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProgressing),
			HaveField("Status.Phase", v1alpha1.PhasePending),
			HaveField("Status.Selector", "app=web,owner=application-operator"),
		))

		By("rolling the Deployment out")
		rollOut(ctx)
		Eventually(ctx, application).Should(And(
			haveCondition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRolledOut),
			haveCondition(v1alpha1.ConditionAvailable, metav1.ConditionTrue, "MinimumReplicasAvailable"),
			HaveField("Status.Phase", v1alpha1.PhaseRunning),
			HaveField("Status.DeploymentStatus.AvailableReplicas", BeEquivalentTo(2)),
		))
		Expect(the(ctx, application).Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)))
	})

	It("needs no port, and makes no Service unless asked", func(ctx SpecContext) {
		given(ctx, "{image: registry.example/worker:1, port: 8080}")
		Expect(appliesTo("services", begin)).To(BeZero())
		eventuallyGone(ctx, theService())
		Expect(the(ctx, application).Status.ServiceStatus).To(BeNil())
	})
})
