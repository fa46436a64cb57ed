package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// appName is the name of every program's Application and children.
const appName = "web"

const (
	appVersion        = "application.mycompany.io/v1alpha1"
	appKind           = "Application"
	adoptAnnotation   = "application.mycompany.io/adopt"
	orphanFinalizer   = "application.mycompany.io/orphan"
	ownerLabel        = "owner"
	deploymentVersion = "apps/v1"
	serviceVersion    = "v1"
)

// applicationContent returns an Application with these settings.
func applicationContent(s settings) (map[string]any, error) {
	spec := map[string]any{}
	rest, partials := splitPartials(s)
	for kind, settings := range partials {
		partial, err := partialContent(kind, settings)
		if err != nil {
			return nil, fmt.Errorf("spec.%s: %w", partialFields[kind], err)
		}
		spec[partialFields[kind]] = partial
	}
	for _, one := range rest {
		var err error
		switch one.key {
		case "replicas", "port":
			spec[one.key], err = strconv.ParseInt(one.value, 10, 64)
		case "paused":
			spec["paused"], err = strconv.ParseBool(one.value)
		case "expose":
			spec["expose"] = one.value
		case "policy":
			spec["conflictPolicy"] = one.value
		case "deletion":
			spec["deletionPolicy"] = one.value
		default:
			err = setContainerField(spec, one)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one, err)
		}
	}
	return object(appVersion, appKind, nil, spec), nil
}

// childContent returns a child with just these settings. What a setting takes away is null.
func childContent(kind string, s settings) (map[string]any, error) {
	if kind == service {
		return serviceContent(s)
	}
	metadata, spec, podMetadata, container := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	pod := map[string]any{}
	for _, one := range s {
		var err error
		switch group, name, _ := strings.Cut(one.key, "."); group {
		case "label", "note":
			setMetadata(metadata, one)
		case "podlabel":
			setMetadata(podMetadata, setting{key: "label." + name, value: one.value, absent: one.absent})
		case "podnote":
			setMetadata(podMetadata, setting{key: "note." + name, value: one.value, absent: one.absent})
		case "replicas":
			spec["replicas"], err = integer(one)
		case "minready":
			spec["minReadySeconds"], err = integer(one)
		case "selector":
			spec["selector"] = map[string]any{"matchLabels": selectorLabels(one.value)}
			podMetadata["labels"] = selectorLabels(one.value)
		case "port":
			err = addPort(container, "containerPort", "name", name, one)
		case "mount":
			addItem(container, "volumeMounts", "mountPath", name, map[string]any{"name": one.value}, one.absent)
		case "strategy":
			within(spec, "strategy")["type"] = nullable(one)
		case "surge":
			within(within(spec, "strategy"), "rollingUpdate")["maxSurge"], err = integer(one)
		case "grace", "account", "toleration", "node", "sidecar", "volume":
			err = setPodField(pod, one)
		default:
			err = setContainerField(container, one)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one, err)
		}
	}
	template := map[string]any{}
	if len(podMetadata) > 0 {
		template["metadata"] = podMetadata
	}
	if len(container) > 0 {
		container["name"] = "app"
		addItem(pod, "containers", "name", "app", container, false)
	}
	if len(pod) > 0 {
		template["spec"] = pod
	}
	if len(template) > 0 {
		spec["template"] = template
	}
	return object(deploymentVersion, deployment, metadata, spec), nil
}

func serviceContent(s settings) (map[string]any, error) {
	metadata, spec := map[string]any{}, map[string]any{}
	for _, one := range s {
		var err error
		switch group, name, _ := strings.Cut(one.key, "."); group {
		case "label", "note":
			setMetadata(metadata, one)
		case "type":
			spec["type"] = nullable(one)
		case "affinity":
			spec["sessionAffinity"] = nullable(one)
		case "selector":
			spec["selector"] = selectorLabels(one.value)
		case "port":
			err = addPort(spec, "port", "targetPort", name, one)
		default:
			err = fmt.Errorf("a Service has no such setting")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one, err)
		}
	}
	return object(serviceVersion, service, metadata, spec), nil
}

