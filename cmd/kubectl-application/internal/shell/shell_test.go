package shell

import (
	"os/exec"
	"strings"
	"testing"
)

func TestKubectl(t *testing.T) {
	for want, got := range map[string]string{
		"kubectl get pods":                             Target{}.Kubectl("get", "pods"),
		"kubectl get pods --namespace=shop":            Target{Namespace: "shop"}.Kubectl("get", "pods"),
		`kubectl x --field='.a[b="c d"].e'`:            Target{}.Kubectl("x", `--field=.a[b="c d"].e`),
		`kubectl x --patch='{"a":"it'\''s"}'`:          Target{}.Kubectl("x", `--patch={"a":"it's"}`),
		`kubectl x '--odd flag=y'`:                     Target{}.Kubectl("x", "--odd flag=y"),
		`kubectl x --a='' ''`:                          Target{}.Kubectl("x", "--a=", ""),
		"kubectl x --context=a/b --kubeconfig='~/c d'": Target{Context: "a/b", Kubeconfig: "~/c d"}.Kubectl("x"),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// FuzzQuote lets a shell read what was quoted.
func FuzzQuote(f *testing.F) {
	for _, word := range []string{"", "plain", "it's", `"$HOME"`, "a b", "`id`", "a\nb", "*", "~", "#x", "a;b|c&d", `\`, "--x=1", "é", "!"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsRune(word, 0) {
			return // no argument can hold it
		}
		output, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s' "+Quote(word)).Output()
		if err != nil || string(output) != word {
			t.Errorf("%q came as %q, %v", word, output, err)
		}
	})
}
