package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// fewRejections is how often one object may answer 409 within a story: races happen, hot loops don't.
const fewRejections = 5

// now marks the end of the audit log.
func now() cluster.Mark {
	GinkgoHelper()
	mark, err := env.Audit().Mark()
	Expect(err).NotTo(HaveOccurred())
	return mark
}

// writesSince returns the operator's writes in the spec's namespace, Events left out.
func writesSince(mark cluster.Mark, filters ...cluster.Filter) cluster.Events {
	GinkgoHelper()
	writes, err := env.OperatorWrites(mark, append(filters, cluster.InNamespace(namespace))...)
	Expect(err).NotTo(HaveOccurred())
	return writes
}

// eventWritesSince counts the operator's writes of Events in the spec's namespace.
func eventWritesSince(mark cluster.Mark) int {
	GinkgoHelper()
	writes, err := env.OperatorRequests(mark, cluster.Writes(), cluster.OnResource("events"), cluster.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	return len(writes)
}

// appliesTo counts the operator's applies of a resource.
func appliesTo(resource string, mark cluster.Mark) int {
	GinkgoHelper()
	return len(writesSince(mark, cluster.WithVerb("patch"), cluster.OnResource(resource)))
}

// openWatches counts the operator's watches of a resource that are limited to the spec's namespace.
func openWatches(resource string) (open int) {
	GinkgoHelper()
	watches, err := env.Audit().Since(begin, cluster.ByUser(harness.OperatorUser), cluster.WithVerb("watch"),
		cluster.OnResource(resource), cluster.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	for _, watch := range watches {
		if watch.Stage == auditv1.StageResponseStarted {
			open++
		} else {
			open--
		}
	}
	return open
}

// expectNoWrites claims that the operator writes nothing for a while, nor has since mark.
func expectNoWrites(mark cluster.Mark) {
	GinkgoHelper()
	Consistently(func() cluster.Events { return writesSince(mark) }).Should(BeEmpty())
}

// waitForQuiet waits until the operator has written nothing for a while.
func waitForQuiet() {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		mark := now()
		g.Consistently(func() cluster.Events { return writesSince(mark) }).WithTimeout(quiet).Should(BeEmpty())
	}).Should(Succeed())
}

// expectWellBehavedWrites claims what holds for every request of the operator, in all namespaces.
func expectWellBehavedWrites(mark cluster.Mark) {
	GinkgoHelper()
	writes, err := env.OperatorWrites(mark)
	Expect(err).NotTo(HaveOccurred())
	rejections := map[string]int{}
	for _, write := range writes {
		Expect(write.Forced()).To(BeFalse(), "a forced write: %s", write)
		if write.Verb == "patch" {
			expectApply(write)
		} else {
			Expect(write.Verb).To(Equal("delete"), "neither apply nor delete: %s", write)
			Expect(write.ObjectRef.Resource).To(Equal("services"), "a delete of something other than a Service: %s", write)
		}
		if write.Code() == 409 && write.ResponseStatus.Details != nil && len(write.ResponseStatus.Details.Causes) > 0 {
			object := fmt.Sprintf("%s %s/%s", write.ObjectRef.Resource, write.ObjectRef.Namespace, write.ObjectRef.Name)
			rejections[object]++
			Expect(rejections[object]).To(BeNumerically("<=", fewRejections), "a hot loop of conflicts at %s", object)
		}
	}
}

// managers lists, by resource, the managers under which the operator applies, and what of the object each may hold
// besides its identity.
var managers = map[string]map[string][]string{
	"deployments":         {v1alpha1.FieldManager: nil, v1alpha1.FieldManagerHandover: {"spec.replicas"}},
	"services":            {v1alpha1.FieldManager: nil},
	"applications":        {v1alpha1.FieldManagerFinalizer: {"metadata.finalizers"}, v1alpha1.FieldManagerStatus: {}},
	"applications/status": {v1alpha1.FieldManagerStatus: {"status", "metadata.resourceVersion"}},
}