func object(apiVersion, kind string, metadata, spec map[string]any) map[string]any {
	named := map[string]any{"name": appName}
	maps.Copy(named, metadata)
	content := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": named}
	if len(spec) > 0 {
		content["spec"] = spec
	}
	return content
}

// setPodField sets a field of a pod's spec.
func setPodField(pod map[string]any, s setting) error {
	group, name, _ := strings.Cut(s.key, ".")
	var err error
	switch group {
	case "grace":
		pod["terminationGracePeriodSeconds"], err = integer(s)
	case "account":
		pod["serviceAccountName"] = nullable(s)
	case "toleration":
		pod["tolerations"] = tolerations(s)
	case "node":
		pod["nodeSelector"] = labels(s)
	case "sidecar":
		addItem(pod, "containers", "name", "sidecar", map[string]any{"image": s.value}, s.absent)
	case "volume":
		source, sourceErr := volumeSource(s)
		addItem(pod, "volumes", "name", name, source, s.absent)
		err = sourceErr
	}
	return err
}

// addItem adds an item to a list with keys, or what removes it.
func addItem(parent map[string]any, list, key, value string, content map[string]any, absent bool) {
	item := map[string]any{key: value}
	if absent {
		item["$patch"] = "delete"
	} else {
		maps.Copy(item, content)
	}
	items, _ := parent[list].([]any)
	parent[list] = append(items, item)
}

// tolerations returns a toleration of each of the taints, which are separated by commas.
func tolerations(s setting) any {
	if s.absent {
		return nil
	}
	var list []any
	for taint := range strings.SplitSeq(s.value, ",") {
		list = append(list, map[string]any{"key": taint, "operator": "Exists"})
	}
	return list
}

// labels returns NAME:VALUE, separated by commas.
func labels(s setting) any {
	if s.absent {
		return nil
	}
	set := map[string]any{}
	for one := range strings.SplitSeq(s.value, ",") {
		name, value, _ := strings.Cut(one, ":")
		set[name] = value
	}
	return set
}

// volumeSource returns where a volume comes from: empty, or cm:NAME.
func volumeSource(s setting) (map[string]any, error) {
	how, name, _ := strings.Cut(s.value, ":")
	switch {
	case s.absent:
		return nil, nil
	case how == "empty":
		return map[string]any{"emptyDir": map[string]any{}}, nil
	case how == "cm":
		return map[string]any{"configMap": map[string]any{"name": name}}, nil
	default:
		return nil, fmt.Errorf("no such source of a volume")
	}
}

// retainKeys adds to a strategic merge patch what kubectl adds: of a union, the members that it does not name go.
func retainKeys(content map[string]any) {
	spec, _ := content["spec"].(map[string]any)
	if strategy, found := spec["strategy"].(map[string]any); found {
		retain(strategy)
	}
	volumes, _, _ := unstructured.NestedFieldNoCopy(content, "spec", "template", "spec", "volumes")
	list, _ := volumes.([]any)
	for _, volume := range list {
		if content, ok := volume.(map[string]any); ok && content["$patch"] == nil {
			retain(content)
		}
	}
}

func retain(union map[string]any) {
	var names []any
	for _, name := range slices.Sorted(maps.Keys(union)) {
		names = append(names, name)
	}
	union["$retainKeys"] = names
}

// setContainerField sets what an Application's spec and a container have in common.
func setContainerField(container map[string]any, s setting) error {
	group, name, _ := strings.Cut(s.key, ".")
	switch group {
	case "image":
		container["image"] = nullable(s)
	case "pull":
		container["imagePullPolicy"] = nullable(s)
	case "command", "args":
		container[group] = words(s)
	case "env":
		entries, _ := container["env"].([]any)
		container["env"] = append(entries, envEntry(name, s))
	case "envfrom":
		container["envFrom"] = sources(s)
	case "cpu":
		within(within(container, "resources"), "limits")["cpu"] = nullable(s)
	case "memory":
		within(within(container, "resources"), "requests")["memory"] = nullable(s)
	case "live", "ready", "start":
		return setProbe(container, map[string]string{"live": "livenessProbe", "ready": "readinessProbe", "start": "startupProbe"}[group], name, s)
	default:
		return fmt.Errorf("no such setting")
	}
	return nil
}

