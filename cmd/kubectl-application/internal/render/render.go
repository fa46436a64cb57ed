package render

import (
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/redact"
)

// withoutOwner explains why children stand alone. The uid of an Application is known only to the API server.
const withoutOwner = `# The operator also sets metadata.ownerReferences, which needs the Application's uid. To see that, render what
# "kubectl get applications.application.mycompany.io %s --output=yaml" prints.
`

// Configurations returns what the operator applies for an Application, the Deployment first. Without a uid, which an
// Application has from the API server, they have no owner reference.
func Configurations(app *v1alpha1.Application) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, object := range children.Objects {
		intent, err := children.Wanted(app, object)
		if err != nil {
			return nil, err
		}
		if intent == nil {
			continue
		}
		config := intent.Object()
		if app.UID == "" {
			unstructured.RemoveNestedField(config.Object, "metadata", "ownerReferences")
		}
		if app.Namespace == "" {
			unstructured.RemoveNestedField(config.Object, "metadata", "namespace")
		}
		all = append(all, config)
	}
	return all, nil
}

// writer writes configurations.
type writer struct {
	out    io.Writer
	format string
	redact bool

	documents int
	list      []any
}

func (w *writer) add(app *v1alpha1.Application, configs []*unstructured.Unstructured) error {
	for n, config := range configs {
		if w.redact {
			config = redact.Object(config)
		}
		if w.format == formatJSON {
			w.list = append(w.list, config.Object)
			continue
		}
		document, err := yaml.Marshal(config.Object)
		if err != nil {
			return fmt.Errorf("encoding %s %s: %w", config.GetKind(), config.GetName(), err)
		}
		head := ""
		if w.documents > 0 {
			head = "---\n"
		}
		if app.UID == "" && n == 0 {
			head += fmt.Sprintf(withoutOwner, app.Name)
		}
		w.documents++
		if _, err := fmt.Fprintf(w.out, "%s%s", head, document); err != nil {
			return err
		}
	}
	return nil
}

// close writes what can be written only at the end.
func (w *writer) close() error {
	if w.format != formatJSON {
		return nil
	}
	encoder := json.NewEncoder(w.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": w.list})
}
