package cluster

import (
	"bytes"
	_ "embed" // the stage of broken images
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// BrokenImage is a part of an image's name that keeps its Pods from becoming
// Ready: they stay Pending with the reason ImagePullBackOff.
const BrokenImage = "does-not-exist"

// brokenImageStage is what happens to such Pods.
//
//go:embed stage-image-pull-back-off.yaml
var brokenImageStage string

// stagesFrom adds our rule about broken images to kwok's own stages.
func stagesFrom(upstream []byte) ([]byte, error) {
	documents := strings.Split(string(upstream), "\n---\n")
	found := false
	for i, document := range documents {
		stage := unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &stage.Object); err != nil {
			return nil, fmt.Errorf("read kwok's stages: %w", err)
		}
		if stage.GetName() != "pod-ready" {
			continue
		}
		found = true
		changed, err := withoutBrokenImages(stage)
		if err != nil {
			return nil, fmt.Errorf("change kwok's stage %s: %w", stage.GetName(), err)
		}
		documents[i] = string(changed)
	}
	if !found {
		return nil, fmt.Errorf("kwok has no stage pod-ready any more: adapt the rule about broken images")
	}
	documents = append(documents, brokenImageStage)

	var result bytes.Buffer
	for _, document := range documents {
		fmt.Fprintf(&result, "---\n%s\n", strings.TrimSpace(document))
	}
	return result.Bytes(), nil
}

// withoutBrokenImages narrows the stage's selector, whose keys are jq queries.
func withoutBrokenImages(stage unstructured.Unstructured) ([]byte, error) {
	fields := []string{"spec", "selector", "matchExpressions"}
	expressions, _, err := unstructured.NestedSlice(stage.Object, fields...)
	if err != nil {
		return nil, err
	}
	expressions = append(expressions, map[string]any{
		"key":      fmt.Sprintf(".spec.containers.[].image | select( contains(%q) )", BrokenImage),
		"operator": "DoesNotExist",
	})
	if err := unstructured.SetNestedSlice(stage.Object, expressions, fields...); err != nil {
		return nil, err
	}
	return yaml.Marshal(stage.Object)
}
