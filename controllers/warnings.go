package controllers

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
)

// SetupWarnings registers a validating webhook with mgr that warns the author of an Application of what will not take effect.
func SetupWarnings(mgr ctrl.Manager, options Options) error {
	return ctrl.NewWebhookManagedBy(mgr, &v1alpha1.Application{}).WithValidator(&warner{
		cache:          mgr.GetClient(),
		childTypes:     applyconfigurations.NewTypeConverter(mgr.GetScheme()),
		legacyManagers: append([]string{v1alpha1.FieldManager}, options.LegacyFieldManagers...),
	}).Complete()
}

// warner never denies anything. It looks at the cached children alone, so that the answer costs no request and no wait; what
// the cache cannot tell, the status of the Application will. It implements admission.Validator.
type warner struct {
	cache          client.Reader
	childTypes     managedfields.TypeConverter
	legacyManagers []string
}

var _ admission.Validator[*v1alpha1.Application] = &warner{}

// ValidateCreate implements admission.Validator.
func (w *warner) ValidateCreate(ctx context.Context, app *v1alpha1.Application) (admission.Warnings, error) {
	return w.warnings(ctx, app), nil
}

// ValidateUpdate implements admission.Validator.
func (w *warner) ValidateUpdate(ctx context.Context, _, app *v1alpha1.Application) (admission.Warnings, error) {
	return w.warnings(ctx, app), nil
}

// ValidateDelete implements admission.Validator.
func (*warner) ValidateDelete(context.Context, *v1alpha1.Application) (admission.Warnings, error) {
	return nil, nil
}

func (w *warner) warnings(ctx context.Context, app *v1alpha1.Application) admission.Warnings {
	if !app.DeletionTimestamp.IsZero() || app.Spec.Paused {
		return nil
	}
	intents, err := buildIntents(w.childTypes, app)
	if err != nil {
		// The partial objects are checked here alone: their schema is not in the CRD.
		return admission.Warnings{invalidSpec(err)}
	}
	var warnings admission.Warnings
	for _, child := range []*childKind{deploymentChild, serviceChild} {
		about, err := w.warningsAbout(ctx, app, child, intents[child.kind])
		if err != nil {
			log.FromContext(ctx).V(levelElided).Info("Cannot tell what will not take effect", keyChild, child.kind, "error", err.Error())
			continue
		}
		warnings = append(warnings, about...)
	}
	return warnings
}

func (w *warner) warningsAbout(ctx context.Context, app *v1alpha1.Application, child *childKind, intent *ownership.Intent) (admission.Warnings, error) {
	if intent == nil {
		return nil, nil
	}
	live := child.new()
	if err := w.cache.Get(ctx, client.ObjectKeyFromObject(app), live); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	result := &childResult{kind: child.kind, name: app.Name, intent: intent}
	if !mayTouch(live, app, result) {
		if result.outcome == outcomeRefused {
			return admission.Warnings{result.message}, nil
		}
		return nil, nil
	}
	plan, err := transition.For(w.childTypes, intent, live, v1alpha1.ConflictAbort)
	if err != nil {
		return nil, err
	}
	// What an older operator holds is folded before the children are applied.
	former := formerManagers(managedFields(live), w.legacyManagers)
	var contested []ownership.Conflict
	for _, c := range plan.Conflicts {
		if c.Operation != metav1.ManagedFieldsOperationUpdate || c.Subresource != "" || !former.Has(c.Manager) {
			contested = append(contested, c)
		}
	}
	return conflictWarnings(app, result, contested), nil
}

// conflictWarnings has a warning for each contested field.
func conflictWarnings(app *v1alpha1.Application, child *childResult, contested []ownership.Conflict) admission.Warnings {
	var warnings admission.Warnings
	fields := ownership.GroupByField(contested)
	for i, field := range fields {
		if i == maxListedFields {
			warnings = append(warnings, fmt.Sprintf("%d more fields of %s will not take effect", len(fields)-i, child.describe()))
			break
		}
		owners := make([]string, 0, len(field.Conflicts))
		for _, c := range field.Conflicts {
			owners = append(owners, shortOwner(c))
		}
		warnings = append(warnings, fmt.Sprintf("%s will not take effect: %s of %s is owned by %s",
			child.specField(app, field.Conflicts[0]), field.Field, child.describe(), strings.Join(owners, " and ")))
	}
	if len(fields) > 0 && app.Spec.ConflictPolicy != v1alpha1.ConflictYield {
		warnings = append(warnings, child.describe()+" is left as it is until then, with all its other fields; spec.conflictPolicy Yield would apply these")
	}
	return warnings
}

// plainName matches names that need no quotes.
var plainName = regexp.MustCompile(`^[\w.-]+$`)

// shortOwner names a manager and, if there is one, the subresource that it writes through.
func shortOwner(c ownership.Conflict) string {
	name := c.Manager
	switch {
	case name == "":
		return "a manager that the API server did not name"
	case !plainName.MatchString(name):
		name = fmt.Sprintf("%q", name)
	}
	if c.Subresource != "" {
		return fmt.Sprintf("%s (%s)", name, c.Subresource)
	}
	return name
}

// specField names the field of the spec that a contested field comes from.
func (c *childResult) specField(app *v1alpha1.Application, conflict ownership.Conflict) string {
	source, exists := c.sourceOf(app, conflict)
	if !exists || !source.Held {
		return "A part of the spec"
	}
	return strings.TrimPrefix(source.Path.String(), ".")
}
