package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// krewManifest is what krew reads of a plugin.
type krewManifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string `json:"version"`
		Homepage         string `json:"homepage"`
		ShortDescription string `json:"shortDescription"`
		Description      string `json:"description"`
		Caveats          string `json:"caveats"`
		Platforms        []struct {
			Selector struct {
				MatchLabels struct {
					OS   string `json:"os"`
					Arch string `json:"arch"`
				} `json:"matchLabels"`
			} `json:"selector"`
			URI    string `json:"uri"`
			SHA256 string `json:"sha256"`
			Bin    string `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

// The manifest is one that krew takes, once package.sh has filled it in.
func TestKrewManifest(t *testing.T) {
	path := filepath.Join("..", "..", "deploy", "krew", "application.yaml")
	encoded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest krewManifest
	if err := yaml.UnmarshalStrict(encoded, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || manifest.Kind != "Plugin" {
		t.Errorf("it is a %s of %s", manifest.Kind, manifest.APIVersion)
	}
	// kubectl makes a command's name of the plugin's, and krew that of the file.
	if name := manifest.Metadata.Name; name != "application" || name+".yaml" != filepath.Base(path) {
		t.Errorf("%s is about the plugin %q", path, name)
	}
	spec := manifest.Spec
	if spec.Version != "<version>" || spec.Homepage != "<homepage>" {
		t.Errorf("package.sh finds nothing to fill in at version %q, homepage %q", spec.Version, spec.Homepage)
	}
	if len(spec.ShortDescription) == 0 || len(spec.ShortDescription) > 60 || spec.Description == "" {
		t.Errorf("descriptions: %q, %q", spec.ShortDescription, spec.Description)
	}
	if !strings.Contains(spec.Caveats, completer) {
		t.Errorf("caveats do not tell how to get completion: %q", spec.Caveats)
	}
	seen := map[string]bool{}
	for _, p := range spec.Platforms {
		labels := p.Selector.MatchLabels
		platform := labels.OS + "_" + labels.Arch
		if labels.OS == "" || labels.Arch == "" || seen[platform] {
			t.Errorf("platform %q is not one, or there twice", platform)
		}
		seen[platform] = true
		bin := "kubectl-application"
		if labels.OS == "windows" {
			bin += ".exe"
		}
		want := fmt.Sprint("<url>/kubectl-application_"+platform+".tar.gz", "<sha256_"+platform+">", bin)
		if got := fmt.Sprint(p.URI, p.SHA256, p.Bin); got != want {
			t.Errorf("platform %s: %s, not %s", platform, got, want)
		}
	}
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64"} {
		if !seen[platform] {
			t.Errorf("there is nothing for %s", platform)
		}
	}
}
