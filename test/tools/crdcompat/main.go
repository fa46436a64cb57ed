// Command crdcompat compares a CustomResourceDefinition with that of the last release, and fails if something that users
// may rely on has changed.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: crdcompat RELEASES CRD ACCEPTED\n"+
			"RELEASES is a folder with an install.yaml in a folder for each release, ACCEPTED a file with the changes, one a line,\n"+
			"that are meant.")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "crdcompat:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, releases, current, accepted string) error {
	last, err := lastRelease(releases)
	if err != nil {
		return err
	}
	was, err := readCRD(filepath.Join(releases, last, "install.yaml"))
	if err != nil {
		return err
	}
	is, err := readCRD(current)
	if err != nil {
		return err
	}
	meant, err := readAccepted(accepted)
	if err != nil {
		return err
	}
	broken := compare(was, is)
	var unmeant []string
	for _, change := range broken {
		if !slices.Contains(meant, change) {
			unmeant = append(unmeant, change)
		}
	}
	if len(unmeant) > 0 {
		return fmt.Errorf("compared with %s, objects or clients break:\n%s\nIf a change is meant, put its line into %s and say why",
			last, strings.Join(unmeant, "\n"), accepted)
	}
	for _, line := range meant {
		if !slices.Contains(broken, line) {
			return fmt.Errorf("%s accepts what is no change since %s; remove it: %s", accepted, last, line)
		}
	}
	fmt.Fprintf(out, "crdcompat: compatible with %s\n", last)
	return nil
}

// compare returns what breaks between the CRDs of two releases, in a stable order.
func compare(was, is *apiextensionsv1.CustomResourceDefinition) []string {
	s := &schemas{}
	for _, name := range []struct{ what, was, is string }{
		{"group", was.Spec.Group, is.Spec.Group},
		{"kind", was.Spec.Names.Kind, is.Spec.Names.Kind},
		{"plural", was.Spec.Names.Plural, is.Spec.Names.Plural},
		{"scope", string(was.Spec.Scope), string(is.Spec.Scope)},
	} {
		if name.was != name.is {
			s.add(name.what, "was %s and is %s", name.was, name.is)
		}
	}
	for _, short := range was.Spec.Names.ShortNames {
		if !slices.Contains(is.Spec.Names.ShortNames, short) {
			s.add("shortNames", "%s was removed", short)
		}
	}
	for i := range was.Spec.Versions {
		before := &was.Spec.Versions[i]
		n := slices.IndexFunc(is.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == before.Name })
		if n < 0 {
			s.add(before.Name, "was removed; whoever wrote at it cannot apply any more")
			continue
		}
		compareVersion(s, before, &is.Spec.Versions[n])
	}
	return s.broken
}

func compareVersion(s *schemas, was, is *apiextensionsv1.CustomResourceDefinitionVersion) {
	if was.Served && !is.Served {
		s.add(was.Name, "is no longer served")
	}
	before, after := subresources(was), subresources(is)
	for _, name := range sortedKeys(before) {
		if before[name] != after[name] {
			s.add(was.Name, "the subresource %s was %q and is %q", name, before[name], after[name])
		}
	}
	for _, field := range was.SelectableFields {
		if !slices.Contains(is.SelectableFields, field) {
			s.add(was.Name, "the field selector %s was removed", field.JSONPath)
		}
	}
	s.compare(was.Name, was.Schema.OpenAPIV3Schema, is.Schema.OpenAPIV3Schema)
}

// subresources describes those of a version, by name.
func subresources(v *apiextensionsv1.CustomResourceDefinitionVersion) map[string]string {
	found := map[string]string{}
	if v.Subresources == nil {
		return found
	}
	if v.Subresources.Status != nil {
		found["status"] = "there"
	}
	if scale := v.Subresources.Scale; scale != nil {
		found["scale"] = strings.Join([]string{scale.SpecReplicasPath, scale.StatusReplicasPath, deref(scale.LabelSelectorPath, "")}, " ")
	}
	return found
}

// lastRelease returns the newest of the releases in a folder.
func lastRelease(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var last string
	var newest *version.Version
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		v, err := version.ParseSemantic(entry.Name())
		if err != nil {
			return "", fmt.Errorf("%s: %w", filepath.Join(folder, entry.Name()), err)
		}
		if newest == nil || newest.LessThan(v) {
			last, newest = entry.Name(), v
		}
	}
	if newest == nil {
		return "", fmt.Errorf("%s holds no release", folder)
	}
	return last, nil
}

// readCRD returns the one CustomResourceDefinition among the objects of a file.
func readCRD(path string) (*apiextensionsv1.CustomResourceDefinition, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var found *apiextensionsv1.CustomResourceDefinition
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		object := map[string]any{}
		err := decoder.Decode(&object)
		switch {
		case errors.Is(err, io.EOF) && found == nil:
			return nil, fmt.Errorf("%s holds no CustomResourceDefinition", path)
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		case object["kind"] != "CustomResourceDefinition":
			continue
		case found != nil:
			return nil, fmt.Errorf("%s holds more than one CustomResourceDefinition", path)
		}
		found = &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, found, true); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
}

// readAccepted returns the lines of a file that are neither empty nor comments.
func readAccepted(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []string
	for scanner := bufio.NewScanner(bytes.NewReader(content)); scanner.Scan(); {
		if line := strings.TrimSpace(scanner.Text()); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, nil
}
