package oracle

import (
	"strings"
)

const (
	mainContainer = `.spec.template.spec.containers[name="app"]`
	volumeList    = ".spec.template.spec.volumes["
	strategyType  = ".spec.strategy.type"
	rollingUpdate = ".spec.strategy.rollingUpdate"
)

var volumeSources = []string{"configMap", "emptyDir"}

// valid tells whether the API server takes a child: what validation says about the combinations that programs can come
// to when two managers each have a part of one thing.
func valid(kind string, child fields) bool {
	if kind == service {
		return validPorts(child, ".spec.ports[", ".name") && validTargets(child)
	}
	for _, probe := range []string{".livenessProbe", ".readinessProbe", ".startupProbe"} {
		if !validProbe(child, mainContainer+probe) {
			return false
		}
	}
	return validEnv(child) && validPorts(child, mainContainer+".ports[", ".name") && validStrategy(child) && validVolumes(child) && hasImages(child)
}

// validTargets: the name of a port has a letter.
func validTargets(child fields) bool {
	for _, port := range child.items(".spec.ports[") {
		if target, named := child[port+".targetPort"].(string); named && !strings.ContainsAny(target, "abcdefghijklmnopqrstuvwxyz") {
			return false
		}
	}
	return true
}

// validStrategy: only rolling updates have parameters.
func validStrategy(child fields) bool {
	return child[strategyType] != "Recreate" || !child.has(rollingUpdate)
}

// validVolumes: a volume has one source, and what is mounted is a volume.
func validVolumes(child fields) bool {
	names := map[any]bool{}
	for _, volume := range child.items(volumeList) {
		sources := 0
		for _, source := range volumeSources {
			if child.has(volume + "." + source) {
				sources++
			}
		}
		if sources > 1 {
			return false
		}
		names[child[volume+".name"]] = true
	}
	for _, mount := range child.items(mainContainer + ".volumeMounts[") {
		if !names[child[mount+".name"]] {
			return false
		}
	}
	return true
}

// hasImages: each container has one.
func hasImages(child fields) bool {
	for _, container := range child.items(".spec.template.spec.containers[") {
		if _, found := child[container+".image"]; !found {
			return false
		}
	}
	return true
}

// validProbe: a probe has one handler, and a handler by network has a port.
func validProbe(child fields, probe string) bool {
	handlers := map[string]bool{}
	exists := false
	for path := range child {
		rest, inside := strings.CutPrefix(path, probe)
		if !inside {
			continue
		}
		exists = true
		handler, _, _ := strings.Cut(strings.TrimPrefix(rest, "."), ".")
		switch handler {
		case "httpGet", "tcpSocket":
			if _, found := child[probe+"."+handler+".port"]; !found {
				return false
			}
			handlers[handler] = true
		case "exec":
			handlers[handler] = true
		}
	}
	return !exists || len(handlers) == 1
}

// validEnv: a variable has one source.
func validEnv(child fields) bool {
	sources := map[string]int{}
	for path, value := range child {
		rest, inside := strings.CutPrefix(path, mainContainer+".env[")
		if !inside {
			continue
		}
		name, field, _ := strings.Cut(rest, "]")
		if (field == ".value" && value != "") || strings.HasPrefix(field, ".valueFrom.") {
			sources[name]++
		}
	}
	for _, count := range sources {
		if count > 1 {
			return false
		}
	}
	return true
}

// validPorts: names are there if there are several ports, and each is used once.
func validPorts(child fields, list, field string) bool {
	items, names := 0, map[any]int{}
	for path, value := range child {
		rest, inside := strings.CutPrefix(path, list)
		if !inside {
			continue
		}
		switch _, below, _ := strings.Cut(rest, "]"); below {
		case "":
			items++
		case field:
			names[value]++
		}
	}
	named := 0
	for _, count := range names {
		if count > 1 {
			return false
		}
		named += count
	}
	return items < 2 || named == items || !strings.HasPrefix(list, ".spec.ports")
}
