package conflicts

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/partial"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/children"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/shell"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/spec"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/words"
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
	target      shell.Target
	application *unstructured.Unstructured
	child       *children.Child
	path        fieldpath.Path
	// against is the wanted field that the contested one excludes, or nil if that is wanted itself, with another value.
	against      fieldpath.Path
	field        ownership.FieldConflict
	wanted, live any
}

// resolve returns all ways to end the conflict. What changes the spec is listed only if the operator's own code finds the
// conflict gone after the change.
func resolve(c *contest) ([]Resolution, error) {
	resolutions := c.edits()
	if _, err := ownership.NewRewrite(c.child.Live); err == nil && c.against == nil {
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
	resolutions := c.editsAt(c.path, c.live)
	if c.against != nil && !isWithin(c.path, c.against) {
		live, _, _ := c.child.Intent.LiveValue(c.child.Live, c.against) // the object has been read before
		resolutions = append(resolutions, c.exchange()...)
		resolutions = append(resolutions, c.editsAt(c.against, live)...)
	}
	return resolutions
}

// exchange returns the change of the spec by which it wants what excludes a wanted field, instead of that field.
func (c *contest) exchange() []Resolution {
	source, exists := c.child.Source(c.against)
	if !exists || !source.Held {
		return nil
	}
	standing := excluding(c.path, c.against)
	var edit *spec.Edit
	var err error
	description := "Let the Application want this instead"
	last := len(c.against) - 1
	switch common := commonLength(c.path, c.against); {
	case common != last || len(standing) != len(c.against):
		return nil
	case c.against[last].Key != nil:
		number, isPort := portNumber(standing[last])
		switch {
		case !isPort:
			return nil
		case source.Copied:
			edit, err = spec.Rename(c.target, c.application, source, standing[last])
			description += fmt.Sprintf(" (%s in place of %s)", standing[last], source.Path)
		default:
			source.Copied = true // the number is
			edit, err = spec.Set(c.target, c.application, source, number)
			description += fmt.Sprintf(" (%s), in the Deployment and the Service", source.Path)
		}
	default:
		live := partial.ValueAt(c.child.Live.Object, standing)
		if !source.Copied || live == nil || partial.ValueAt(c.child.Live.Object, c.against) != nil {
			return nil
		}
		instead := append(source.Path[:len(source.Path)-1].Copy(), standing[last])
		edit, err = spec.Exchange(c.target, c.application, source, instead, live)
		description += fmt.Sprintf(" (%s in place of %s)", instead, source.Path)
	}
	if err != nil || !c.ends(edit) {
		return nil
	}
	return []Resolution{{Outcome: KeepLive, Description: description + ": both own it then", Commands: []string{edit.Command}, holdsValue: true}}
}

// portNumber returns the number of the port that a list item is about.
func portNumber(item fieldpath.PathElement) (any, bool) {
	if item.Key == nil {
		return nil, false
	}
	for _, key := range *item.Key {
		if key.Name == "port" || key.Name == "containerPort" {
			return key.Value.Unstructured(), true
		}
	}
	return nil, false
}

// editsAt returns those of the field of the spec that a field of the child comes from.
func (c *contest) editsAt(path fieldpath.Path, live any) []Resolution {
	source, exists := c.child.Source(path)
	if !exists || !source.Held || !source.Copied {
		return nil
	}
	var resolutions []Resolution
	if live != nil {
		edit, err := spec.Set(c.target, c.application, source, live)
		if err == nil && c.ends(edit) {
			resolutions = append(resolutions, Resolution{
				Outcome:     KeepLive,
				Description: c.ofWantingLive(source),
				Commands:    []string{edit.Command},
				holdsValue:  true,
			})
		}
	}
	if source.Removable {
		edit, err := spec.Drop(c.target, c.application, source)
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

func (c *contest) ofWantingLive(source desired.Source) string {
	description := fmt.Sprintf("Let the Application want the live value (%s)", source.Path)
	if c.against != nil {
		return description + ", which the field does not exclude"
	}
	if c.nameless() {
		return description + ": the operator owns the field then"
	}
	return description + ": both own the field then"
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

// nameless reports whether nobody on record owns the field.
func (c *contest) nameless() bool { return c.field.Conflicts[0].Owner() == ownership.ScaledToZero }

// owners names the owners in a sentence.
func (c *contest) owners() string {
	names := make([]string, 0, len(c.field.Conflicts))
	for _, owner := range c.field.Conflicts {
		if owner.Owner() == ownership.ScaledToZero {
			names = append(names, words.Scaler)
			continue
		}
		names = append(names, fmt.Sprintf("%q", owner.Manager))
	}
	return strings.Join(slices.Compact(names), " and ")
}

// letGo says how the owner gives the field up by its own means, or nothing if it never would.
func letGo(owner ownership.Conflict) string {
	switch {
	case owner.Manager == ownership.BeforeFirstApply:
		return fmt.Sprintf("%q is nobody: a client wiped managedFields, and the API server noted what it found under this name. Nobody will let go of it", owner.Manager)
	case owner.Operation == metav1.ManagedFieldsOperationApply && owner.Against != "":
		return fmt.Sprintf("%q lets go of the field by itself when it applies without it", owner.Manager)
	case owner.Operation == metav1.ManagedFieldsOperationApply:
		return fmt.Sprintf("%q lets go of the field by itself: first it applies the wanted value, which both own then, and after that it applies without the field", owner.Manager)
	case owner.Subresource == "scale" && owner.Manager == "kube-controller-manager":
		return fmt.Sprintf("%q scales for a HorizontalPodAutoscaler, and will do so again: delete the autoscaler before, or let the Application want no replicas", owner.Manager)
	default:
		return ""
	}
}
