package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

var _ = Describe("A webhook that reviews Deployments", func() {
	It("may deny: reported in its words, and overcome when it changes its mind", func(ctx SpecContext) {
		webhook := serveWebhook(ctx)
		webhook.deny("not on a Friday", 0)
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(beForbidden("Deployment", "not on a Friday"))
		Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))

		By("letting it say the same with a code of its own")
		webhook.deny("not on a Saturday either", http.StatusUnprocessableEntity)
		Eventually(ctx, application).Should(beForbidden("Deployment", "not on a Saturday either"))

		By("letting it allow")
		webhook.allow()
		eventuallySynced(ctx)
	})

	It("may be broken: reported, tried again, and overcome when it works", func(ctx SpecContext) {
		webhook := serveWebhook(ctx)
		webhook.breakDown()
		write(ctx, exposedSpec)
		Eventually(ctx, application).Should(haveCondition(v1alpha1.ConditionSynced, "False", v1alpha1.ReasonApplyFailed, ContainSubstring("failed calling webhook")))
		Expect(the(ctx, application).Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.ConditionStalled)), "no person has to act")
		Expect(the(ctx, service)).To(beControlledBy(the(ctx, application)))

		webhook.allow()
		eventuallySynced(ctx)
	})
})

// webhook answers reviews as it was last told to.
type webhook struct {
	answer atomic.Pointer[admissionv1.AdmissionResponse]
}

func (w *webhook) allow()     { w.answer.Store(&admissionv1.AdmissionResponse{Allowed: true}) }
func (w *webhook) breakDown() { w.answer.Store(nil) }

// deny uses the API server's own choice of a code for 0.
func (w *webhook) deny(message string, code int32) {
	w.answer.Store(&admissionv1.AdmissionResponse{Result: &metav1.Status{Message: message, Code: code}})
}

func (w *webhook) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	review := &admissionv1.AdmissionReview{}
	answer := w.answer.Load()
	if err := json.NewDecoder(request.Body).Decode(review); err != nil || answer == nil {
		http.Error(response, "out of order", http.StatusInternalServerError)
		return
	}
	review.Response = answer.DeepCopy()
	review.Response.UID = review.Request.UID
	_ = json.NewEncoder(response).Encode(review) // the API server reports what it can't read
}

// serveWebhook registers a webhook for the Deployments of the spec's namespace. It goes with the spec.
func serveWebhook(ctx context.Context) *webhook {
	GinkgoHelper()
	w := &webhook{}
	w.deny("still starting", 0)
	server := httptest.NewTLSServer(w)
	DeferCleanup(server.Close)
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "deployments.review.example",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      new(server.URL),
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	Expect(env.Client.Create(ctx, configuration)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, configuration)).To(Succeed()) })
	eventuallyDryRun(ctx, MatchError(ContainSubstring("still starting")))
	return w
}
