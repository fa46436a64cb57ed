package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator makes programs. The same seed makes the same program.
type generator struct {
	*rand.Rand
	// exists and spec are what the Application would be if every step succeeded: most steps make sense then.
	exists bool
	spec   settings
	// applied is what each manager applied last.
	applied map[string]settings
}

// generate returns a program with so many acts, and a rest every few of them.
func generate(seed uint64, acts int) program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), applied: map[string]settings{}}
	var p program
	for range acts {
		p = append(p, g.act())
		if g.IntN(5) < 2 {
			p = append(p, step{verb: verbRest})
			if g.IntN(60) == 0 {
				p = append(p, step{verb: verbRestart})
			}
		}
	}
	if p[len(p)-1].isAct() {
		p = append(p, step{verb: verbRest})
	}
	return p
}

// choice is one kind of act and how often it comes.
type choice struct {
	weight int
	make   func(*generator) step
}

// before are the acts while there is no Application, during those while there is one.
var (
	before = []choice{
		{70, (*generator).create},
		{8, (*generator).post},
		{8, (*generator).apply},
		{6, (*generator).consent},
		{25, func(*generator) step { return step{verb: verbCollect} }},
		{4, (*generator).drop},
		{4, (*generator).disown},
	}
	during = []choice{
		{300, (*generator).edit},
		{60, (*generator).delete},
		{20, (*generator).scaleApplication},
		{15, (*generator).tamper},
		{200, (*generator).apply},
		{60, (*generator).release},
		{100, (*generator).update},
		{50, (*generator).patchJSON},
		{30, (*generator).put},
		{60, (*generator).scale},
		{8, (*generator).legacy},
		{35, (*generator).label},
		{20, (*generator).wipe},
		{30, (*generator).drop},
		{8, (*generator).disown},
		{8, (*generator).consent},
		{4, func(*generator) step { return step{verb: verbRestart} }},
		{6, func(*generator) step { return step{verb: verbKill} }},
		{1, func(*generator) step { return step{verb: verbOutage} }},
	}
)

func (g *generator) act() step {
	choices := during
	if !g.exists {
		choices = before
	}
	total := 0
	for _, c := range choices {
		total += c.weight
	}
	n := g.IntN(total)
	for _, c := range choices {
		if n -= c.weight; n < 0 {
			return c.make(g)
		}
	}
	panic("weights do not add up")
}

func (g *generator) create() step {
	g.exists = true
	g.spec = settings{{key: "image", value: g.value("image")}}.with(g.some(specKeys, 2+g.IntN(6), 0)...)
	g.makePossible()
	g.spec = g.spec.with(g.contradictions()...)
	return step{verb: verbCreate, settings: g.spec}
}

// delete is most often followed by a create, at once: the next Application of the name meets the children of the last.
func (g *generator) delete() step {
	g.exists = false
	return step{verb: verbDelete}
}

func (g *generator) edit() step {
	changes := g.some(specKeys, 1+g.IntN(3), 35)
	g.spec = g.spec.with(changes...)
	if _, found := g.spec.get("port"); !found {
		if _, found := g.spec.get("expose"); found {
			changes = append(changes, setting{key: "expose", absent: true})
			g.spec = g.spec.with(changes...)
		}
	}
	for _, one := range g.contradictions() {
		changes = keepLast(changes, one)
	}
	g.spec = g.spec.with(changes...)
	return step{verb: verbEdit, settings: changes}
}

// makePossible gives an exposed Application a port.
func (g *generator) makePossible() {
	if _, exposed := g.spec.get("expose"); exposed {
		g.spec = g.spec.with(setting{key: "port", value: g.value("port")})
	}
}

// contradictions returns what takes away most of what makes the spec as a whole invalid: nothing is applied then, so nothing
// can be learnt.
func (g *generator) contradictions() settings {
	var out settings
	_, exposed := g.spec.get("expose")
	_, volume := g.spec.get("deployment.volume.data")
	for _, one := range g.spec {
		kind := partialOf(one.key)
		if kind == "" || g.IntN(8) == 0 {
			continue
		}
		key := strings.TrimPrefix(one.key, partialFields[kind]+".")
		_, twice := g.spec.get(key)
		number, _ := g.spec.get("port")
		switch {
		case kind == service && !exposed, twice, key == "port."+number, key == "mount./data" && !volume,
			slices.Contains(reservedKeys, key):
			out = append(out, setting{key: one.key, absent: true})
		}
	}
	return out
}

func (g *generator) scaleApplication() step {
	return step{verb: verbScaleApp, actor: g.pick("kubectl", autoscaler), settings: settings{{key: "replicas", value: g.value("replicas")}}}
}

func (g *generator) tamper() step {
	one := setting{key: g.pick("message", "selector"), value: tamperedText}
	if g.IntN(2) == 0 {
		one = setting{key: one.key, absent: true}
	}
	return step{verb: verbTamper, actor: person, settings: settings{one}}
}

