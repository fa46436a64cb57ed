package controllers

import (
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The answers of an API server, as client-go hands them out.

var (
	deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}
	namespaces  = schema.GroupResource{Resource: "namespaces"}
)

// answered returns an answer for which apimachinery has no constructor.
func answered(code int32, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

// fieldConflict is the answer to an unforced apply of a contested field.
func fieldConflict() error {
	err := apierrors.NewApplyConflict([]metav1.StatusCause{{
		Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.replicas",
		Message: `conflict with "kubectl" with subresource "scale" using apps/v1`,
	}}, `Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas`)
	return err
}

func staleVersion() error {
	return apierrors.NewConflict(deployments, "web", errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

// uidMismatch is the answer to an apply with the UID of an object that is gone.
func uidMismatch() error {
	return apierrors.NewConflict(deployments, "web", errors.New("uid mismatch: the provided object specified uid child-uid, and no existing object was found"))
}

func invalid() error {
	return apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web",
		field.ErrorList{field.Invalid(field.NewPath("spec", "template", "spec", "containers").Index(0).Child("image"), " ", "must not have leading or trailing whitespace")})
}

// untyped is the answer to an apply that does not fit the schema.
func untyped() error {
	return answered(http.StatusInternalServerError, "",
		`failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="app"].env: duplicate entries for key [name="A"]`)
}

// webhookFailed is the answer while a webhook cannot be reached, in the course of which the system picks a source port.
func webhookFailed(port int) error {
	return apierrors.NewInternalError(fmt.Errorf(`failed calling webhook "check.example.com": failed to call webhook: `+
		`Post "https://check.default.svc:443/validate?timeout=10s": read tcp 10.0.0.7:%d->10.96.3.4:443: read: connection reset by peer`, port))
}

func deniedByRBAC() error {
	return apierrors.NewForbidden(deployments, "web", errors.New(`User "operator" cannot patch resource "deployments" in API group "apps" in the namespace "shop"`))
}

func overQuota() error {
	return apierrors.NewForbidden(deployments, "web", errors.New("exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=4, limited: count/deployments.apps=4"))
}

func deniedByAdmissionPolicy() error {
	return answered(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid,
		`deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: at most 3 replicas`)
}

func namespaceTerminating() error {
	err := apierrors.NewForbidden(deployments, "web", errors.New("unable to create new content in namespace shop because it is being terminated"))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
		metav1.StatusCause{Type: corev1.NamespaceTerminatingCause, Message: "namespace shop is being terminated", Field: "metadata.namespace"})
	return err
}
