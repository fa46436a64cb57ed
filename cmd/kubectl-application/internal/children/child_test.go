package children

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/cmd/kubectl-application/internal/cli"
)

func TestHindrance(t *testing.T) {
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u-1"}, Spec: v1alpha1.ApplicationSpec{Image: "x"}}
	ours := metav1.OwnerReference{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.Kind, Name: "web", UID: "u-1", Controller: new(true)}
	earlier, theirs := ours, ours
	earlier.UID = "u-0"
	theirs.Kind, theirs.Name, theirs.UID = "Site", "shop", "u-2"

	for name, tc := range map[string]struct {
		owner    *metav1.OwnerReference
		consents bool
		selector map[string]any
		going    bool
		want     string
	}{
		"its own":                  {owner: &ours},
		"its own, going":           {owner: &ours, going: true, want: "is being deleted"},
		"nobody's":                 {want: "does not belong to this Application, so the operator leaves it alone: delete or rename it, or let it be adopted by the annotation application.mycompany.io/adopt=web on it"},
		"nobody's, which consents": {consents: true},
		"not to be adopted": {selector: map[string]any{"app": "web"}, want: `does not belong to this Application, so the operator leaves it alone: delete it, or give the Application another name. ` +
			`It cannot be adopted: its selector is "app=web" where the Application's is "app=web,owner=application-operator", and the selector of a Deployment cannot be changed`},
		"not to be adopted, which consents": {consents: true, selector: map[string]any{"app": "web"}, want: `asks to be adopted by the annotation application.mycompany.io/adopt, which cannot be done: its selector is "app=web"`},
		"another's":                         {owner: &theirs, want: "is controlled by Site shop and not by this Application"},
		"another's that consents":           {owner: &theirs, consents: true, want: "is controlled by Site shop"},
		"an earlier Application's":          {owner: &earlier, want: "is controlled by Application web and not by this Application"},
	} {
		live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
		live.SetName("web")
		if tc.selector == nil {
			tc.selector = map[string]any{"app": "web", "owner": "application-operator"}
		}
		if err := unstructured.SetNestedMap(live.Object, tc.selector, "spec", "selector", "matchLabels"); err != nil {
			t.Fatal(err)
		}
		if tc.owner != nil {
			live.SetOwnerReferences([]metav1.OwnerReference{*tc.owner})
		}
		if tc.consents {
			live.SetAnnotations(map[string]string{v1alpha1.AnnotationAdopt: "web"})
		}
		if tc.going {
			live.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
		}
		child, err := New(app, cli.DeploymentObject, live)
		if err != nil {
			t.Fatal(err)
		}
		if got := child.Hindrance(); (tc.want == "") != (got == "") || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	absent, err := New(app, cli.ServiceObject, nil)
	if err != nil || absent.Hindrance() != "" || absent.Intent != nil {
		t.Errorf("what is neither there nor wanted: %+v, %v", absent, err)
	}
	if _, err := Wanted(app, cli.StatusObject); err == nil {
		t.Error("the status is taken for a child")
	}
}
