package oracle

import (
	"fmt"
	"strings"
)

// program is what happens to one Application and its children, in order.
type program []step

// step is one act of one actor. Its text form is VERB ACTOR OBJECT SETTING..., as far as the verb needs these.
type step struct {
	verb     verb
	actor    string
	kind     string
	settings settings
}

type verb string

const (
	// verbRest waits until everything has settled, and judges.
	verbRest verb = "rest"

	// verbCreate makes the author create the Application with these settings, or change it to just these.
	verbCreate verb = "create"
	// verbEdit makes the author change these settings of the Application.
	verbEdit verb = "edit"
	// verbDelete deletes the Application and waits until it is gone.
	verbDelete verb = "delete"
	// verbCollect plays the garbage collector at once. A rest does so in any case.
	verbCollect verb = "collect"
	// verbScaleApp writes replicas through the Application's own scale subresource.
	verbScaleApp verb = "scale-application"
	// verbTamper makes a person write fields of the Application's status.
	verbTamper verb = "tamper"

	// verbApply makes a manager apply just these settings, unforced: what it applied before and leaves out now is released.
	verbApply verb = "apply"
	// verbForce is verbApply by force.
	verbForce verb = "force"
	// verbUpdate makes a manager send a strategic merge patch.
	verbUpdate verb = "update"
	// verbPut makes a manager read the object, change it, and put it back.
	verbPut verb = "put"
	// verbJSON makes a manager send a JSON patch, an operation for each setting.
	verbJSON verb = "json-patch"
	// verbScale writes replicas of the Deployment through its scale subresource.
	verbScale verb = "scale"
	// verbPost creates the object by POST, unless it is there.
	verbPost verb = "post"
	// verbWipe resets managedFields.
	verbWipe verb = "wipe"
	// verbDrop deletes the object.
	verbDrop verb = "drop"

	// verbRestart stops the operator gracefully and starts it. After a rest it must not cause a write.
	verbRestart verb = "restart"
	// verbKill kills the operator and starts it.
	verbKill verb = "kill"
	// verbOutage kills the API server and starts it.
	verbOutage verb = "outage"
)

// shape tells which parts the text of a verb has.
type shape struct{ actor, kind, settings bool }

var shapes = map[verb]shape{
	verbRest:     {},
	verbCreate:   {settings: true},
	verbEdit:     {settings: true},
	verbDelete:   {},
	verbCollect:  {},
	verbScaleApp: {actor: true, settings: true},
	verbTamper:   {actor: true, settings: true},
	verbApply:    {actor: true, kind: true, settings: true},
	verbForce:    {actor: true, kind: true, settings: true},
	verbUpdate:   {actor: true, kind: true, settings: true},
	verbPut:      {actor: true, kind: true, settings: true},
	verbJSON:     {actor: true, kind: true, settings: true},
	verbScale:    {actor: true, settings: true},
	verbPost:     {actor: true, kind: true, settings: true},
	verbWipe:     {kind: true},
	verbDrop:     {kind: true},
	verbRestart:  {},
	verbKill:     {},
	verbOutage:   {},
}

// The kinds of children.
const (
	deployment = "Deployment"
	service    = "Service"
)

func (s step) String() string {
	words := []string{string(s.verb)}
	if s.actor != "" {
		words = append(words, s.actor)
	}
	if s.kind != "" {
		words = append(words, s.kind)
	}
	for _, one := range s.settings {
		words = append(words, one.String())
	}
	return strings.Join(words, " ")
}

// isAct reports whether a step does something, rather than wait and judge.
func (s step) isAct() bool { return s.verb != verbRest }

func (p program) String() string {
	var text strings.Builder
	for _, s := range p {
		text.WriteString(s.String() + "\n")
	}
	return text.String()
}

// parseProgram reads what String writes. Empty lines and lines that begin with # are skipped.
func parseProgram(text string) (program, error) {
	var p program
	for n, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		s, err := parseStep(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		p = append(p, s)
	}
	return p, nil
}

func parseStep(words []string) (step, error) {
	s := step{verb: verb(words[0])}
	shape, ok := shapes[s.verb]
	if !ok {
		return s, fmt.Errorf("no verb %q", words[0])
	}
	words = words[1:]
	for _, part := range []struct {
		name   string
		wanted bool
		to     *string
	}{{"an actor", shape.actor, &s.actor}, {"a kind", shape.kind, &s.kind}} {
		if !part.wanted {
			continue
		}
		if len(words) == 0 {
			return s, fmt.Errorf("%s needs %s", s.verb, part.name)
		}
		*part.to, words = words[0], words[1:]
	}
	if shape.kind && s.kind != deployment && s.kind != service && (s.verb != verbWipe || s.kind != appKind) {
		return s, fmt.Errorf("no kind %q", s.kind)
	}
	if !shape.settings && len(words) > 0 {
		return s, fmt.Errorf("%s takes no settings", s.verb)
	}
	for _, word := range words {
		one, err := parseSetting(word)
		if err != nil {
			return s, err
		}
		s.settings = append(s.settings, one)
	}
	if (s.verb == verbScale || s.verb == verbScaleApp) && (len(s.settings) != 1 || s.settings[0].key != "replicas" || s.settings[0].absent) {
		return s, fmt.Errorf("%s takes replicas=NUMBER", s.verb)
	}
	return s, nil
}
