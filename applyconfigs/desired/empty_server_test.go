package desired_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/partial"
)

// places are where a partial object can hold the fields of a Go type.
var places = []struct {
	kind, manifest string
	of             any
}{
	{"Deployment", "{spec: {%s}}", appsv1.DeploymentSpec{}},
	{"Deployment", "{spec: {strategy: {%s}}}", appsv1.DeploymentStrategy{}},
	{"Deployment", "{spec: {strategy: {rollingUpdate: {%s}}}}", appsv1.RollingUpdateDeployment{}},
	{"Deployment", inPod("%s"), corev1.PodSpec{}},
	{"Deployment", inPod("securityContext: {%s}"), corev1.PodSecurityContext{}},
	{"Deployment", inPod("dnsConfig: {nameservers: [192.0.2.1], %s}"), corev1.PodDNSConfig{}},
	{"Deployment", inPod("topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, %s}]"), corev1.TopologySpreadConstraint{}},
	{"Deployment", inPod("tolerations: [{key: a, operator: Exists, %s}]"), corev1.Toleration{}},
	{"Deployment", inContainer("%s"), corev1.Container{}},
	{"Deployment", inContainer("securityContext: {%s}"), corev1.SecurityContext{}},
	{"Deployment", inContainer("ports: [{containerPort: 9090, %s}]"), corev1.ContainerPort{}},
	{"Deployment", inContainer("env: [{name: A, %s}]"), corev1.EnvVar{}},
	{"Deployment", inContainer("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name, %s}}}]"), corev1.ObjectFieldSelector{}},
	{"Deployment", inContainer("env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: b, %s}}}]"), corev1.ConfigMapKeySelector{}},
	{"Deployment", inContainer("livenessProbe: {tcpSocket: {port: 80}, %s}"), corev1.Probe{}},
	{"Deployment", inContainer("livenessProbe: {httpGet: {port: 80, %s}}"), corev1.HTTPGetAction{}},
	{"Deployment", inContainer("livenessProbe: {grpc: {port: 80, %s}}"), corev1.GRPCAction{}},
	{"Deployment", inVolume("emptyDir: {%s}"), corev1.EmptyDirVolumeSource{}},
	{"Deployment", inVolume("configMap: {name: a, %s}"), corev1.ConfigMapVolumeSource{}},
	{"Deployment", inVolume("secret: {secretName: a, %s}"), corev1.SecretVolumeSource{}},
	{"Deployment", inVolume("hostPath: {path: /a, %s}"), corev1.HostPathVolumeSource{}},
	{"Deployment", inVolume("persistentVolumeClaim: {claimName: a, %s}"), corev1.PersistentVolumeClaimVolumeSource{}},
	{"Deployment", inVolume("csi: {driver: a.example.com, %s}"), corev1.CSIVolumeSource{}},
	{"Deployment", inVolume("nfs: {server: a, path: /a, %s}"), corev1.NFSVolumeSource{}},
	{"Deployment", inVolume("projected: {%s, sources: [{secret: {name: a}}]}"), corev1.ProjectedVolumeSource{}},
	{"Deployment", inVolume("projected: {%s}"), corev1.ProjectedVolumeSource{}},
	{"Deployment", inVolume("iscsi: {targetPortal: a, iqn: 'iqn.2001-04.com.example:a', lun: 0, %s}"), corev1.ISCSIVolumeSource{}},
	{"Deployment", inVolume("rbd: {monitors: [a], image: a, %s}"), corev1.RBDVolumeSource{}},
	{"Deployment", inVolume("azureDisk: {diskName: a, diskURI: 'https://a.example.com/a', %s}"), corev1.AzureDiskVolumeSource{}},
	{"Deployment", inVolume("scaleIO: {gateway: a, system: a, secretRef: {name: a}, volumeName: a, %s}"), corev1.ScaleIOVolumeSource{}},
	{"Service", "{spec: {%s}}", corev1.ServiceSpec{}},
	{"Service", "{spec: {ports: [{name: more, port: 9090, %s}]}}", corev1.ServicePort{}},
	{"Service", "{spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {%s}}}}", corev1.ClientIPConfig{}},
}

func inPod(fields string) string { return "{spec: {template: {spec: {" + fields + "}}}}" }

func inContainer(fields string) string { return inPod("containers: [{name: app, " + fields + "}]") }

func inVolume(source string) string { return inPod("volumes: [{name: a, " + source + "}]") }

// checkEmptyValues sets each field of many types to each of its empty values. Whatever the API server makes of one, by a
// default or else, an object that it has accepted is to be as wanted.
func checkEmptyValues(t *testing.T, resources map[string]dynamic.ResourceInterface) {
	t.Helper()
	accepted := 0
	for _, place := range places {
		for field := range reflect.TypeOf(place.of).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" {
				continue // embedded
			}
			for _, empty := range emptyValues(field.Type) {
				if checkEmptyValue(t, resources[place.kind], place.kind, fmt.Sprintf(place.manifest, name+": "+empty)) {
					accepted++
				}
			}
		}
	}
	t.Logf("the API server accepts %d empty values", accepted)
	if accepted < 150 {
		t.Errorf("the API server accepts only %d empty values", accepted)
	}
}

// emptyValues returns, as YAML, what a field of the type can be set to without a value.
func emptyValues(of reflect.Type) []string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of == reflect.TypeFor[intstr.IntOrString]() {
		return []string{"0", "''"}
	}
	switch of.Kind() {
	case reflect.String:
		return []string{"''"}
	case reflect.Bool:
		return []string{"false"}
	case reflect.Int32, reflect.Int64:
		return []string{"0"}
	case reflect.Slice:
		return []string{"[]"}
	default:
		return []string{"{}"}
	}
}

// checkEmptyValue reports whether the API server accepts the partial object.
func checkEmptyValue(t *testing.T, objects dynamic.ResourceInterface, kind, manifest string) bool {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	app := application(v1alpha1.ApplicationSpec{Image: "web:1", Port: new(int32(8080)), Expose: v1alpha1.ExposeLoadBalancer})
	if kind == "Deployment" {
		app.Spec.Deployment = &runtime.RawExtension{Raw: raw}
	} else {
		app.Spec.Service = &runtime.RawExtension{Raw: raw}
	}
	if _, err := desired.ForApplication(childTypes, app); errors.As(err, new(*partial.InvalidError)) {
		return false // the field is the operator's, or a quantity, which has no empty value
	}
	intent := childOf(t, app, kind)
	options := metav1.ApplyOptions{FieldManager: "operator", DryRun: []string{metav1.DryRunAll}}
	answer, err := objects.Apply(t.Context(), app.Name, intent.Object(), options)
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return false
	}
	if err != nil {
		t.Errorf("%s: %v", manifest, err)
		return false
	}
	if difference, err := intent.Compare(answer); err != nil || !difference.Empty() {
		t.Errorf("%s: once applied, the merged object differs from the live one: %v, %v", manifest, difference, err)
	}
	managed, err := ownership.Parse(answer.GetManagedFields())
	if err != nil || !managed.Fields(ownership.Applier("operator")).Equals(intent.Fields()) {
		t.Errorf("%s: the operator owns %v, %v", manifest, managed, err)
	}
	return true
}
