package desired_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// dice makes random specs that the CustomResourceDefinition admits. Quantities are often not in canonical form, lists
// and maps are at times empty instead of absent, and pointers may be shared between two places of one spec.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0))} }

func (d dice) coin() bool { return d.IntN(2) == 0 }

func (d dice) word() string { return fmt.Sprintf("w%d", d.IntN(1000)) }

func pick[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// maybe returns nil half of the time.
func maybe[T any](d dice, roll func() T) *T {
	if d.coin() {
		return nil
	}
	v := roll()
	return &v
}

// some returns a list, which may be nil or empty.
func some[T any](d dice, roll func() T) []T {
	if d.coin() {
		return nil
	}
	list := make([]T, d.IntN(4))
	for i := range list {
		list[i] = roll()
	}
	return list
}

func (d dice) spec() v1alpha1.ApplicationSpec {
	spec := v1alpha1.ApplicationSpec{
		Image:           "registry.example/" + d.word(),
		ImagePullPolicy: pick(d, "", corev1.PullAlways, corev1.PullNever, corev1.PullIfNotPresent),
		Command:         some(d, d.word),
		Args:            some(d, func() string { return pick(d, "", d.word()) }),
		EnvFrom:         some(d, d.envFrom),
		Resources:       maybe(d, d.resources),
		LivenessProbe:   maybe(d, d.probe),
		ReadinessProbe:  maybe(d, d.probe),
		Replicas:        maybe(d, func() int32 { return pick[int32](d, 0, 0, 1, 5) }),
		Port:            maybe(d, func() int32 { return 1 + d.Int32N(65535) }),
		Paused:          d.coin(),
	}
	spec.StartupProbe = pick(d, nil, spec.LivenessProbe, maybe(d, d.probe))
	for i := range d.IntN(5) {
		spec.Env = append(spec.Env, d.envVar(fmt.Sprintf("VARIABLE_%d", i)))
	}
	if spec.Port != nil {
		spec.Expose = pick(d, "", v1alpha1.ExposeClusterIP, v1alpha1.ExposeNodePort, v1alpha1.ExposeLoadBalancer)
	}
	return spec
}

func (d dice) quantity() resource.Quantity {
	return resource.MustParse(pick(d, "1", "1000m", "1024Mi", "0.5Gi", "0.1", "1e3", "250m", "2.0", "+3", "2048"))
}

func (d dice) resources() corev1.ResourceRequirements {
	list := func() corev1.ResourceList {
		return *pick(d, new(corev1.ResourceList), &corev1.ResourceList{},
			&corev1.ResourceList{corev1.ResourceCPU: d.quantity()},
			&corev1.ResourceList{corev1.ResourceMemory: d.quantity(), "example.com/gpu": d.quantity()})
	}
	return corev1.ResourceRequirements{
		Limits:   list(),
		Requests: list(),
		Claims: some(d, func() corev1.ResourceClaim {
			return corev1.ResourceClaim{Name: d.word(), Request: pick(d, "", d.word())}
		}),
	}
}

func (d dice) optional() *bool { return pick(d, nil, new(true)) }

func (d dice) envVar(name string) corev1.EnvVar {
	object := corev1.LocalObjectReference{Name: pick(d, "", d.word())}
	source := pick(d,
		nil,
		&corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name", APIVersion: pick(d, "", "v1")}},
		&corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: object, Key: d.word(), Optional: d.optional()}},
		&corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: object, Key: d.word(), Optional: d.optional()}},
		&corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: d.word(), Path: d.word(), Key: d.word(), Optional: pick(d, nil, new(false), new(true))}},
		&corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
			ContainerName: pick(d, "", "app"),
			Resource:      "limits.cpu",
			Divisor:       pick(d, resource.Quantity{}, resource.MustParse("0"), resource.MustParse("0Mi"), d.quantity()),
		}},
	)
	if source != nil {
		return corev1.EnvVar{Name: name, ValueFrom: source}
	}
	return corev1.EnvVar{Name: name, Value: pick(d, "", d.word())}
}

func (d dice) envFrom() corev1.EnvFromSource {
	object := corev1.LocalObjectReference{Name: d.word()}
	source := corev1.EnvFromSource{Prefix: pick(d, "", "PREFIX_")}
	if d.coin() {
		source.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: object, Optional: d.optional()}
	} else {
		source.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: object, Optional: d.optional()}
	}
	return source
}

func (d dice) probe() corev1.Probe {
	port := pick(d, intstr.FromString("app"), intstr.FromInt32(1+d.Int32N(65535)))
	header := func() corev1.HTTPHeader { return corev1.HTTPHeader{Name: d.word(), Value: d.word()} }
	return corev1.Probe{
		ProbeHandler: pick(d,
			corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{d.word()}}},
			corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port, Host: pick(d, "", d.word())}},
			corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1 + d.Int32N(65535), Service: pick(d, nil, new(""), new(d.word()))}},
			corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Port: port, Path: pick(d, "", "/"), Scheme: pick(d, "", corev1.URISchemeHTTP), HTTPHeaders: some(d, header),
			}}),
		InitialDelaySeconds:           d.Int32N(3),
		TimeoutSeconds:                d.Int32N(3),
		PeriodSeconds:                 d.Int32N(3),
		FailureThreshold:              d.Int32N(3),
		TerminationGracePeriodSeconds: maybe(d, func() int64 { return 1 + d.Int64N(9) }),
	}
}
