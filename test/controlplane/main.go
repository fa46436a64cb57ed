// Command controlplane is a whole Kubernetes control plane in one binary: it
// becomes the component whose name it is called by. Symbolic links named after
// the components make its folder a valid KUBEBUILDER_ASSETS.
//
// The components are the unchanged upstream ones; they are linked together only
// because one link is several times faster than one for each of them.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// components maps the name of a link to what runs under it. None of the
// functions returns before its component has ended.
var components = map[string]func(){
	"etcd":                    runEtcd,
	"kube-apiserver":          runAPIServer,
	"kube-controller-manager": runControllerManager,
	"kube-scheduler":          runScheduler,
	"kubectl":                 runKubectl,
	"kwok":                    runKwok,
	"kwok-stages":             printStages,
}

func main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")

	if name == "controlplane" && slices.Equal(os.Args[1:], []string{"--names"}) {
		for _, n := range names() {
			fmt.Println(n)
		}
		return
	}

	run, ok := components[name]
	if !ok {
		usage(os.Stderr, name)
		os.Exit(2)
	}
	run()
}

func usage(w io.Writer, name string) {
	fmt.Fprintf(w, `%q is not the name of a control plane component.

This binary runs the component that it is called by, so call it through a link
that has one of these names:
  %s
"controlplane --names" prints them one a line.
`, name, strings.Join(names(), "\n  "))
}

func names() []string {
	all := make([]string, 0, len(components))
	for name := range components {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
