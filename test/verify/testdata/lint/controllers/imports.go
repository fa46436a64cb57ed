package controllers

import (
	_ "io/ioutil" // want "use io and os"
	_ "os/exec"   // want "no linter sees what another program writes"
	_ "testing"   // want "for tests only"

	core "k8s.io/api/core/v1"                           // want "corev1"
	"k8s.io/apimachinery/pkg/api/errors"                // want "apierrors"
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"           // want "metav1"
	apps "k8s.io/client-go/applyconfigurations/apps/v1" // want "appsv1ac"
	_ "k8s.io/utils/pointer"                            // want "utils/ptr"
	controllerruntime "sigs.k8s.io/controller-runtime"  // want "ctrl"
)

var (
	_ core.Pod
	_ v1.ObjectMeta
	_ = errors.IsConflict
	_ apps.DeploymentApplyConfiguration
	_ controllerruntime.Request
)
