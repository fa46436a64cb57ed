package oracle

// The fields that programs speak of, those more often that are worth more trouble. Several actors use the same few
// values, so that they agree as often as not.
var (
	specKeys = []string{
		"image", "image", "pull", "command", "args",
		"env.A", "env.A", "env.B", "env.C", "envfrom",
		"cpu", "memory", "live", "live.period", "ready", "start",
		"replicas", "replicas", "replicas", "port", "expose", "expose",
		"policy", "policy", "policy", "paused", "deletion",
		"deployment.note.team", "deployment.label.team", "deployment.podnote.team", "deployment.minready", "deployment.replicas",
		"deployment.strategy", "deployment.strategy", "deployment.surge", "deployment.grace", "deployment.account",
		"deployment.sidecar", "deployment.toleration", "deployment.node", "deployment.volume.data", "deployment.volume.data",
		"deployment.mount./data", "deployment.env.D", "deployment.port.9090", "deployment.live.failures",
		"service.note.team", "service.affinity", "service.port.7070",
		"deployment.cpu", "deployment.label.owner", "service.selector",
	}
	childKeys = map[string][]string{
		deployment: {
			"image", "image", "image", "pull", "command", "env.A", "env.A", "env.B", "env.D", "cpu", "memory",
			"live.period", "live.failures", "live", "replicas", "replicas", "minready",
			"label.owner", "label.app", "label.team", "note.team", "podlabel.team", "port.8080", "port.9090",
			"podnote.team", "strategy", "strategy", "surge", "grace", "account", "sidecar", "toleration", "node",
			"volume.data", "mount./data",
		},
		service: {"type", "affinity", "label.owner", "label.team", "note.team", "port.8080", "port.8080", "port.7070", "selector"},
	}
	patchKeys = map[string][]string{
		deployment: {"image", "image", "pull", "env.A", "env.B", "cpu", "live.period", "replicas", "minready", "label.owner", "label.team", "note.team", "port.8080",
			"podnote.team", "strategy", "surge", "grace", "account", "sidecar"},
		service: {"type", "affinity", "label.owner", "label.team", "note.team", "port.8080"},
	}
	valuesOf = map[string][]string{
		"image":         {"registry.test/a:1", "registry.test/a:2", "registry.test/b:1"},
		"pull":          {"Always", "IfNotPresent"},
		"command":       {"run", "run,fast"},
		"args":          {"-v", "-v,-q"},
		"env.A":         {"1", "2", "cm:conf/key", "field:metadata.name", "limit:limits.cpu", ""},
		"env.B":         {"1", "2"},
		"env.C":         {"1", "cm:conf/key", "cm:other/key"},
		"env.D":         {"1", "2"},
		"envfrom":       {"cm:conf", "cm:conf,secret:keys"},
		"cpu":           {"500m", "1000m", "1"},
		"memory":        {"64Mi", "65536Ki", "128Mi"},
		"live":          {"http:/healthz:8080", "http:/live:8080", "tcp:8080", "exec:true"},
		"ready":         {"http:/ready:8080", "tcp:8080"},
		"start":         {"tcp:8080", "exec:true"},
		"live.period":   {"5", "7"},
		"live.failures": {"4", "6"},
		"replicas":      {"0", "2", "3", "5"},
		"port":          {"8080", "8080", "9090"},
		"expose":        {"ClusterIP", "NodePort", "LoadBalancer"},
		"policy":        {"Yield", "Yield", "Abort"},
		"paused":        {"true", "false"},
		"deletion":      {"Orphan", "Delete"},
		"minready":      {"1", "2"},
		"label.owner":   {operatorName, "somebody"},
		"label.app":     {appName, "somebody"},
		"label.team":    {"red", "blue"},
		"note.team":     {"red", "blue"},
		"podlabel.team": {"red", "blue"},
		"port.8080":     {"app", "http"},
		"port.9090":     {"app", "admin"},
		"port.7070":     {"metrics", "7070"},
		"podnote.team":  {"red", "blue"},
		"strategy":      {"Recreate", "RollingUpdate"},
		"surge":         {"1", "2"},
		"grace":         {"0", "10"},
		"account":       {"robot", "human"},
		"sidecar":       {"registry.test/a:1", "registry.test/b:1"},
		"toleration":    {"gpu", "gpu,spot"},
		"node":          {"disk:ssd", "disk:ssd,zone:a"},
		"volume.data":   {"empty", "cm:conf", "cm:other"},
		"mount./data":   {"data"},
		"type":          {"ClusterIP", "NodePort", "LoadBalancer"},
		"affinity":      {"None", "ClientIP"},
		"selector":      {appName, "other"},
	}
)

// reservedKeys are the settings of partial children that the operator must keep as they are.
var reservedKeys = []string{"label.owner", "selector"}