func (g *generator) apply() step {
	manager, kind := g.pick(gitops, helm), g.kind()
	key := manager + kind
	wanted := settings{}.with(g.some(childKeys[kind], 1+g.IntN(3), 0)...)
	if g.IntN(3) == 0 {
		wanted = g.applied[key].with(wanted...)
	}
	if g.IntN(4) == 0 {
		wanted = g.echo(kind, wanted)
	}
	g.applied[key] = wanted
	verb := verbApply
	if g.IntN(2) == 0 {
		verb = verbForce
	}
	return step{verb: verb, actor: manager, kind: kind, settings: wanted}
}

// echo gives the fields the values that the spec wants, as far as it wants them: ownership is then shared.
func (g *generator) echo(kind string, s settings) settings {
	for _, one := range s {
		wanted, found := g.spec.get(partialFields[kind] + "." + one.key)
		if !found && kind == deployment {
			wanted, found = g.spec.get(one.key)
		}
		if found {
			s = s.with(setting{key: one.key, value: wanted})
		}
	}
	return s
}

// release applies a part of what was applied before.
func (g *generator) release() step {
	manager, kind := g.pick(gitops, helm), g.kind()
	key := manager + kind
	var rest settings
	for _, one := range g.applied[key] {
		if g.IntN(3) == 0 {
			rest = rest.with(one)
		}
	}
	g.applied[key] = rest
	return step{verb: verbApply, actor: manager, kind: kind, settings: rest}
}

func (g *generator) update() step {
	kind := g.kind()
	return step{verb: verbUpdate, actor: person, kind: kind, settings: g.some(childKeys[kind], 1+g.IntN(2), 20)}
}

func (g *generator) patchJSON() step {
	kind := g.kind()
	return step{verb: verbJSON, actor: person, kind: kind, settings: g.some(patchKeys[kind], 1+g.IntN(2), 40)}
}

func (g *generator) put() step {
	kind := g.kind()
	return step{verb: verbPut, actor: person, kind: kind, settings: g.some(patchKeys[kind], 1+g.IntN(2), 0)}
}

func (g *generator) scale() step {
	return step{verb: verbScale, actor: g.pick("kubectl", autoscaler), settings: settings{{key: "replicas", value: g.value("replicas")}}}
}

// label sets or removes a label, the operator's own among them: without it the operator's caches do not hold the child.
func (g *generator) label() step {
	one := setting{key: "label." + g.pick(ownerLabel, "app", "app.kubernetes.io/managed-by", "team")}
	one.absent = g.IntN(2) == 0
	if !one.absent {
		one.value = g.pick(operatorName, "web", "shop")
	}
	return step{verb: verbUpdate, actor: person, kind: g.kind(), settings: settings{one}}
}

// legacy writes under the operator's own name.
func (g *generator) legacy() step {
	kind := g.kind()
	return step{verb: verbUpdate, actor: operatorName, kind: kind, settings: g.some(childKeys[kind], 1, 0)}
}

func (g *generator) wipe() step {
	if g.IntN(4) == 0 {
		return step{verb: verbWipe, kind: appKind}
	}
	return step{verb: verbWipe, kind: g.kind()}
}

func (g *generator) drop() step { return step{verb: verbDrop, kind: g.kind()} }

// disown removes the owner references of a child.
func (g *generator) disown() step {
	return step{verb: verbJSON, actor: person, kind: g.kind(), settings: settings{{key: "ownerref", absent: true}}}
}

func (g *generator) consent() step {
	one := setting{key: "note." + adoptAnnotation, value: appName}
	if g.IntN(4) == 0 {
		one = setting{key: one.key, absent: true}
	}
	return step{verb: verbUpdate, actor: person, kind: g.kind(), settings: settings{one}}
}

// post creates a child before any Application does.
func (g *generator) post() step {
	kind := g.kind()
	s := settings{{key: "selector", value: g.pick(appName, appName, "other")}}
	if kind == service {
		s = s.with(setting{key: "port.8080", value: "app"})
	} else {
		s = s.with(setting{key: "image", value: g.value("image")})
	}
	if g.IntN(2) == 0 {
		s = s.with(setting{key: "note." + adoptAnnotation, value: appName})
	}
	return step{verb: verbPost, actor: g.pick(person, operatorName), kind: kind, settings: s.with(g.some(childKeys[kind], g.IntN(3), 0)...)}
}

func (g *generator) kind() string {
	if g.IntN(10) < 7 {
		return deployment
	}
	return service
}

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

// some returns so many settings of those keys, each once, some of them taken away.
func (g *generator) some(keys []string, count, absentPercent int) settings {
	var s settings
	for range count {
		key := keys[g.IntN(len(keys))]
		one := setting{key: key, value: g.value(key)}
		if g.IntN(100) < absentPercent && key != "image" {
			one = setting{key: key, absent: true}
		}
		s = keepLast(s, one)
	}
	return s
}

// keepLast adds a setting in place of the one of its key.
func keepLast(s settings, one setting) settings {
	for i := range s {
		if s[i].key == one.key {
			s[i] = one
			return s
		}
	}
	return append(s, one)
}

func (g *generator) value(key string) string {
	if kind := partialOf(key); kind != "" {
		key = strings.TrimPrefix(key, partialFields[kind]+".")
	}
	values, found := valuesOf[key]
	if !found {
		panic(fmt.Sprintf("no values of %q", key))
	}
	return g.pick(values...)
}
