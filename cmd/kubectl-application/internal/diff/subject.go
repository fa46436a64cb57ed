package diff

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/manifest"
)

// subject is the Application that the children are compared with.
type subject struct {
	app         *v1alpha1.Application
	application *unstructured.Unstructured
	// isNew: it is not in the cluster yet, and its uid is of a dry run.
	isNew bool
	// warning is empty as a rule.
	warning string
	// mode is how the file is applied, and chosen whether the user says so. They are empty if that makes no difference.
	mode   applyMode
	chosen bool
}

// applyMode is how kubectl applies a file.
type applyMode string

const (
	serverSide applyMode = "kubectl apply --server-side"
	clientSide applyMode = "kubectl apply"
)

// modes are what --server-side chooses.
var modes = map[bool]applyMode{true: serverSide, false: clientSide}

// comment tells, in a line that diff tools pass over, which kind of apply is foretold.
func (s *subject) comment() string {
	if s.mode == "" {
		return ""
	}
	comment := fmt.Sprintf("# Application %s in namespace %s as %q would leave it", s.app.Name, s.app.Namespace, s.mode)
	if !s.chosen {
		comment += fmt.Sprintf(", by which it has been written so far; choose with --%s or --%[1]s=false", serverSideFlag)
	}
	return comment
}

// written returns the Application as it would be once the file is applied. The API server tells, in a dry run: it validates,
// it knows the uid, and what others have set in the Application stays.
func written(ctx context.Context, c *cli.Client, fromFile *manifest.Application, fieldManager string, choice applyMode) (*subject, error) {
	config := fromFile.Content.DeepCopy()
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(config.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(config.Object, "status")
	_, live, err := c.Application(ctx, config.GetName())
	s := &subject{isNew: apierrors.IsNotFound(err)}
	if live != nil {
		s.mode, s.chosen = choice, choice != ""
		if !s.chosen {
			s.mode = modes[!appliedByClient(live, fieldManager)]
		}
	}
	switch {
	case err != nil && !s.isNew:
		return nil, err
	case s.mode == clientSide:
		s.application, err = appliedClientSide(ctx, c, live, config)
	default:
		s.application = config.DeepCopy()
		err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(s.application), client.FieldOwner(fieldManager), client.DryRunAll)
	}
	if conflicts, contested := ownership.FromError(err); contested && live != nil {
		s.warning = fmt.Sprintf("fields of the Application itself are owned by others, so \"kubectl apply --server-side --field-manager=%s\" would conflict: %s. Shown is what comes of it if the file wins",
			fieldManager, list(conflicts))
		s.application, err = overwritten(live, config)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fromFile.Origin, explain(err, config))
	}
	s.app, err = cli.AsApplication(s.application)
	return s, err
}

// appliedByClient reports whether the Application was written by kubectl apply without --server-side, and has been since.
func appliedByClient(live *unstructured.Unstructured, fieldManager string) bool {
	managed, _ := ownership.Parse(live.GetManagedFields()) // what cannot be read was no apply
	return live.GetAnnotations()[corev1.LastAppliedConfigAnnotation] != "" && managed.Fields(ownership.Applier(fieldManager)).Empty()
}

// appliedClientSide lets the API server answer the patch that kubectl apply makes of what was applied last, what is to be
// applied and what is there.
func appliedClientSide(ctx context.Context, c *cli.Client, live, config *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	modified, err := config.MarshalJSON()
	if err != nil {
		return nil, err
	}
	current, err := live.MarshalJSON()
	if err != nil {
		return nil, err
	}
	last := []byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, modified, current)
	if err != nil {
		return nil, fmt.Errorf("comparing with the annotation %s: %w", corev1.LastAppliedConfigAnnotation, err)
	}
	answer := live.DeepCopy()
	err = c.Patch(ctx, answer, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("kubectl-client-side-apply"), client.DryRunAll)
	return answer, err
}

// overwritten returns the live Application with everything that the file says.
func overwritten(live, config *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	schemas := cli.TypesOf(cli.ApplicationObject)
	typedLive, err := schemas.ObjectToTyped(withoutRecord(live))
	if err != nil {
		return nil, err
	}
	typedConfig, err := schemas.ObjectToTyped(config)
	if err != nil {
		return nil, err
	}
	merged, err := typedLive.Merge(typedConfig)
	if err != nil {
		return nil, err
	}
	content, ok := merged.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("merging Application %s: no object", config.GetName())
	}
	return &unstructured.Unstructured{Object: content}, nil
}

func withoutRecord(object *unstructured.Unstructured) *unstructured.Unstructured {
	bare := object.DeepCopy()
	bare.SetManagedFields(nil)
	return bare
}

func explain(err error, config *unstructured.Unstructured) error {
	if apierrors.IsNotFound(err) {
		// An apply creates what is not there, so it is the namespace that is missing, or the kind.
		return cli.Explain(err, cli.Request{Verb: "patch", Resource: schema.GroupResource{Resource: "namespaces"}, Name: config.GetNamespace()})
	}
	return cli.Explain(err, cli.Request{Verb: "patch", Resource: cli.ApplicationResource, Namespace: config.GetNamespace(), Name: config.GetName()})
}
