// Package manifest reads Applications from files, strictly: what the API server would refuse, or silently drop, is an error
// that says where it is.
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

// Stdin is the file name that stands for the standard input.
const Stdin = "-"

// Application is one Application from a file.
type Application struct {
	*v1alpha1.Application
	// Content is what the file says, and nothing else.
	Content *unstructured.Unstructured
	// Origin names the file and the document in it, for messages.
	Origin string
}

// Result is what a file holds.
type Result struct {
	Applications []Application
	// Skipped describes what is no Application.
	Skipped []string
}

// Read reads all Applications of a file in YAML or JSON, of one document or several, Lists included. Stdin is read from in.
func Read(file string, in io.Reader) (*Result, error) {
	name := file
	if file == Stdin {
		name = "standard input"
	} else {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer opened.Close()
		in = opened
	}
	result, err := parse(name, in)
	if err != nil {
		return nil, err
	}
	if len(result.Applications) == 0 {
		return nil, fmt.Errorf("%s: there is no Application of %s in it%s", name, v1alpha1.SchemeGroupVersion, butOthers(result.Skipped))
	}
	return result, nil
}

func butOthers(skipped []string) string {
	if len(skipped) == 0 {
		return ""
	}
	return ", only: " + strings.Join(skipped, "; ")
}

func parse(name string, in io.Reader) (*Result, error) {
	result := &Result{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(in))
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return result, nil
		}
		origin := name
		if number > 1 {
			origin = fmt.Sprintf("%s, document %d", name, number)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", origin, err)
		}
		encoded, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", origin, err)
		}
		if bytes.Equal(bytes.TrimSpace(encoded), []byte("null")) {
			continue // nothing but comments
		}
		if err := result.add(origin, encoded); err != nil {
			return nil, err
		}
	}
}

func (r *Result) add(origin string, encoded []byte) error {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		return fmt.Errorf("%s: %w", origin, err)
	}
	if object.IsList() {
		return object.EachListItem(func(item runtime.Object) error {
			encodedItem, err := item.(*unstructured.Unstructured).MarshalJSON()
			if err != nil {
				return fmt.Errorf("%s: %w", origin, err)
			}
			return r.add(origin, encodedItem)
		})
	}
	gvk := object.GroupVersionKind()
	if gvk.Group != v1alpha1.GroupName || gvk.Kind != v1alpha1.Kind {
		r.Skipped = append(r.Skipped, fmt.Sprintf("%s %q of %s", gvk.Kind, object.GetName(), object.GetAPIVersion()))
		return nil
	}
	app, err := decode(encoded)
	if err != nil {
		return fmt.Errorf("%s, Application %q: %w", origin, object.GetName(), err)
	}
	if err := check(app); err != nil {
		return fmt.Errorf("%s, Application %q: %w", origin, object.GetName(), err)
	}
	r.Applications = append(r.Applications, Application{Application: app, Content: object, Origin: origin})
	return nil
}

// decode refuses unknown and repeated fields.
func decode(encoded []byte) (*v1alpha1.Application, error) {
	app := &v1alpha1.Application{}
	codec := serializer.NewCodecFactory(cli.Scheme(), serializer.EnableStrict).UniversalDeserializer()
	if _, _, err := codec.Decode(encoded, nil, app); err != nil {
		if runtime.IsNotRegisteredError(err) {
			return nil, fmt.Errorf("the version is not known: use apiVersion %s", v1alpha1.SchemeGroupVersion)
		}
		return nil, err
	}
	return app, nil
}

// check refuses what the operator relies on the API server to refuse. All other rules are the API server's: a dry run asks it.
func check(app *v1alpha1.Application) error {
	switch {
	case app.Name == "":
		return errors.New("metadata.name is missing")
	case app.Spec.Image == "":
		return errors.New("spec.image is missing")
	case app.Spec.Expose != "" && app.Spec.Port == nil:
		return errors.New("spec.expose needs spec.port: set the port that the Service shall expose, or remove spec.expose")
	}
	names := map[string]bool{}
	for _, variable := range app.Spec.Env {
		if names[variable.Name] {
			return fmt.Errorf("spec.env has two entries of the name %q", variable.Name)
		}
		names[variable.Name] = true
	}
	return nil
}

// SetNamespace puts the Application into a namespace if the file names none.
func (a *Application) SetNamespace(namespace string) {
	if a.Namespace == "" {
		a.Namespace = namespace
		a.Content.SetNamespace(namespace)
	}
}