// expectApply claims that a patch was an apply, by the right manager, of nothing but what it may write, or that it changed
// nothing but who owns what.
func expectApply(patch cluster.Event) {
	GinkgoHelper()
	resource := patch.ObjectRef.Resource
	if patch.ObjectRef.Subresource != "" {
		resource += "/" + patch.ObjectRef.Subresource
	}
	manager := patch.FieldManager()
	Expect(managers[resource]).To(HaveKey(manager), patch.String())
	if patch.RequestBody() == "" {
		// The authorizer said no before anybody read it, or its sender was killed.
		Expect(patch.Code()).To(Or(BeEquivalentTo(403), BeZero(), BeNumerically(">=", 500)), patch.String())
		return
	}
	if strings.HasPrefix(patch.RequestBody(), "[") {
		expectRecordPatch(patch)
		return
	}

	body := &unstructured.Unstructured{}
	// The log does not tell the content type. Only an apply names the kind in its body, and only an apply leaves an
	// entry with the operation Apply.
	Expect(json.Unmarshal([]byte(patch.RequestBody()), &body.Object)).To(Succeed(), patch.String())
	Expect(body.GetAPIVersion()).NotTo(BeEmpty(), "not an apply: %s", patch)
	Expect(body.GetKind()).NotTo(BeEmpty(), "not an apply: %s", patch)
	Expect(body.GetManagedFields()).To(BeNil(), "managedFields sent back: %s", patch)
	expectNothingBut(body.Object, manager, managers[resource][manager], patch)
	expectNoEmptyValues(body.Object, patch)
	if _, shares := body.Object["spec"]; shares && manager == v1alpha1.FieldManagerHandover {
		Expect(body.GetResourceVersion()).NotTo(BeEmpty(), "a value that was read goes with the version that it was read at: %s", patch)
	}

	if patch.Code() != 200 && patch.Code() != 201 {
		return
	}
	answer := &unstructured.Unstructured{}
	Expect(json.Unmarshal([]byte(patch.ResponseBody()), &answer.Object)).To(Succeed())
	entry := ContainElement(And(HaveField("Manager", manager), HaveField("Operation", metav1.ManagedFieldsOperationApply)))
	switch manager {
	case v1alpha1.FieldManager, v1alpha1.FieldManagerStatus:
		Expect(answer.GetManagedFields()).To(entry, patch.String())
	default:
		// Whoever applies nothing but the identity lets go of everything.
	}
}

// expectNothingBut claims that an apply holds the object's identity, with its version or without, and, if these are limited, nothing but these fields.
func expectNothingBut(body map[string]any, manager string, fields []string, patch cluster.Event) {
	GinkgoHelper()
	if len(fields) == 0 {
		Expect(body).NotTo(HaveKey("status"), "%s: %s", manager, patch)
		return
	}
	rest := (&unstructured.Unstructured{Object: body}).DeepCopy().Object
	for _, field := range append([]string{"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion"}, fields...) {
		unstructured.RemoveNestedField(rest, strings.Split(field, ".")...)
	}
	walk("", rest, func(path string, value any) {
		Expect(value).To(BeAssignableToTypeOf(map[string]any{}), "%s applies %s: %s", manager, path, patch)
	})
}

// expectRecordPatch claims that a JSON patch changes nothing but who owns what of a child, and only of the version that
// it was made for.
func expectRecordPatch(patch cluster.Event) {
	GinkgoHelper()
	var operations []struct{ Path string }
	Expect(json.Unmarshal([]byte(patch.RequestBody()), &operations)).To(Succeed(), patch.String())
	Expect(operations).To(ContainElement(HaveField("Path", "/metadata/resourceVersion")), "no lock: %s", patch)
	Expect(operations).To(HaveEach(HaveField("Path", BeElementOf(
		"/metadata/managedFields", "/metadata/ownerReferences", "/metadata/finalizers/0", "/metadata/resourceVersion"))), patch.String())
}

// onPurpose are the fields of which a spec of this suite wants the empty value, in a partial object.
var onPurpose = []string{"annotations", "args", "emptyDir", "nodeSelector", "securityContext", "tolerations"}

// expectNoEmptyValues claims that an apply carries no value that stands for nothing: each would be owned.
func expectNoEmptyValues(body map[string]any, patch cluster.Event) {
	GinkgoHelper()
	if patch.ObjectRef.Resource == v1alpha1.Resource {
		return // the status mirrors what the children report
	}
	walk("", body, func(path string, value any) {
		if slices.Contains(onPurpose, path[strings.LastIndex(path, ".")+1:]) {
			return
		}
		switch v := value.(type) {
		case nil:
			Fail(fmt.Sprintf("%s is null in %s", path, patch))
		case map[string]any:
			Expect(v).NotTo(BeEmpty(), "%s is empty in %s", path, patch)
			Expect(v).NotTo(HaveKey("creationTimestamp"), patch.String())
		case []any:
			Expect(v).NotTo(BeEmpty(), "%s is empty in %s", path, patch)
		}
	})
}

// walk calls visit for each value below an object of a JSON document.
func walk(path string, value any, visit func(path string, value any)) {
	visit(path, value)
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			walk(path+"."+key, child, visit)
		}
	case []any:
		for _, child := range v {
			walk(path+"[]", child, visit)
		}
	}
}
