package transition

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
)

// rule is something that the API server's validation demands of fields that may have several owners: no single apply
// violates it, but two together can. The schema does not tell these rules.
type rule interface {
	// obstacles returns what stands against the desired fields in the object that an apply of them would lead to.
	obstacles(merged *ownership.Merged, desired *fieldpath.Set) []obstacle
}

// atMostOne: of these fields of one struct, one at most may be set. It is a union without a discriminator.
type atMostOne struct {
	of      pattern
	members []string
}

func (r atMostOne) obstacles(merged *ownership.Merged, desired *fieldpath.Set) []obstacle {
	var found []obstacle
	for _, parent := range r.of.in(merged.Fields()) {
		var wanted, standing []fieldpath.Path
		for _, member := range r.members {
			switch path := child(parent, member); {
			case ownership.Holds(desired, path):
				wanted = append(wanted, path)
			case ownership.Holds(merged.Fields(), path):
				standing = append(standing, path)
			}
		}
		for _, path := range standing {
			if len(wanted) > 0 {
				found = append(found, obstacle{wanted: wanted, standing: path})
			}
		}
	}
	return found
}

// onlyWith: a field may be set only beside one value of another, its discriminator.
type onlyWith struct {
	discriminator fieldpath.Path
	value         string
	member        fieldpath.Path
}

func (r onlyWith) obstacles(merged *ownership.Merged, desired *fieldpath.Set) []obstacle {
	if !merged.Fields().Has(r.discriminator) || merged.Value(r.discriminator) == r.value || !ownership.Holds(merged.Fields(), r.member) {
		return nil
	}
	switch wanted := ownership.Holds(desired, r.member); {
	case desired.Has(r.discriminator) && !wanted:
		return []obstacle{{wanted: []fieldpath.Path{r.discriminator}, standing: r.member}}
	case !desired.Has(r.discriminator) && wanted:
		return []obstacle{{wanted: []fieldpath.Path{r.member}, standing: r.discriminator}}
	default:
		return nil // somebody else's matter, or the intent's own contradiction
	}
}

// needsOne: a struct that is set needs one of these fields. What others own of it can outlive the field.
type needsOne struct {
	of     pattern
	fields []string
}

func (r needsOne) obstacles(merged *ownership.Merged, desired *fieldpath.Set) []obstacle {
	var found []obstacle
	for _, path := range r.of.in(merged.Fields()) {
		complete := slices.ContainsFunc(r.fields, func(field string) bool { return ownership.Holds(merged.Fields(), child(path, field)) })
		if !complete && !ownership.Holds(desired, path) {
			found = append(found, obstacle{standing: path})
		}
	}
	return found
}

// ownName: the items of a list have other keys, but each must have a name of its own.
type ownName struct {
	of pattern
	// all: an item may lack a name only if it is alone.
	all bool
}

const nameField = "name"

func (r ownName) obstacles(merged *ownership.Merged, desired *fieldpath.Set) []obstacle {
	var wanted, others []fieldpath.Path
	for _, item := range r.of.in(merged.Fields()) {
		if ownership.Holds(desired, item) {
			wanted = append(wanted, item)
		} else {
			others = append(others, item)
		}
	}
	var found []obstacle
	for _, other := range others {
		name := merged.Value(child(other, nameField))
		if name == nil && r.all && len(wanted) > 0 {
			found = append(found, obstacle{wanted: wanted, standing: other, contested: other})
		}
		for _, item := range wanted {
			if sameList(item, other) && name != nil && name == merged.Value(child(item, nameField)) {
				found = append(found, obstacle{wanted: []fieldpath.Path{item}, standing: other, contested: child(other, nameField)})
			}
		}
	}
	return found
}

func sameList(a, b fieldpath.Path) bool {
	return len(a) == len(b) && a[:len(a)-1].Equals(b[:len(b)-1])
}

// rules are the rules by kind.
var rules = map[string][]rule{
	"Deployment": append(podRules(at("spec.template.spec")), onlyWith{
		discriminator: fieldpath.MakePathOrDie("spec", "strategy", "type"),
		value:         "RollingUpdate",
		member:        fieldpath.MakePathOrDie("spec", "strategy", "rollingUpdate"),
	}),
	"Service": {
		ownName{of: at("spec.ports.*"), all: true},
		// What else depends on the type is dropped by the API server with the type.
		onlyWith{
			discriminator: fieldpath.MakePathOrDie("spec", "type"),
			value:         "LoadBalancer",
			member:        fieldpath.MakePathOrDie("spec", "loadBalancerSourceRanges"),
		},
		onlyWith{
			discriminator: fieldpath.MakePathOrDie("spec", "type"),
			value:         "LoadBalancer",
			member:        fieldpath.MakePathOrDie("metadata", "annotations", "service.beta.kubernetes.io/load-balancer-source-ranges"),
		},
	},
}

// podRules are those of a pod's spec.
func podRules(pod pattern) []rule {
	rules := []rule{atMostOne{of: pod.with("volumes", anyItem), members: volumeSources}}
	for _, containers := range []string{"containers", "initContainers"} {
		rules = append(rules, containerRules(pod.with(containers, anyItem))...)
	}
	return rules
}

func containerRules(container pattern) []rule {
	env := container.with("env", anyItem)
	rules := []rule{
		atMostOne{of: env, members: []string{"value", "valueFrom"}},
		atMostOne{of: env.with("valueFrom"), members: []string{"configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"}},
		ownName{of: container.with("ports", anyItem)},
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		rules = append(rules, handlerRules(container.with(probe), "exec", "grpc", "httpGet", "tcpSocket")...)
	}
	for _, hook := range []string{"postStart", "preStop"} {
		rules = append(rules, handlerRules(container.with("lifecycle", hook), "exec", "httpGet", "sleep", "tcpSocket")...)
	}
	return rules
}

// handlerRules: a probe or hook has exactly one handler, and one by network needs a port.
func handlerRules(of pattern, handlers ...string) []rule {
	rules := []rule{atMostOne{of: of, members: handlers}, needsOne{of: of, fields: handlers}}
	for _, handler := range handlers {
		switch handler {
		case "grpc", "httpGet", "tcpSocket":
			rules = append(rules, needsOne{of: of.with(handler), fields: []string{"port"}})
		}
	}
	return rules
}

var volumeSources = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI", "emptyDir",
	"ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "image", "iscsi",
	"nfs", "persistentVolumeClaim", "photonPersistentDisk", "portworxVolume", "projected", "quobyte", "rbd", "scaleIO",
	"secret", "storageos", "vsphereVolume",
}