// setProbe sets the handler of a probe (http:PATH:PORT, tcp:PORT, exec:COMMAND), or a number beside it.
func setProbe(container map[string]any, field, part string, s setting) error {
	if part == "" && s.absent {
		container[field] = nil
		return nil
	}
	probe := within(container, field)
	var err error
	switch part {
	case "period":
		probe["periodSeconds"], err = integer(s)
	case "failures":
		probe["failureThreshold"], err = integer(s)
	case "":
		how, what, _ := strings.Cut(s.value, ":")
		path, port, _ := strings.Cut(what, ":")
		switch how {
		case "http":
			number, portErr := strconv.ParseInt(port, 10, 64)
			probe["httpGet"], err = map[string]any{"path": path, "port": number}, portErr
		case "tcp":
			number, portErr := strconv.ParseInt(what, 10, 64)
			probe["tcpSocket"], err = map[string]any{"port": number}, portErr
		case "exec":
			probe["exec"] = map[string]any{"command": []any{what}}
		default:
			err = fmt.Errorf("no such handler")
		}
	default:
		err = fmt.Errorf("a probe has no such setting")
	}
	return err
}

// envEntry returns an environment variable: plain text, or cm:NAME/KEY, field:PATH, limit:RESOURCE.
func envEntry(name string, s setting) map[string]any {
	entry := map[string]any{"name": name}
	if s.absent {
		entry["$patch"] = "delete"
		return entry
	}
	how, what, _ := strings.Cut(s.value, ":")
	switch how {
	case "cm":
		config, key, _ := strings.Cut(what, "/")
		entry["valueFrom"] = map[string]any{"configMapKeyRef": map[string]any{"name": config, "key": key}}
	case "field":
		entry["valueFrom"] = map[string]any{"fieldRef": map[string]any{"fieldPath": what}}
	case "limit":
		entry["valueFrom"] = map[string]any{"resourceFieldRef": map[string]any{"resource": what}}
	default:
		entry["value"] = s.value
	}
	return entry
}

// sources returns envFrom: cm:NAME and secret:NAME, separated by commas.
func sources(s setting) any {
	if s.absent {
		return nil
	}
	var list []any
	for source := range strings.SplitSeq(s.value, ",") {
		how, name, _ := strings.Cut(source, ":")
		list = append(list, map[string]any{map[string]string{"cm": "configMapRef", "secret": "secretRef"}[how]: map[string]any{"name": name}})
	}
	return list
}

func addPort(parent map[string]any, key, field, number string, s setting) error {
	port, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return err
	}
	ports, _ := parent["ports"].([]any)
	entry := map[string]any{key: port, "protocol": "TCP"}
	if s.absent {
		entry["$patch"] = "delete"
	} else {
		entry[field] = s.value
		if field == "targetPort" {
			// A Service with several ports needs their names. The operator's own is called as its target.
			entry["name"] = map[bool]string{true: "app", false: "p" + number}[s.value == "app"]
		}
	}
	parent["ports"] = append(ports, entry)
	return nil
}

// setMetadata sets label.KEY or note.KEY, which is an annotation.
func setMetadata(metadata map[string]any, s setting) {
	group, name, _ := strings.Cut(s.key, ".")
	within(metadata, map[string]string{"label": "labels", "note": "annotations"}[group])[name] = nullable(s)
}

func selectorLabels(app string) map[string]any {
	return map[string]any{"app": app, ownerLabel: operatorName}
}

func within(parent map[string]any, name string) map[string]any {
	child, ok := parent[name].(map[string]any)
	if !ok {
		child = map[string]any{}
		parent[name] = child
	}
	return child
}

func integer(s setting) (any, error) {
	if s.absent {
		return nil, nil
	}
	return strconv.ParseInt(s.value, 10, 64)
}

func nullable(s setting) any {
	if s.absent {
		return nil
	}
	return s.value
}

func words(s setting) any {
	if s.absent {
		return nil
	}
	var list []any
	for _, word := range slices.Collect(strings.SplitSeq(s.value, ",")) {
		list = append(list, word)
	}
	return list
}
