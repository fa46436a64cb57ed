package transition_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/applyconfigs/transition"
	"mycompany.io/application-operator/test/cluster"
)

// realServer is one Deployment on a real API server, with its defaulting and its validation.
type realServer struct {
	t       *testing.T
	clients *kubernetes.Clientset
	objects dynamic.ResourceInterface
}

// startServer starts a server that the subtests share; each has a Deployment of its own.
func startServer(t *testing.T) (fresh func(t *testing.T) *realServer) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	clients, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	resource := objects.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace("shop")
	return func(t *testing.T) *realServer {
		t.Helper()
		s := &realServer{t: t, clients: clients, objects: resource}
		if err := resource.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		return s
	}
}

func (s *realServer) must(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *realServer) live() *appsv1.Deployment {
	s.t.Helper()
	live, err := s.clients.AppsV1().Deployments("shop").Get(s.t.Context(), "web", metav1.GetOptions{})
	s.must(live, err)
	return live
}

// apply sends an apply of a manager's own.
func (s *realServer) apply(manager, config string, force bool) error {
	s.t.Helper()
	_, err := s.objects.Apply(s.t.Context(), "web", deployment(s.t, config), metav1.ApplyOptions{FieldManager: manager, Force: force})
	return err
}

// edit changes the Deployment as kubectl edit does.
func (s *realServer) edit(manager, spec string) {
	s.t.Helper()
	patch, err := yaml.YAMLToJSON([]byte("{spec: " + spec + "}"))
	s.must(patch, err)
	s.must(s.objects.Patch(s.t.Context(), "web", apitypes.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: manager}))
}

// replace changes the Deployment as kubectl edit does, lists as a whole.
func (s *realServer) replace(manager, spec string) {
	s.t.Helper()
	patch, err := yaml.YAMLToJSON([]byte("{spec: " + spec + "}"))
	s.must(patch, err)
	s.must(s.objects.Patch(s.t.Context(), "web", apitypes.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}))
}

// plan plans how to get to what is wanted.
func (s *realServer) plan(wanted string, policy v1alpha1.ConflictPolicy) *transition.Plan {
	s.t.Helper()
	return planned(s.t, wanted, s.live(), policy)
}

// send applies steps, unforced.
func (s *realServer) send(steps ...transition.Step) {
	s.t.Helper()
	for n, step := range steps {
		if _, err := s.objects.Apply(s.t.Context(), "web", step.Object(), metav1.ApplyOptions{FieldManager: step.Manager().Name}); err != nil {
			s.t.Fatalf("step %d: %v", n+1, err)
		}
	}
}

// reach gets to what is wanted, if crashing by a new plan after each step, and asserts that nothing is left to do.
func (s *realServer) reach(wanted string, policy v1alpha1.ConflictPolicy, crashing bool) {
	s.t.Helper()
	for range 10 {
		plan := s.plan(wanted, policy)
		switch {
		case len(plan.Steps) == 0:
			return
		case crashing:
			s.send(plan.Steps[0])
		default:
			s.send(plan.Steps...)
			if rest := s.plan(wanted, policy); len(rest.Steps) > 0 {
				s.t.Fatalf("at rest there are steps %q (%s)", steps(rest), rest.Difference)
			}
		}
	}
	s.t.Fatal("never at rest")
}

// forget takes a manager out of the record, and changes nothing else.
func (s *realServer) forget(manager string) {
	s.t.Helper()
	live := s.live()
	var others []metav1.ManagedFieldsEntry
	for _, entry := range live.ManagedFields {
		if entry.Manager != manager {
			others = append(others, entry)
		}
	}
	live.ManagedFields = others
	s.must(s.clients.AppsV1().Deployments("shop").Update(s.t.Context(), live, metav1.UpdateOptions{FieldManager: "janitor"}))
}

func mustPath(t *testing.T, path string) fieldpath.Path {
	t.Helper()
	parsed, err := ownership.ParsePath(types, appsv1.SchemeGroupVersion.WithKind("Deployment"), path)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
