package integration

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/harness"
)

// passage is what a gate does about a write of the operator. The write was made for an object that may have changed since:
// what a passage writes itself is there before. It returns whether the write may go on.
type passage func(write *admissionv1.AdmissionRequest) bool

// gate stops each write of the operator in the spec's namespace just before it is stored. It makes races happen at will.
type gate struct {
	passage atomic.Pointer[passage]
	probed  atomic.Bool
}

// addGate puts up a gate that lets everything pass. It goes with the spec.
func addGate(ctx context.Context) *gate {
	GinkgoHelper()
	g := &gate{}
	g.set(func(*admissionv1.AdmissionRequest) bool { return true })
	server := httptest.NewTLSServer(http.HandlerFunc(g.serve))
	DeferCleanup(server.Close)

	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	Expect(env.CreateYAML(ctx, "tests", "", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: gate.example.com
  clientConfig: {url: %[2]s, caBundle: %[3]s}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [deployments, services, applications, applications/status]}]
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  timeoutSeconds: 30`, namespace, server.URL, base64.StdEncoding.EncodeToString(authority)))).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		g.set(func(*admissionv1.AdmissionRequest) bool { return true })
		kubectl(ctx, "delete", "validatingwebhookconfiguration", namespace)
	})
	Eventually(ctx, func(ctx context.Context) (bool, error) {
		return g.probed.Load(), env.Client.Create(ctx, probeDeployment(), client.DryRunAll)
	}).Should(BeTrue())
	return g
}

// set changes what happens to the writes that come.
func (g *gate) set(do passage) { g.passage.Store(&do) }

// once lets do meet the first write that it is meant for, and everything else pass.
func (g *gate) once(meant func(write *admissionv1.AdmissionRequest) bool, do func() bool) (met *atomic.Bool) {
	met = &atomic.Bool{}
	g.set(func(write *admissionv1.AdmissionRequest) bool {
		if meant(write) && met.CompareAndSwap(false, true) {
			return do()
		}
		return true
	})
	return met
}

func (g *gate) serve(w http.ResponseWriter, r *http.Request) {
	defer GinkgoRecover()
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if review.Request.UserInfo.Username == harness.OperatorUser {
		review.Response.Allowed = (*g.passage.Load())(review.Request)
		review.Response.Result = &metav1.Status{Code: http.StatusServiceUnavailable, Message: "the gate is closed"}
	} else {
		g.probed.Store(true)
	}
	w.Header().Set("Content-Type", "application/json")
	Expect(json.NewEncoder(w).Encode(review)).To(Succeed())
}

// applyOf selects the writes of a resource by a field manager.
func applyOf(resource, manager string) func(*admissionv1.AdmissionRequest) bool {
	return func(write *admissionv1.AdmissionRequest) bool {
		options := &metav1.PatchOptions{}
		_ = json.Unmarshal(write.Options.Raw, options) // options of another kind name no manager
		return write.Resource.Resource == resource && write.SubResource == "" && options.FieldManager == manager
	}
}

// crashAt ends the operator just before the n-th write that is meant is stored, and starts it anew after what happens
// meanwhile.
func crashAt(ctx context.Context, g *gate, n int, meant func(*admissionv1.AdmissionRequest) bool, cause func(), meanwhile ...func()) {
	GinkgoHelper()
	dead, came := make(chan struct{}), 0
	g.set(func(write *admissionv1.AdmissionRequest) bool {
		if !meant(write) {
			return true
		}
		came++ // the operator writes an object's children one after the other
		if came != n {
			return came < n
		}
		defer close(dead)
		env.KillOperator()
		return false
	})
	cause()
	Eventually(dead).Should(BeClosed(), "the operator never came there")
	for _, do := range meanwhile {
		do()
	}
	g.set(func(*admissionv1.AdmissionRequest) bool { return true })
	Expect(env.StartOperator(ctx, operatorFlags...)).To(Succeed())
}

// statusApply selects the writes of an Application's status.
func statusApply(write *admissionv1.AdmissionRequest) bool {
	return write.Resource.Resource == v1alpha1.Resource && write.SubResource == "status"
}
