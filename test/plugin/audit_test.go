package plugin

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/test/cluster"
)

// begin is where the audit log of the running spec begins.
var begin cluster.Mark

var _ = BeforeEach(func() {
	var err error
	begin, err = env.Audit().Mark()
	Expect(err).NotTo(HaveOccurred())
})

// Whatever a spec is about: the plugin forces nothing, and the one thing that it writes to a child is who owns a field.
var _ = AfterEach(func() {
	for _, e := range pluginWrites(begin) {
		if e.Query().Get("dryRun") == "All" || e.Code() == 403 {
			continue // nothing was written, and of a forbidden request no body is logged
		}
		switch e.ObjectRef.Resource {
		case "events":
			Expect(e.Verb).To(Equal("create"), e.String())
		case "selfsubjectreviews":
		case "deployments", "services":
			Expect(e.Verb).To(Equal("patch"), e.String())
			Expect(e.FieldManager()).To(Equal("kubectl-application"), e.String())
			var operations []struct{ Op, Path string }
			Expect(json.Unmarshal([]byte(e.RequestBody()), &operations)).To(Succeed(), e.String())
			Expect(operations).To(ContainElement(And(HaveField("Op", "test"), HaveField("Path", "/metadata/resourceVersion"))), e.String())
			Expect(operations[1:]).To(HaveEach(HaveField("Path", HavePrefix("/metadata/managedFields/"))), e.String())
		default:
			Fail("the plugin must not write this: " + e.String())
		}
	}
})

// pluginWrites are the plugin's own writes since m, dry runs included. None is ever forced.
func pluginWrites(m cluster.Mark, filters ...cluster.Filter) cluster.Events {
	GinkgoHelper()
	writes, err := env.Audit().Since(m, append(filters, cluster.ByUserAgent("kubectl-application/"), cluster.Complete(), cluster.Writes())...)
	Expect(err).NotTo(HaveOccurred())
	for _, e := range writes {
		Expect(e.Forced()).To(BeFalse(), "forced: %s", e)
	}
	return writes
}

// realWrites are those that change something.
func realWrites(m cluster.Mark, filters ...cluster.Filter) cluster.Events {
	GinkgoHelper()
	return pluginWrites(m, append(filters, func(e cluster.Event) bool { return e.Query().Get("dryRun") == "" }, cluster.Except(cluster.OnResource("selfsubjectreviews")))...)
}
