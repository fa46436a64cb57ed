package ownership_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomHistory is a creation and some more writes, all of which succeed. We are among the writers, by apply and update.
func randomHistory(random *rand.Rand) []step {
	manager := func() string { return pick(random, us, "gitops", "kubectl", "mesh") }
	history := []step{forceApply(manager(), randomConfig(random))}
	if random.IntN(2) == 0 {
		history = []step{create(manager(), randomConfig(random))}
	}
	for range 1 + random.IntN(6) {
		switch random.IntN(5) {
		case 0:
			history = append(history, scale(manager(), random.Int32N(3)))
		case 1, 2:
			history = append(history, patch(manager(), randomConfig(random)))
		default:
			history = append(history, forceApply(manager(), randomConfig(random)))
		}
	}
	return history
}

// randomConfig is a whole Deployment with few values for each field, so that managers often agree. Some of the values
// are not stored as they are written, and some are not stored at all.
func randomConfig(random *rand.Rand) string {
	some := func(fields ...string) string {
		var chosen []string
		for _, field := range fields {
			if field != "" && random.IntN(2) == 0 {
				chosen = append(chosen, field)
			}
		}
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		return strings.Join(chosen, ", ")
	}
	env := some("{name: A.B, value: "+pick(random, "''", "x", "z")+"}", "{name: C, value: "+pick(random, "x", "z")+"}", "{name: D}")
	limits := some("cpu: "+pick(random, "1", "1000m", "2"), "memory: "+pick(random, "1Gi", "1024Mi"))
	ports := some("{containerPort: 53, name: "+pick(random, "a", "b")+"}", "{containerPort: 80, protocol: UDP}")
	probe := some("initialDelaySeconds: "+pick(random, "0", "5"), "periodSeconds: "+pick(random, "10", "20"))
	container := "image: " + pick(random, "web:1", "web:2") + ", livenessProbe: {tcpSocket: {port: " + pick(random, "80", "web") + "}, " + probe + "}"
	if more := some("args: ["+pick(random, "a", "a, b")+"]", list("env", env), list("ports", ports), mapping("resources", mapping("limits", limits))); more != "" {
		container += ", " + more
	}
	return deployment{
		metadata:  some(mapping("annotations", some("example.com/a.b: "+pick(random, "x", "z"), "c: x"))),
		spec:      ending(some("replicas: "+pick(random, "0", "1", "2"), "paused: "+pick(random, "true", "false"), "minReadySeconds: "+pick(random, "0", "5"))),
		pod:       ending(some("tolerations: [{key: "+pick(random, "a", "b")+", operator: Exists}]", "terminationGracePeriodSeconds: "+pick(random, "0", "30"))),
		container: container,
	}.yaml()
}

func pick[T any](random *rand.Rand, choices ...T) T { return choices[random.IntN(len(choices))] }

func list(name, items string) string { return enclose(name, "[", items, "]") }

func mapping(name, fields string) string { return enclose(name, "{", fields, "}") }

func enclose(name, opening, content, closing string) string {
	if content == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s%s%s", name, opening, content, closing)
}

func ending(fields string) string {
	if fields == "" {
		return ""
	}
	return fields + ","
}
