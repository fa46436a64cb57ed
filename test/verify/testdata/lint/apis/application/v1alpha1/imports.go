package v1alpha1

import (
	_ "sigs.k8s.io/controller-runtime/pkg/scheme" // want "needs k8s.io/api and k8s.io/apimachinery only"
)
