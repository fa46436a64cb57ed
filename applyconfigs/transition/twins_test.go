package transition_test

import (
	"testing"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// account is an intent with these fields in the pod's spec.
func account(fields string) string {
	return `{selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: "nginx:1"}], ` + fields + `}}}`
}

func (s *realServer) expectAccount(want string) {
	s.t.Helper()
	if pod := s.live().Spec.Template.Spec; pod.ServiceAccountName != want || pod.DeprecatedServiceAccount != want {
		s.t.Errorf("the service account is %q, and by its old name %q; want %q", pod.ServiceAccountName, pod.DeprecatedServiceAccount, want)
	}
}

// TestTwinsOnServer: a field of which the API server keeps a copy under another name goes when the intent lets go of it,
// by whichever name it was wanted.
func TestTwinsOnServer(t *testing.T) {
	fresh := startServer(t)
	for name, crashing := range map[string]bool{"without a crash": false, "with a crash after each step": true} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			s.must(nil, s.apply(v1alpha1.FieldManager, account("serviceAccountName: one"), false))
			s.must(nil, s.apply(v1alpha1.FieldManager, account(""), false))
			s.expectAccount("one") // a plain apply does not do
			for _, c := range []struct{ wanted, account string }{
				{"serviceAccountName: one", "one"}, {"", ""}, {"serviceAccount: two", "two"}, {"serviceAccount: again", "again"}, {"", ""},
				{"serviceAccountName: three", "three"}, {"serviceAccount: four", "four"}, {"serviceAccountName: five, serviceAccount: five", "five"}, {"", ""},
			} {
				s.reach(account(c.wanted), v1alpha1.ConflictAbort, crashing)
				s.expectAccount(c.account)
			}
		})
	}

	t.Run("what somebody else holds stays", func(t *testing.T) {
		s := fresh(t)
		s.must(nil, s.apply(v1alpha1.FieldManager, account("serviceAccountName: one"), false))
		s.must(nil, s.apply("ops", "{template: {spec: {serviceAccountName: one}}}", false))
		if got := steps(s.plan(account(""), v1alpha1.ConflictAbort)); got != "operator" {
			t.Errorf("steps are %q", got)
		}
		s.reach(account(""), v1alpha1.ConflictAbort, false)
		s.expectAccount("one")
	})

	t.Run("what somebody else holds by the name that counts is contested", func(t *testing.T) {
		s := fresh(t)
		const byName = ".spec.template.spec.serviceAccountName"
		s.must(nil, s.apply(v1alpha1.FieldManager, account("serviceAccount: one"), false))
		s.must(nil, s.apply("ops", "{template: {spec: {serviceAccountName: one}}}", false))
		blocked := s.plan(account("serviceAccount: two"), v1alpha1.ConflictAbort)
		if got := conflicts(blocked); got != byName+"=ops" || !blocked.Blocked {
			t.Errorf("conflicts are %q, blocked %t", got, blocked.Blocked)
		}
		if same := s.plan(account("serviceAccount: one"), v1alpha1.ConflictAbort); len(same.Conflicts) > 0 {
			t.Errorf("the same value is contested: %q", conflicts(same))
		}
		s.reach(account("serviceAccount: two"), v1alpha1.ConflictYield, false)
		s.expectAccount("one")

		s.must(nil, s.apply("ops", "{}", false))
		s.reach(account("serviceAccount: two"), v1alpha1.ConflictAbort, false)
		s.expectAccount("two")
	})
}
