package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// expectOwnership asserts that the operator owns just the fields that the Application wants: no more, no less.
func (s *space) expectOwnership(ctx context.Context, app *v1alpha1.Application) {
	GinkgoHelper()
	deployment, err := desired.Deployment(app)
	Expect(err).NotTo(HaveOccurred())
	expectOwned(s.deployment(ctx, app.Name), deployment)
	if service := desired.Service(app); service != nil {
		expectOwned(s.service(ctx, app.Name), service)
	}
}

func expectOwned(live client.Object, config any) {
	GinkgoHelper()
	operator := ownership.Applier(v1alpha1.FieldManager)
	intent, err := ownership.NewIntent(applyconfigurations.NewTypeConverter(env.Client.Scheme()), operator, config)
	Expect(err).NotTo(HaveOccurred())
	managed, err := ownership.Parse(live.GetManagedFields())
	Expect(err).NotTo(HaveOccurred())
	Expect(managed.Fields(operator).String()).To(Equal(intent.Fields().String()), "%T %s", live, live.GetName())
	for _, entry := range managed {
		if entry.Name == v1alpha1.FieldManager {
			Expect(entry.Manager).To(Equal(operator), "the operator owns by apply alone")
		}
	}
}
