package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const head = "apiVersion: application.mycompany.io/v1alpha1\nkind: Application\n"

func TestRead(t *testing.T) {
	for name, tc := range map[string]struct {
		file    string
		names   string
		skipped string
		err     string
	}{
		"one":                      {file: head + "metadata: {name: web}\nspec: {image: x}\n", names: "web"},
		"several, comments":        {file: "# first\n---\n" + head + "metadata: {name: a}\nspec: {image: x}\n---\n---\n# none\n---\n" + head + "metadata: {name: b}\nspec: {image: x}\n", names: "a b"},
		"JSON":                     {file: `{"apiVersion":"application.mycompany.io/v1alpha1","kind":"Application","metadata":{"name":"web"},"spec":{"image":"x"}}`, names: "web"},
		"as kubectl get prints it": {file: head + "metadata: {name: web, uid: u, resourceVersion: '1', managedFields: [{manager: x, operation: Apply}]}\nspec: {image: x}\nstatus: {phase: Running}\n", names: "web"},
		"a List": {file: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: application.mycompany.io/v1alpha1, kind: Application, metadata: {name: a}, spec: {image: x}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n",
			names: "a", skipped: `ConfigMap "c" of v1`},
		"others beside it": {file: "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n" + head + "metadata: {name: web}\nspec: {image: x}\n", names: "web", skipped: `Namespace "shop" of v1`},

		"nothing":                  {file: "", err: "file.yaml: there is no Application of application.mycompany.io/v1alpha1 in it"},
		"Argo CD's Application":    {file: "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\n", err: `there is no Application of application.mycompany.io/v1alpha1 in it, only: Application "web" of argoproj.io/v1alpha1`},
		"an unknown field":         {file: head + "metadata: {name: web}\nspec: {image: x, replica: 3}\n", err: `file.yaml, Application "web": strict decoding error: unknown field "spec.replica"`},
		"an unknown field, deeper": {file: head + "metadata: {name: web}\nspec: {image: x, env: [{nam: A}]}\n", err: `unknown field "spec.env[0].nam"`},
		"two unknown fields":       {file: head + "metadata: {name: web}\nspec: {image: x, a: 1, b: 2}\n", err: `unknown field "spec.a", unknown field "spec.b"`},
		"a field twice":            {file: head + "metadata: {name: web}\nspec: {image: x, image: y}\n", err: `key "image" already set in map`},
		"another type":             {file: head + "metadata: {name: web}\nspec: {image: x, replicas: many}\n", err: "cannot unmarshal string into Go struct field ApplicationSpec.spec.replicas of type int32"},
		"no YAML":                  {file: head + "metadata: {name: web\n", err: "file.yaml: "},
		"no kind":                  {file: "metadata: {name: web}\n", err: "Object 'Kind' is missing"},
		"another version":          {file: strings.Replace(head, "v1alpha1", "v9", 1) + "metadata: {name: web}\nspec: {image: x}\n", err: "the version is not known: use apiVersion application.mycompany.io/v1alpha1"},
		"no name":                  {file: head + "spec: {image: x}\n", err: "metadata.name is missing"},
		"no image":                 {file: head + "metadata: {name: web}\nspec: {replicas: 1}\n", err: "spec.image is missing"},
		"a Service without a port": {file: head + "metadata: {name: web}\nspec: {image: x, expose: ClusterIP}\n", err: "spec.expose needs spec.port"},
		"a variable twice":         {file: head + "metadata: {name: web}\nspec: {image: x, env: [{name: A}, {name: A}]}\n", err: `spec.env has two entries of the name "A"`},
		"wrong in the second":      {file: head + "metadata: {name: a}\nspec: {image: x}\n---\n" + head + "metadata: {name: b}\nspec: {}\n", err: `file.yaml, document 2, Application "b": spec.image is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file.yaml")
			if err := os.WriteFile(file, []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, from := range []string{file, Stdin} {
				read, err := Read(from, strings.NewReader(tc.file))
				if tc.err != "" {
					want := tc.err
					if from == Stdin {
						want = strings.Replace(want, "file.yaml", "standard input", 1)
					}
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("got error %v, want %s", err, want)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, app := range read.Applications {
					names = append(names, app.Name)
				}
				if got := strings.Join(names, " "); got != tc.names {
					t.Errorf("read %s", got)
				}
				if got := strings.Join(read.Skipped, " "); got != tc.skipped {
					t.Errorf("skipped %s", got)
				}
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none"), nil); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}

func TestSetNamespace(t *testing.T) {
	read, err := Read(Stdin, strings.NewReader(head+"metadata: {name: a}\nspec: {image: x}\n---\n"+head+"metadata: {name: b, namespace: own}\nspec: {image: x}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"given", "own"} {
		app := &read.Applications[i]
		app.SetNamespace("given")
		if app.Namespace != want || app.Content.GetNamespace() != want {
			t.Errorf("%s is in %q and %q", app.Name, app.Namespace, app.Content.GetNamespace())
		}
	}
}
