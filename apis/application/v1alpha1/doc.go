// Package v1alpha1 is the Application API: what users write and what the operator reports back.
//
// It also holds the names that are part of the contract with users and other controllers: field managers,
// labels, annotations, condition types and reasons.
//
// +kubebuilder:object:generate=true
// +groupName=application.mycompany.io
package v1alpha1
