package owners

import (
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// decodeBuffer is how much of a file is looked at to tell JSON from YAML.
const decodeBuffer = 4096

func (o *options) readFiles() ([]*subject, error) {
	var subjects []*subject
	for _, name := range o.filenames {
		objects, err := o.readFile(name)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			var notes []string
			if len(object.GetManagedFields()) == 0 {
				notes = append(notes, "kubectl get leaves managedFields out unless it is told --show-managed-fields.")
			}
			subjects = append(subjects, newSubject(object, notes...))
		}
	}
	if len(subjects) == 0 {
		return nil, fmt.Errorf("there is no object in %s", quoteAll(o.filenames))
	}
	return subjects, nil
}

func (o *options) readFile(name string) ([]*unstructured.Unstructured, error) {
	if name == "-" {
		return decode("the standard input", o.factory.In)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return decode(name, file)
}

// decode reads all objects, those of lists included.
func decode(name string, r io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(r, decodeBuffer)
	for document := 1; ; document++ {
		var raw runtime.RawExtension
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", name, document, err)
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue // nothing between two separators
		}
		found, err := decodeOne(raw.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s, document %d is no Kubernetes object: %w", name, document, err)
		}
		objects = append(objects, found...)
	}
}

func decodeOne(raw []byte) ([]*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	if !object.IsList() {
		return []*unstructured.Unstructured{object}, nil
	}
	list, err := object.ToList()
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, 0, len(list.Items))
	for i := range list.Items {
		objects = append(objects, &list.Items[i])
	}
	return objects, nil
}
