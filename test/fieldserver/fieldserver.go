// Package fieldserver keeps one object as an API server's own field manager does, in memory: who owns which field, and what
// an apply makes of that. What it lacks is all the rest of an API server: defaults, admission, validation, subresources.
package fieldserver

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"sigs.k8s.io/yaml"
)

// Server is one object.
type Server struct {
	manager managedfieldstest.TestFieldManager
	gvk     schema.GroupVersionKind
}

// New returns a server for an object of that kind, which does not exist yet.
func New(types managedfields.TypeConverter, gvk schema.GroupVersionKind) *Server {
	return &Server{manager: managedfieldstest.NewTestFieldManager(types, gvk), gvk: gvk}
}

// Apply applies a configuration in YAML, without apiVersion and kind.
func (s *Server) Apply(manager, config string) error {
	object, err := s.parse(config)
	if err != nil {
		return err
	}
	return s.manager.Apply(object, manager, false)
}

// ForceApply is a forced Apply, as other managers may send it.
func (s *Server) ForceApply(manager, config string) error {
	object, err := s.parse(config)
	if err != nil {
		return err
	}
	return s.manager.Apply(object, manager, true)
}

// ApplyObject is Apply for a configuration that was built.
func (s *Server) ApplyObject(manager string, object *unstructured.Unstructured) error {
	return s.manager.Apply(object.DeepCopy(), manager, false)
}

// Update writes the object back after a change, as any write does that is no apply.
func (s *Server) Update(manager string, change func(content map[string]any)) error {
	live, err := s.Live()
	if err != nil {
		return err
	}
	live.SetManagedFields(nil)
	change(live.Object)
	return s.manager.Update(live, manager)
}

// Rewrite replaces managedFields and changes nothing else.
func (s *Server) Rewrite(entries []metav1.ManagedFieldsEntry) error {
	live, err := s.Live()
	if err != nil {
		return err
	}
	live.SetManagedFields(entries)
	return s.manager.Update(live, "rewriter")
}

// Live returns the object as a client reads it, with all times of managedFields at one moment.
func (s *Server) Live() (*unstructured.Unstructured, error) {
	encoded, err := json.Marshal(s.manager.Live())
	if err != nil {
		return nil, fmt.Errorf("encoding the object: %w", err)
	}
	live := &unstructured.Unstructured{}
	if err := live.UnmarshalJSON(encoded); err != nil {
		return nil, fmt.Errorf("decoding the object: %w", err)
	}
	entries := live.GetManagedFields()
	for i := range entries {
		entries[i].Time = &metav1.Time{Time: Moment}
	}
	live.SetManagedFields(entries)
	return live, nil
}

// Moment is the time of all entries.
var Moment = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

func (s *Server) parse(config string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	encoded, err := yaml.YAMLToJSON([]byte(config))
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(encoded, &content); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	content["apiVersion"], content["kind"] = s.gvk.GroupVersion().String(), s.gvk.Kind
	if encoded, err = json.Marshal(content); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return object, object.UnmarshalJSON(encoded)
}
