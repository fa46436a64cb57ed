package desired

import (
	_ "os" // want "pure"

	_ "k8s.io/client-go/applyconfigurations/apps/v1"
	_ "k8s.io/client-go/kubernetes"               // want "pure"
	_ "sigs.k8s.io/controller-runtime/pkg/client" // want "pure"
)
