package conflicts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/spec"
)

// Outcome is the value that a field has once a conflict has ended.
type Outcome string

// A conflict ends with the live value or with the wanted one.
const (
	KeepLive  Outcome = "KeepLive"
	GetWanted Outcome = "GetWanted"
)

// Resolution is one way to end a conflict.
type Resolution struct {
	Outcome Outcome `json:"outcome"`
	// Description says what happens, and who owns the field then.
	Description string `json:"description"`
	// Commands do it, one after the other. There are none where only the owner knows how.
	Commands []string `json:"commands,omitempty"`
	// holdsValue: a command has the live or the wanted value in it.
	holdsValue bool
}

// contest is what resolutions are made for.
type contest struct {
	target       shell.Target
	application  *unstructured.Unstructured
	child        *children.Child
	path         fieldpath.Path
	field        ownership.FieldConflict
	wanted, live any
}

// resolve returns all ways to end the conflict. What changes the spec is listed only if the operator's own code finds the
// conflict gone after the change.
func resolve(c *contest) ([]Resolution, error) {
	resolutions := c.edits()
	if _, err := ownership.NewRewrite(c.child.Live); err == nil {
		resolutions = append(resolutions, Resolution{
			Outcome:     GetWanted,
			Description: "Take the field from " + c.owners() + ": the operator applies its value and owns it alone",
			Commands: []string{c.target.Kubectl("application", "take", c.child.App.Name,
				"--object="+string(c.child.Object), "--field="+c.path.String())},
		})
	}
	write, err := c.write()
	if err != nil {
		return nil, err
	}
	resolutions = append(resolutions, *write)
	for _, owner := range c.field.Conflicts {
		if advice := letGo(owner); advice != "" {
			resolutions = append(resolutions, Resolution{Outcome: GetWanted, Description: advice})
		}
	}
	return resolutions, nil
}

// edits returns the changes of the spec that end the conflict.
func (c *contest) edits() []Resolution {
	source, exists := spec.Source(c.child.Object, c.path)
	if !exists {
		return nil
	}
	var resolutions []Resolution
	if c.live != nil {
		edit, err := source.Set(c.target, c.application, c.live)
		if err == nil && c.ends(edit) {
			resolutions = append(resolutions, Resolution{
				Outcome:     KeepLive,
				Description: fmt.Sprintf("Let the Application want the live value (%s): both own the field then", source.Path),
				Commands:    []string{edit.Command},
				holdsValue:  true,
			})
		}
	}
	if !source.Required {
		edit, err := source.Drop(c.target, c.application)
		if err == nil && c.ends(edit) {
			resolutions = append(resolutions, Resolution{
				Outcome:     KeepLive,
				Description: fmt.Sprintf("Let the Application want nothing there (%s): the field is left to %s", source.Path, c.owners()),
				Commands:    []string{edit.Command},
			})
		}
	}
	return resolutions
}

// ends reports whether the field is no longer contested, and the child still wanted, after a change of the Application.
func (c *contest) ends(edit *spec.Edit) bool {
	child, err := c.child.After(edit.Edited)
	if err != nil || child.Intent == nil {
		return false
	}
	plan, err := child.Plan()
	return err == nil && !slices.ContainsFunc(plan.Conflicts, func(o ownership.Conflict) bool { return o.Field == c.field.Field })
}

// write returns how anybody may write the wanted value, which ends the conflict without anyone giving up a claim.
func (c *contest) write() (*Resolution, error) {
	resolution := &Resolution{
		Outcome:     GetWanted,
		Description: "Write the wanted value to the " + string(c.child.Object) + ": the writer and the operator both own the field then",
		holdsValue:  true,
	}
	container := fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "app"))
	switch {
	case c.path.Equals(fieldpath.MakePathOrDie("spec", "replicas")):
		resolution.Commands = []string{c.target.Kubectl("scale", c.child.Reference(), fmt.Sprintf("--replicas=%v", c.wanted))}
		return resolution, nil
	case c.path.Equals(append(container.Copy(), fieldpath.FieldNameElement("image"))):
		resolution.Commands = []string{c.target.Kubectl("set", "image", c.child.Reference(), fmt.Sprintf("app=%v", c.wanted))}
		return resolution, nil
	}
	patch, err := json.Marshal(c.child.Intent.Excerpt(fieldpath.NewSet(c.path)).Object)
	if err != nil {
		return nil, fmt.Errorf("building the patch: %w", err)
	}
	resolution.Commands = []string{c.target.Kubectl("patch", c.child.Reference(), "--patch="+string(patch))}
	return resolution, nil
}

// owners names the owners in a sentence.
func (c *contest) owners() string {
	names := make([]string, 0, len(c.field.Conflicts))
	for _, owner := range c.field.Conflicts {
		names = append(names, fmt.Sprintf("%q", owner.Manager))
	}
	return strings.Join(slices.Compact(names), " and ")
}

// letGo says how the owner gives the field up by its own means, or nothing if it never would.
func letGo(owner ownership.Conflict) string {
	switch {
	case owner.Manager == ownership.BeforeFirstApply:
		return fmt.Sprintf("%q is nobody: a client wiped managedFields, and the API server noted what it found under this name. Nobody will let go of it", owner.Manager)
	case owner.Operation == metav1.ManagedFieldsOperationApply:
		return fmt.Sprintf("%q lets go of the field by itself: first it applies the wanted value, which both own then, and after that it applies without the field", owner.Manager)
	case owner.Subresource == "scale" && owner.Manager == "kube-controller-manager":
		return fmt.Sprintf("%q scales for a HorizontalPodAutoscaler, and will do so again: delete the autoscaler before, or let the Application want no replicas", owner.Manager)
	default:
		return ""
	}
}
