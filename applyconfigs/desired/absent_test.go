package desired_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
)

// TestNothingDefaulted has a spec that sets as little as possible in as many places as possible. Whatever the API server
// would add to the children there must be left to it: the operator would own it, and quarrel with whoever sets it.
func TestNothingDefaulted(t *testing.T) {
	app := application(v1alpha1.ApplicationSpec{
		Image:  "registry.example/web:1.4",
		Port:   new(int32(8080)),
		Expose: v1alpha1.ExposeLoadBalancer,
		Env: []corev1.EnvVar{
			{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
		},
		LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 8080}}},
	})
	defaulted := []string{
		// Metadata and status
		"creationTimestamp", "generation", "resourceVersion", "managedFields", "annotations", "status",
		// Deployment
		"replicas", "strategy", "revisionHistoryLimit", "progressDeadlineSeconds", "minReadySeconds", "paused",
		// Pod
		"restartPolicy", "dnsPolicy", "schedulerName", "securityContext", "terminationGracePeriodSeconds",
		"serviceAccount", "serviceAccountName", "enableServiceLinks", "tolerations", "volumes",
		// Container
		"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "resources", "protocol", "hostPort",
		// Probe and env
		"timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold", "initialDelaySeconds", "path",
		"scheme", "service",
		// Service
		"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "sessionAffinity", "internalTrafficPolicy",
		"externalTrafficPolicy", "allocateLoadBalancerNodePorts", "nodePort", "loadBalancer",
	}
	for _, path := range append(paths("Deployment", deploymentOf(t, app)), paths("Service", serviceOf(t, app))...) {
		name := path[strings.LastIndex(path, ".")+1:]
		if slices.Contains(defaulted, name) {
			t.Errorf("%s is set although the spec does not speak of it", path)
		}
	}
}

// TestSmallest states in full what is owned for a spec of nothing but an image.
func TestSmallest(t *testing.T) {
	app := application(v1alpha1.ApplicationSpec{Image: "registry.example/web:1.4"})
	if service := desired.Service(app); service != nil {
		t.Errorf("a Service that nobody asked for: %v", serviceOf(t, app))
	}
	var got []string
	for _, path := range paths("", deploymentOf(t, app)) {
		if !strings.Contains(path, "abels.") {
			got = append(got, path)
		}
	}
	want := []string{
		".apiVersion", ".kind", ".metadata.name", ".metadata.namespace",
		".metadata.ownerReferences[].apiVersion", ".metadata.ownerReferences[].blockOwnerDeletion",
		".metadata.ownerReferences[].controller", ".metadata.ownerReferences[].kind",
		".metadata.ownerReferences[].name", ".metadata.ownerReferences[].uid",
		".spec.template.spec.containers[].image", ".spec.template.spec.containers[].name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields besides the labels (-want +got):\n%s", diff)
	}
}

// TestServiceNeedsPortAndType: the API server does not admit one without the other; a Service without a port would be
// refused.
func TestServiceNeedsPortAndType(t *testing.T) {
	for name, spec := range map[string]v1alpha1.ApplicationSpec{
		"neither":   {Image: "i"},
		"port only": {Image: "i", Port: new(int32(80))},
		"type only": {Image: "i", Expose: v1alpha1.ExposeClusterIP},
	} {
		if service := desired.Service(application(spec)); service != nil {
			t.Errorf("%s: got a Service", name)
		}
	}
}

// TestMetadataStaysBehind: labels and annotations of the Application are its own. Pods that restarted with each of them,
// or a selector that followed them, would be a fault.
func TestMetadataStaysBehind(t *testing.T) {
	plain := application(newDice(7).spec())
	adorned := plain.DeepCopy()
	adorned.Labels = map[string]string{"team": "blue", "app": "other", "app.kubernetes.io/version": "12"}
	adorned.Annotations = map[string]string{"example.com/note": "hello"}
	adorned.Finalizers = []string{"example.com/guard"}
	adorned.Generation, adorned.ResourceVersion = 12, "4711"
	if diff := cmp.Diff(deploymentOf(t, plain), deploymentOf(t, adorned)); diff != "" {
		t.Errorf("Deployment (-plain +adorned):\n%s", diff)
	}
	if diff := cmp.Diff(serviceOf(t, plain), serviceOf(t, adorned)); diff != "" {
		t.Errorf("Service (-plain +adorned):\n%s", diff)
	}
}

// TestSelectorMatchesPods: an immutable selector that missed the pods would be beyond repair.
func TestSelectorMatchesPods(t *testing.T) {
	app := application(v1alpha1.ApplicationSpec{Image: "i", Port: new(int32(80)), Expose: v1alpha1.ExposeClusterIP})
	deployment := deploymentOf(t, app)
	pods := descend(t, deployment, "spec", "template", "metadata", "labels")
	selectors := map[string]map[string]any{
		"Deployment": descend(t, deployment, "spec", "selector", "matchLabels"),
		"Service":    descend(t, serviceOf(t, app), "spec", "selector"),
	}
	for kind, selector := range selectors {
		if len(selector) == 0 {
			t.Errorf("the %s selects everything", kind)
		}
		for key, value := range selector {
			if pods[key] != value {
				t.Errorf("the %s selects pods with %s=%v, but these have %v", kind, key, value, pods[key])
			}
		}
	}
}

// TestDeploymentError: what has no JSON form is told with its place.
func TestDeploymentError(t *testing.T) {
	app := application(v1alpha1.ApplicationSpec{
		Image: "i",
		LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			TCPSocket: &corev1.TCPSocketAction{Port: intstr.IntOrString{Type: 9}},
		}},
	})
	deployment, err := desired.Deployment(app)
	if deployment != nil || err == nil {
		t.Fatalf("got %v, %v, want an error", deployment, err)
	}
	for _, part := range []string{"container app", "Application shop/web", "IntOrString"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
}

// paths returns the path of every leaf, sorted, list indices left out.
func paths(prefix string, v any) []string {
	var found []string
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			found = append(found, paths(prefix+"."+name, child)...)
		}
	case []any:
		for _, item := range v {
			found = append(found, paths(prefix+"[]", item)...)
		}
	default:
		return []string{prefix}
	}
	slices.Sort(found)
	return found
}
