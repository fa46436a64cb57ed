// Command crdschema writes the OpenAPI schema of a CustomResourceDefinition in the form that applyconfiguration-gen
// reads. It derives the schema from the CRD with the API server's own code, so that the Extract functions see a
// resource just as the server does, map keys and atomic lists included.
//
// Usage: crdschema CRD.yaml GO-PACKAGE > schema.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: crdschema CRD.yaml GO-PACKAGE > schema.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "crdschema:", err)
		os.Exit(1)
	}
}

func run(file, goPackage string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		return fmt.Errorf("%s is no CustomResourceDefinition: %w", file, err)
	}
	version := goPackage[strings.LastIndex(goPackage, "/")+1:]
	// Not as published in OpenAPI v2, where for kubectl's sake nothing is told below x-kubernetes-preserve-unknown-fields,
	// but as the API server merges: list keys count there, too.
	swagger, err := builder.BuildOpenAPIV2(crd, version, builder.Options{StripValueValidation: true, StripNullable: true})
	if err != nil {
		return fmt.Errorf("building the schema of %s: %w", crd.Name, err)
	}

	served := servedName(crd, version)
	root, found := swagger.Definitions[served]
	if !found {
		return fmt.Errorf("%s serves no %s: there is no definition %s", crd.Name, version, served)
	}
	// applyconfiguration-gen looks a type up by its Go package.
	swagger.Definitions[util.ToRESTFriendlyName(goPackage+"."+crd.Spec.Names.Kind)] = root
	encoded, err := json.Marshal(&spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: crd.Name, Version: version}},
		Paths:       &spec.Paths{},
		Definitions: swagger.Definitions,
	}})
	if err != nil {
		return fmt.Errorf("encoding the schema of %s: %w", crd.Name, err)
	}
	// The references are OpenAPI v3's.
	_, err = os.Stdout.Write(bytes.ReplaceAll(encoded, []byte(`"#/components/schemas/`), []byte(`"#/definitions/`)))
	return err
}

// servedName is the name under which the API server publishes the kind: the group reversed, version, kind.
func servedName(crd *apiextensionsv1.CustomResourceDefinition, version string) string {
	return util.ToRESTFriendlyName(crd.Spec.Group + "/" + version + "." + crd.Spec.Names.Kind)
}
