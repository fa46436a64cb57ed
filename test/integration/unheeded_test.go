package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
)

// oddities are fields of a spec in which something is written otherwise than the API server would keep it, or is not kept, by
// the reason of Synced that they lead to. "app" and "pod" stand for the container and the pod in spec.deployment.
var oddities = map[string][]string{
	v1alpha1.ReasonInvalid: {
		// Refused by the operator.
		"deployment: {spec: {template: {metadata: {creationTimestamp: '2020-01-01T00:00:00.5Z'}}}}",
		"deployment: {spec: {template: {metadata: {deletionTimestamp: '2020-01-01T01:00:00+01:00'}}}}",
		"deployment: {metadata: {selfLink: a}}", "deployment: {status: {replicas: 1}}",
		"pod: {serviceAccount: a, serviceAccountName: b}", "pod: {imagePullSecrets: [{name: ''}]}",
		"service: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}}", "service: {sessionAffinity: None, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}}",
		// Refused by the API server.
		"pod: {ephemeralContainers: [{name: a, image: b}]}", "pod: {activeDeadlineSeconds: 5}", "app: {ports: [{containerPort: 90, protocol: tcp}]}",
		"deployment: {spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}}", "app: {readinessProbe: {httpGet: {port: '80'}}}",
		"service: {externalTrafficPolicy: Local}", "service: {healthCheckNodePort: 30999}", "service: {clusterIPs: [None]}",
	},
	v1alpha1.ReasonFieldsMutated: { // features that are off
		"pod: {schedulingGroup: {podGroupName: b}}", "pod: {os: {name: linux}, containers: [{name: app, lifecycle: {stopSignal: SIGUSR1}}]}",
		"pod: {volumes: [{name: a, projected: {sources: [{clusterTrustBundle: {name: a, path: c}}]}}]}",
		"pod: {volumes: [{name: a, projected: {sources: [{podCertificate: {signerName: a.example.com/b, keyType: ED25519, credentialBundlePath: d}}]}}]}",
	},
	v1alpha1.ReasonSynced: {
		"deployment: {metadata: {creationTimestamp: null}, spec: {template: {metadata: {creationTimestamp: null}}}}", "deployment: {spec: {strategy: {rollingUpdate: {maxSurge: '025%', maxUnavailable: 2}}}}",
		"pod: {serviceAccount: a}", "pod: {serviceAccount: a, serviceAccountName: a}", "pod: {securityContext: {}, ephemeralContainers: []}",
		"pod: {hostNetwork: true, hostUsers: true, containers: [{name: app, ports: [{containerPort: 9000}]}]}", "pod: {resources: {requests: {cpu: 0.5}}}",
		"pod: {overhead: {cpu: 1000m}, runtimeClassName: a}", "pod: {priority: 5}", "pod: {nodeName: a, hostAliases: [{ip: 192.0.2.1}]}",
		"app: {resources: {limits: {cpu: 0.5, memory: 1e3}, requests: {cpu: 0.0001}}}", "app: {resources: {limits: {memory: 0.5Gi, example.com/gpu: '1.0'}}}",
		"app: {env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1000m}}}]}",
		"pod: {volumes: [{name: a}, {name: b, emptyDir: {sizeLimit: 0.5}}, {name: c, configMap: {name: a, defaultMode: 0644}}]}",
		"service: {clusterIP: None}", "service: {externalName: a.example.com}", "service: {externalIPs: ['192.0.2.1', '192.0.2.1']}", "service: {ipFamilyPolicy: PreferDualStack}",
		"service: {loadBalancerIP: 192.0.2.1, allocateLoadBalancerNodePorts: null}", "service: {ports: [{name: more, port: 9090, nodePort: 0, targetPort: http}]}",
	},
}

// oddSpec returns the spec of an Application with one of the oddities.
func oddSpec(oddity string) string {
	where, what, _ := strings.Cut(oddity, ": ")
	switch where {
	case "app":
		oddity = "deployment: {spec: {template: {spec: {containers: [{name: app, " + what[1:] + "]}}}}"
	case "pod":
		oddity = "deployment: {spec: {template: {spec: " + what + "}}}"
	case "service":
		oddity = "service: {spec: " + what + "}"
	}
	return "{image: registry.example/web:1, port: 8080, expose: ClusterIP, " + oddity + "}"
}

var _ = Describe("What does not stay as it is written", func() {
	It("is refused or reported, and not sent time and again", func(ctx SpecContext) {
		want := map[string]string{}
		for reason, list := range oddities {
			for _, oddity := range list {
				name := fmt.Sprintf("odd-%d", len(want))
				want[name] = reason + " for " + oddity
				Expect(env.ApplyYAML(ctx, author, namespace, fmt.Sprintf(
					"{apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: %s}, spec: %s}", name, oddSpec(oddity)))).To(Succeed(), oddity)
			}
		}
		reasons := func(ctx context.Context) (map[string]string, error) {
			list := &v1alpha1.ApplicationList{}
			err := env.Client.List(ctx, list, client.InNamespace(namespace))
			got := map[string]string{}
			for i := range list.Items {
				synced := meta.FindStatusCondition(list.Items[i].Status.Conditions, v1alpha1.ConditionSynced)
				_, oddity, _ := strings.Cut(want[list.Items[i].Name], " for ")
				if synced != nil {
					got[list.Items[i].Name] = synced.Reason + " for " + oddity
				}
			}
			return got, err
		}
		Eventually(ctx, reasons).Should(Equal(want))
		waitForQuiet()

		By("waking the operator by each Application: what differs is tried once more")
		mark := now()
		wake := func(object client.Object, patch string) {
			GinkgoHelper()
			Expect(env.MergeYAML(ctx, "waker", object, patch)).To(Succeed())
		}
		wakeAll := func(round int) {
			GinkgoHelper()
			for name := range want {
				wake(&v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, fmt.Sprintf("{metadata: {labels: {round: r%d}}}", round))
			}
			waitForQuiet()
		}
		wakeAll(0)
		Expect(len(acceptedApplies(mark))).To(BeNumerically("<=", len(oddities[v1alpha1.ReasonFieldsMutated])))

		By("waking it again, by each Deployment's controller as well")
		mark = now()
		for round := range 2 {
			wakeAll(round + 1)
			deployments := &appsv1.DeploymentList{}
			Expect(env.Client.List(ctx, deployments, client.InNamespace(namespace))).To(Succeed())
			for i := range deployments.Items {
				deployments.Items[i].Status.Replicas++
				Expect(env.Client.Status().Update(ctx, &deployments.Items[i])).To(Succeed())
			}
			waitForQuiet()
		}
		Expect(acceptedApplies(mark)).To(BeEmpty())
		Expect(reasons(ctx)).To(Equal(want))

		By("changing the children otherwise: each is tried once more")
		kubectl(ctx, "label", "deployments,services", "--all", "note=mine")
		waitForQuiet()
		Expect(acceptedApplies(mark)).To(HaveLen(len(oddities[v1alpha1.ReasonFieldsMutated])))
		Expect(reasons(ctx)).To(Equal(want))
	})
})

// acceptedApplies returns the operator's writes of children that the API server did not refuse.
func acceptedApplies(mark cluster.Mark) cluster.Events {
	GinkgoHelper()
	return writesSince(mark, cluster.Any(cluster.OnResource("deployments"), cluster.OnResource("services")),
		cluster.WithCode(http.StatusOK, http.StatusCreated))
}
