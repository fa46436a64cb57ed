package controllers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// entryOf returns an entry of managedFields that holds fields of the pod.
func entryOf(manager string, operation metav1.ManagedFieldsOperationType, podFields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "apps/v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{` + podFields + `}}}}`),
	}
}

func TestLeftoversMessage(t *testing.T) {
	const (
		pod = ".spec.template.spec."
		app = pod + `containers[name="app"].`
		// inApp is the item of the container in managedFields.
		inApp = `"f:containers":{"k:{\"name\":\"app\"}":{`
	)
	ours := entryOf(v1alpha1.FieldManager, byApply, inApp+`".":{},"f:name":{},"f:image":{}}}`)
	adopted := func(d *appsv1.Deployment) { d.Annotations = map[string]string{v1alpha1.AnnotationAdopt: "web"} }
	for _, c := range []struct {
		name   string
		change func(d *appsv1.Deployment)
		owners []metav1.ManagedFieldsEntry
		kept   bool // not adopted
		want   string
	}{
		{name: "nothing", owners: []metav1.ManagedFieldsEntry{ours}},
		{
			name: "fields that change what runs, and their defaults, which do not",
			change: func(d *appsv1.Deployment) {
				spec := &d.Spec.Template.Spec
				spec.ServiceAccountName, spec.DeprecatedServiceAccount = "robot", "robot"
				spec.NodeSelector = map[string]string{"disk": "fast"}
				spec.RestartPolicy, spec.TerminationGracePeriodSeconds = corev1.RestartPolicyAlways, new(int64(30))
				spec.Containers[0].Command = []string{"theirs"}
				spec.Containers[0].TerminationMessagePath = "/dev/termination-log"
				spec.Containers[0].LivenessProbe = &corev1.Probe{PeriodSeconds: 10, FailureThreshold: 4, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"a"}}}}
				spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
			},
			owners: []metav1.ManagedFieldsEntry{ours, entryOf("kubectl-create", byUpdate,
				`"f:serviceAccountName":{},"f:serviceAccount":{},"f:nodeSelector":{},"f:restartPolicy":{},"f:terminationGracePeriodSeconds":{},`+
					`"f:volumes":{"k:{\"name\":\"v\"}":{".":{},"f:name":{},"f:hostPath":{"f:path":{}}}},`+inApp+
					`"f:command":{},"f:terminationMessagePath":{},"f:livenessProbe":{"f:periodSeconds":{},"f:failureThreshold":{},"f:exec":{"f:command":{}}}}}`)},
			want: app + `command of "kubectl-create"; ` + app + `livenessProbe of "kubectl-create"; ` + pod + `nodeSelector of "kubectl-create"; ` +
				pod + `serviceAccountName of "kubectl-create"; ` + pod + `volumes[name="v"] of "kubectl-create"`,
		},
		{
			name:   "a field, of two managers",
			change: func(d *appsv1.Deployment) { d.Spec.Template.Spec.HostNetwork = true },
			owners: []metav1.ManagedFieldsEntry{ours, entryOf("b", byApply, `"f:hostNetwork":{}`), entryOf("a", byApply, `"f:hostNetwork":{}`)},
			want:   pod + `hostNetwork of "a" and "b"`,
		},
		{
			name:   "a field of a child that the Application made itself",
			change: func(d *appsv1.Deployment) { d.Spec.Template.Spec.HostNetwork = true },
			owners: []metav1.ManagedFieldsEntry{ours, entryOf("a", byApply, `"f:hostNetwork":{}`)}, kept: true,
		},
		{
			name: "an entry of a wiped record",
			change: func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.HostNetwork = true
				d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "OLD", Value: "a"}}
			},
			owners: []metav1.ManagedFieldsEntry{ours, entryOf(ownership.BeforeFirstApply, byUpdate,
				`"f:hostNetwork":{},`+inApp+`"f:env":{"k:{\"name\":\"OLD\"}":{".":{},"f:name":{},"f:value":{}}}}}`)}, kept: true,
			want: app + `env[name="OLD"] of "before-first-apply"`,
		},
		{
			name: "entries that nobody owns any more",
			change: func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "OLD", Value: "a"}}
				d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "side"})
				d.Spec.Template.Spec.DNSPolicy = corev1.DNSClusterFirst
			},
			owners: []metav1.ManagedFieldsEntry{ours}, kept: true,
			want: app + `env[name="OLD"] of nobody; ` + pod + `containers[name="side"] of nobody`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			application := newApp()
			application.Spec.Port, application.Spec.Expose = nil, ""
			config, err := desired.Deployment(application)
			if err != nil {
				t.Fatal(err)
			}
			intent, err := ownership.NewIntent(applyconfigurations.NewTypeConverter(clientgoscheme.Scheme), applier, config)
			if err != nil {
				t.Fatal(err)
			}
			live := newDeployment(func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: application.Spec.Image}}
				d.ManagedFields = c.owners
			})
			if !c.kept {
				adopted(live)
			}
			if c.change != nil {
				c.change(live)
			}
			got := leftoversMessage(&childResult{kind: "Deployment", name: "web", live: live, intent: intent})
			_, list, _ := strings.Cut(got, "Deployment web has more than the spec says: ")
			list, ends := strings.CutSuffix(list, ". That stays until somebody removes it")
			if diff := cmp.Diff(c.want, list); diff != "" || ends != (c.want != "") {
				t.Errorf("%s\n(-want +got):\n%s", got, diff)
			}
		})
	}
}
