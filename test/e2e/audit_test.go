package e2e

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// mark is the present end of the audit log.
func mark() cluster.Mark {
	GinkgoHelper()
	m, err := env.Audit().Mark()
	Expect(err).NotTo(HaveOccurred())
	return m
}

// operatorRequests are the operator's requests since m, those of an operator at rest left out.
func operatorRequests(m cluster.Mark, filters ...cluster.Filter) cluster.Events {
	GinkgoHelper()
	events, err := env.OperatorRequests(m, filters...)
	Expect(err).NotTo(HaveOccurred())
	return events
}

// operatorWrites are the operator's writes since m, Events left out.
func operatorWrites(m cluster.Mark, filters ...cluster.Filter) cluster.Events {
	GinkgoHelper()
	events, err := env.OperatorWrites(m, filters...)
	Expect(err).NotTo(HaveOccurred())
	return events
}

// requestsOfAnyone are all requests since m.
func requestsOfAnyone(m cluster.Mark, filters ...cluster.Filter) cluster.Events {
	GinkgoHelper()
	events, err := env.Audit().Since(m, append(filters, cluster.Complete())...)
	Expect(err).NotTo(HaveOccurred())
	return events
}

// expectPoliteWrites asserts what holds for every request of the operator, in any story: it writes by unforced apply
// and by deletes with preconditions, and under the managers of its contract.
func expectPoliteWrites(since cluster.Mark) {
	GinkgoHelper()
	managers := map[string][]string{
		"deployments":         {v1alpha1.FieldManager, v1alpha1.FieldManagerHandover},
		"services":            {v1alpha1.FieldManager},
		"applications":        {v1alpha1.FieldManagerFinalizer, v1alpha1.FieldManagerStatus},
		"applications/status": {v1alpha1.FieldManagerStatus},
	}
	Expect(requestsOfAnyone(since, cluster.ByUser(harness.OperatorUser), cluster.Forced())).To(BeEmpty(), "forced")
	Expect(operatorWrites(since, cluster.OnResource("applications/status"), cluster.WithCode(400, 422, 500), cluster.Except(meantForAnother))).
		To(BeEmpty(), "status fits its schema")
	for _, e := range operatorWrites(since) {
		resource := resourceOf(e)
		if e.RequestBody() == "" {
			// Nothing can be said of a request that broke off with its sender.
			Expect(e.Code()).NotTo(BeNumerically("<", 300), e.String())
			continue
		}
		switch e.Verb {
		case "patch":
			Expect(managers[resource]).To(ContainElement(e.FieldManager()), e.String())
			if strings.HasPrefix(e.RequestBody(), "[") {
				expectRecordPatch(e)
				continue
			}
			// Only an apply names its kind. The log does not tell the content type.
			patch := decode[metav1.TypeMeta](e.RequestBody())
			Expect(patch.Kind).NotTo(BeEmpty(), e.String())
			Expect(patch.APIVersion).NotTo(BeEmpty(), e.String())
		case "delete":
			Expect(resource).To(Equal("services"), e.String())
			options := decode[metav1.DeleteOptions](e.RequestBody())
			Expect(options.Preconditions).NotTo(BeNil(), e.String())
			Expect(options.Preconditions.UID).NotTo(BeNil(), e.String())
			Expect(options.Preconditions.ResourceVersion).NotTo(BeNil(), e.String())
		default:
			Fail("neither an apply nor a delete: " + e.String())
		}
	}
}

// expectRecordPatch asserts that a JSON patch changes nothing but who owns what, and only of the version that
// it was made for.
func expectRecordPatch(e cluster.Event) {
	GinkgoHelper()
	operations := decode[[]struct{ Path string }](e.RequestBody())
	Expect(operations).To(ContainElement(HaveField("Path", "/metadata/resourceVersion")), "no lock: %s", e)
	Expect(operations).To(HaveEach(HaveField("Path", BeElementOf(
		"/metadata/managedFields", "/metadata/ownerReferences", "/metadata/finalizers/0", "/metadata/resourceVersion"))), e.String())
}

// meantForAnother selects what was refused since an object of the name had come that is another one.
func meantForAnother(e cluster.Event) bool {
	return strings.Contains(e.ResponseStatus.Message, "metadata.uid")
}

func resourceOf(e cluster.Event) string {
	if e.ObjectRef.Subresource != "" {
		return e.ObjectRef.Resource + "/" + e.ObjectRef.Subresource
	}
	return e.ObjectRef.Resource
}

// child reads the parts of a child that tell whom it belongs to, from a body in the audit log.
type child struct {
	Metadata struct {
		UID             types.UID               `json:"uid"`
		Name            string                  `json:"name"`
		OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
	} `json:"metadata"`
}

func (c child) owners() []types.UID {
	var owners []types.UID
	for _, reference := range c.Metadata.OwnerReferences {
		owners = append(owners, reference.UID)
	}
	return owners
}

func decode[T any](body string) T {
	GinkgoHelper()
	var value T
	Expect(json.Unmarshal([]byte(body), &value)).To(Succeed(), body)
	return value
}
