package integration

import (
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestEveryRuleIsTested matches the rules of the CustomResourceDefinition with the specs above that break them, by message.
func TestEveryRuleIsTested(t *testing.T) {
	content, err := os.ReadFile("../../deploy/crd/application.mycompany.io_applications.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(content, crd); err != nil {
		t.Fatal(err)
	}
	tested := []string{badName, badImage}
	for _, r := range refusals {
		tested = append(tested, r.message)
	}
	rules := 0
	for _, version := range crd.Spec.Versions {
		eachRule("", version.Schema.OpenAPIV3Schema, func(path string, rule apiextensionsv1.ValidationRule) {
			rules++
			switch {
			case !strings.Contains(rule.Message, strings.TrimPrefix(path, ".")):
				t.Errorf("%s: the message of a rule names the field: %q", path, rule.Message)
			case !slices.Contains(tested, rule.Message):
				t.Errorf("%s: no spec is refused with %q", path, rule.Message)
			}
		})
	}
	if rules == 0 {
		t.Error("the CustomResourceDefinition has no rules")
	}
}

// eachRule visits the CEL rules of a schema and of all below it.
func eachRule(path string, schema *apiextensionsv1.JSONSchemaProps, visit func(string, apiextensionsv1.ValidationRule)) {
	for _, rule := range schema.XValidations {
		visit(path, rule)
	}
	for name := range schema.Properties {
		property := schema.Properties[name]
		eachRule(path+"."+name, &property, visit)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		eachRule(path+"[]", schema.Items.Schema, visit)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		eachRule(path+"{}", schema.AdditionalProperties.Schema, visit)
	}
}
