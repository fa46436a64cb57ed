// Command crdpartial adds schemas of partial objects to a CustomResourceDefinition, in place. The fields of the spec that
// hold such objects have a Go type without any structure, of which controller-gen knows nothing but that it is an object.
// What is added tells the API server which lists in it have keys, so that it merges them entry by entry.
//
// Usage: crdpartial CRD.yaml SCHEMAS.yaml
//
// SCHEMAS.yaml maps the name of a field of the spec to its schema. The descriptions of the fields stay.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: crdpartial CRD.yaml SCHEMAS.yaml")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "crdpartial:", err)
		os.Exit(1)
	}
}

func run(crdFile, schemasFile string) error {
	crd, schemas := map[string]any{}, map[string]any{}
	for file, into := range map[string]*map[string]any{crdFile: &crd, schemasFile: &schemas} {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := yaml.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
	}
	for field, schema := range schemas {
		if err := add(crd, field, schema); err != nil {
			return fmt.Errorf("adding the schema of spec.%s to %s: %w", field, crdFile, err)
		}
	}
	encoded, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	// As controller-gen writes it.
	return os.WriteFile(crdFile, bytes.Join([][]byte{[]byte("---\n"), encoded}, nil), 0o600)
}

// add puts the schema into each version of the definition.
func add(crd map[string]any, field string, schema any) error {
	addition, ok := schema.(map[string]any)
	if !ok {
		return errors.New("the schema is no object")
	}
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	if len(versions) == 0 {
		return errors.New("there are no versions")
	}
	for _, version := range versions {
		existing := version
		for _, name := range []string{"schema", "openAPIV3Schema", "properties", "spec", "properties", field} {
			parent, _ := existing.(map[string]any)
			existing = parent[name]
		}
		properties, ok := existing.(map[string]any)
		if !ok {
			return errors.New("there is no such field")
		}
		maps.Copy(properties, addition)
	}
	return nil
}
