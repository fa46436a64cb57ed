package shell

import (
	"regexp"
	"strings"
)

// plain matches what a shell takes as it is.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// Quote returns a word that a shell reads as s.
func Quote(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Target is what commands are about: which cluster, and which namespace of it.
type Target struct {
	// Context and Kubeconfig are named in commands only if the user named them.
	Context, Kubeconfig string
	Namespace           string
}

// Kubectl returns a command line of kubectl. Of a flag with a value only the value is quoted.
func (t Target) Kubectl(args ...string) string {
	words := append([]string{"kubectl"}, args...)
	for _, flag := range []struct{ name, value string }{
		{"--namespace", t.Namespace}, {"--context", t.Context}, {"--kubeconfig", t.Kubeconfig},
	} {
		if flag.value != "" {
			words = append(words, flag.name+"="+flag.value)
		}
	}
	for i, word := range words {
		if name, value, isFlag := strings.Cut(word, "="); isFlag && strings.HasPrefix(word, "--") && plain.MatchString(name) {
			words[i] = name + "=" + Quote(value)
			continue
		}
		words[i] = Quote(word)
	}
	return strings.Join(words, " ")
}
