package desired

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// container returns the main container. Only fields that the spec sets are in it.
func container(app *v1alpha1.Application) (*corev1ac.ContainerApplyConfiguration, error) {
	spec := &app.Spec
	c, err := convert[corev1ac.ContainerApplyConfiguration](corev1.Container{
		Name:            v1alpha1.ContainerName,
		Image:           spec.Image,
		ImagePullPolicy: spec.ImagePullPolicy,
		Command:         spec.Command,
		Args:            spec.Args,
		Env:             spec.Env,
		EnvFrom:         spec.EnvFrom,
		LivenessProbe:   spec.LivenessProbe,
		ReadinessProbe:  spec.ReadinessProbe,
		StartupProbe:    spec.StartupProbe,
	})
	if err != nil {
		return nil, fmt.Errorf("container %s of Application %s/%s: %w", v1alpha1.ContainerName, app.Namespace, app.Name, err)
	}

	// corev1.Container always marshals its resources, set or not.
	c.Resources = resources(spec.Resources)
	for i := range c.Env {
		completeSource(c.Env[i].ValueFrom)
	}
	for _, probe := range []*corev1ac.ProbeApplyConfiguration{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		dropProbeDefaults(probe)
	}
	if spec.Port != nil {
		c.WithPorts(corev1ac.ContainerPort().WithName(v1alpha1.PortName).WithContainerPort(*spec.Port))
	}
	return c, nil
}

// resources returns nil for resources that ask for nothing.
func resources(wanted *corev1.ResourceRequirements) *corev1ac.ResourceRequirementsApplyConfiguration {
	if wanted == nil || len(wanted.Limits)+len(wanted.Requests)+len(wanted.Claims) == 0 {
		return nil
	}
	r := corev1ac.ResourceRequirements()
	if len(wanted.Limits) > 0 {
		r.WithLimits(wanted.Limits.DeepCopy())
	}
	if len(wanted.Requests) > 0 {
		r.WithRequests(wanted.Requests.DeepCopy())
	}
	for _, claim := range wanted.Claims {
		c := corev1ac.ResourceClaim().WithName(claim.Name)
		if claim.Request != "" {
			c.WithRequest(claim.Request)
		}
		r.WithClaims(c)
	}
	return r
}

// completeSource adds the defaults of the API server to the selectors that it defaults. These selectors are atomic: they
// are owned, and compared, as a whole, so without their defaults the live value would differ from the wanted one for ever.
func completeSource(source *corev1ac.EnvVarSourceApplyConfiguration) {
	if source == nil {
		return
	}
	if ref := source.FieldRef; ref != nil && ref.APIVersion == nil {
		ref.WithAPIVersion("v1")
	}
	if ref := source.ResourceFieldRef; ref != nil && ref.Divisor == nil {
		ref.WithDivisor(resource.Quantity{})
	}
	if ref := source.FileKeyRef; ref != nil && ref.Optional == nil {
		ref.WithOptional(false)
	}
}

// dropProbeDefaults removes the empty gRPC service, which the CustomResourceDefinition adds, and the API server as well.
func dropProbeDefaults(probe *corev1ac.ProbeApplyConfiguration) {
	if probe != nil && probe.GRPC != nil && probe.GRPC.Service != nil && *probe.GRPC.Service == "" {
		probe.GRPC.Service = nil
	}
}
