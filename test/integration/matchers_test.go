package integration

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gcustom"
	"github.com/onsi/gomega/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// The two ways to own a field.
const (
	byApply  = metav1.ManagedFieldsOperationApply
	byUpdate = metav1.ManagedFieldsOperationUpdate
)

// Paths of fields that several stories fight about, as the API server writes them.
const (
	imageField    = `.spec.template.spec.containers[name="app"].image`
	replicasField = ".spec.replicas"
)

// haveCondition matches an Application that reports the condition about its newest generation.
func haveCondition(conditionType string, status metav1.ConditionStatus, reason string, message ...types.GomegaMatcher) types.GomegaMatcher {
	return gcustom.MakeMatcher(func(app *v1alpha1.Application) (bool, error) {
		condition := apimeta.FindStatusCondition(app.Status.Conditions, conditionType)
		if condition == nil || condition.Status != status || condition.Reason != reason ||
			condition.ObservedGeneration != app.Generation || app.Status.ObservedGeneration != app.Generation {
			return false, nil
		}
		for _, matcher := range message {
			if matches, err := matcher.Match(condition.Message); err != nil || !matches {
				return false, err
			}
		}
		return true, nil
	}).WithTemplate("Expected the Application {{.To}} have the condition {{.Data}}, but it is of generation {{.Actual.Generation}} and reports\n{{format .Actual.Status 1}}",
		fmt.Sprintf("%s=%s/%s", conditionType, status, reason))
}

// beSynced matches an Application whose children are as its newest generation wants them.
func beSynced() types.GomegaMatcher {
	return And(haveCondition(v1alpha1.ConditionSynced, metav1.ConditionTrue, v1alpha1.ReasonSynced), haveNoConflicts())
}

func haveNoConflicts() types.GomegaMatcher { return HaveField("Status.Conflicts", BeEmpty()) }

// haveConflicts matches an Application that waits for a person because of exactly these fields, in this order.
func haveConflicts(conflicts ...v1alpha1.FieldConflict) types.GomegaMatcher {
	return And(
		haveCondition(v1alpha1.ConditionSynced, metav1.ConditionFalse, v1alpha1.ReasonFieldConflict),
		haveCondition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonFieldConflict),
		haveCondition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonFieldConflict),
		HaveField("Status.Conflicts", Equal(conflicts)),
	)
}

// onDeployment and onService describe a conflict. The optional subresource is the one that the manager wrote through.
func onDeployment(field, manager string, operation metav1.ManagedFieldsOperationType, subresource ...string) v1alpha1.FieldConflict {
	return conflict("Deployment", "apps/v1", field, manager, operation, subresource)
}

func onService(field, manager string, operation metav1.ManagedFieldsOperationType) v1alpha1.FieldConflict {
	return conflict("Service", "v1", field, manager, operation, nil)
}

func conflict(kind, apiVersion, field, manager string, operation metav1.ManagedFieldsOperationType, subresource []string) v1alpha1.FieldConflict {
	c := v1alpha1.FieldConflict{Kind: kind, Name: web, Field: field, Manager: manager, Operation: operation, APIVersion: apiVersion}
	if len(subresource) > 0 {
		c.Subresource = subresource[0]
	}
	return c
}

func eventuallySynced(ctx context.Context) {
	GinkgoHelper()
	Eventually(ctx, application).Should(beSynced())
}

// eventuallyGone waits until the API server does not find the object any more.
func eventuallyGone(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) error {
		return env.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
	}).Should(MatchError(apierrors.IsNotFound, "is not found"))
}

// owned returns the leaves that a manager owns in an object by an operation, as paths.
func owned(object client.Object, manager string, operation metav1.ManagedFieldsOperationType, subresource string) []string {
	GinkgoHelper()
	var paths []string
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != operation || entry.Subresource != subresource {
			continue
		}
		set := &fieldpath.Set{}
		Expect(set.FromJSON(entry.FieldsV1.GetRawReader())).To(Succeed())
		set.Leaves().Iterate(func(path fieldpath.Path) { paths = append(paths, path.String()) })
	}
	slices.Sort(paths)
	return paths
}

// ownedByOperator returns the leaves that the operator owns in a child.
func ownedByOperator(child client.Object) []string {
	GinkgoHelper()
	return owned(child, v1alpha1.FieldManager, byApply, "")
}

// lieWithin matches a path that is the given one or below it.
func lieWithin(path string) types.GomegaMatcher {
	return Or(Equal(path), HavePrefix(path+"."), HavePrefix(path+"["))
}

// snapshot is what must not move while an object is left alone.
func snapshot(object client.Object) []string {
	return []string{string(object.GetUID()), object.GetResourceVersion()}
}

// transition returns when a condition last changed its status.
func transition(app *v1alpha1.Application, conditionType string) metav1.Time {
	GinkgoHelper()
	condition := apimeta.FindStatusCondition(app.Status.Conditions, conditionType)
	Expect(condition).NotTo(BeNil(), conditionType)
	return condition.LastTransitionTime
}
