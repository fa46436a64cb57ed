package controllers

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata/fake"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs"
)

// server stands for an API server in those of its moods that a real one can't be brought into at will. It knows nothing
// of ownership and merges nothing: it hands out what it is told to, or fails. What it is asked to write, it notes down.
type server struct {
	// cached and stored are what the cache and the API server hold, by kind.
	cached, stored map[string]client.Object
	// fails holds an error for "cached KIND", "stored KIND", "apply KIND", "apply status", "patch KIND" or "delete KIND".
	fails map[string]error
	// requests are the writes.
	requests []string
	// uids are those that the writes were bound to, by request.
	uids map[string]types.UID
	// versions are the resource versions that the applies were bound to, by request.
	versions map[string]string
	// patches are the bodies of the patches, by request.
	patches map[string]string
	// status is the status that was last applied.
	status v1alpha1.ApplicationStatus
}

// newReconciler returns a reconciler on a server that holds an Application which is new.
func newReconciler(t testing.TB) (*Reconciler, *server, *recorder) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{cached: map[string]client.Object{}, stored: map[string]client.Object{}, fails: map[string]error{}, uids: map[string]types.UID{},
		versions: map[string]string{}, patches: map[string]string{}}
	s.cached["Application"], s.stored["Application"] = newApp(), newApp()
	recorder := &recorder{t: t}
	strangers := newStrangers(fake.NewSimpleMetadataClient(fake.NewTestScheme()))
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		_ = strangers.Start(ctx)
	})
	cachedClient := interceptor.NewClient(noClient{scheme: scheme}, interceptor.Funcs{
		Get: s.reader("cached", s.cached),
		Apply: func(_ context.Context, _ client.WithWatch, config runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			object, manager := applied(t, config), v1alpha1.FieldManager
			if object.GetKind() == v1alpha1.Kind {
				manager = v1alpha1.FieldManagerFinalizer
			}
			as := new(client.ApplyOptions).ApplyOptions(options)
			if as.FieldManager == v1alpha1.FieldManagerHandover && as.Force == nil && object.GetKind() == deploymentChild.kind {
				return s.write("hand over "+object.GetKind(), object)
			}
			if as.FieldManager != manager || as.Force != nil {
				t.Errorf("applied as %q, force %v", as.FieldManager, as.Force)
			}
			return s.write("apply "+object.GetKind(), object)
		},
		SubResourceApply: func(_ context.Context, _ client.Client, subresource string, config runtime.ApplyConfiguration, options ...client.SubResourceApplyOption) error {
			object := applied(t, config)
			as := new(client.SubResourceApplyOptions).ApplyOpts(options)
			if as.FieldManager != v1alpha1.FieldManagerStatus || as.Force != nil || object.GetUID() != appUID {
				t.Errorf("status applied as %q, force %v, to uid %q", as.FieldManager, as.Force, object.GetUID())
			}
			app := &v1alpha1.Application{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, app); err != nil {
				t.Error(err)
			}
			s.status = app.Status
			return s.write("apply "+subresource, object)
		},
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
			data, err := patch.Data(object)
			if err != nil || patch.Type() != types.JSONPatchType {
				t.Errorf("patch of type %s: %v", patch.Type(), err)
			}
			request := "patch " + kindOf(object)
			s.patches[request] = string(data)
			if err := s.write(request, nil); err != nil {
				return err
			}
			object.SetResourceVersion(fmt.Sprint(1000 + len(s.requests)))
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			only := new(client.DeleteOptions).ApplyOptions(options).Preconditions
			if only == nil || only.UID == nil || *only.UID != object.GetUID() || only.ResourceVersion == nil || *only.ResourceVersion != object.GetResourceVersion() {
				t.Errorf("deletes with the preconditions %v: it could be another object by now", only)
			}
			return s.write("delete "+kindOf(object), nil)
		},
	})
	return &Reconciler{
		Client:      cachedClient,
		APIReader:   interceptor.NewClient(noClient{scheme: scheme}, interceptor.Funcs{Get: s.reader("stored", s.stored)}),
		Recorder:    recorder,
		Clock:       clocktesting.NewFakePassiveClock(start),
		childTypes:  applyconfigurations.NewTypeConverter(scheme),
		statusTypes: applyconfigs.NewTypeConverter(scheme),
		noOps:       newNoOps(),
		wants:       newWants(),
		strangers:   strangers,
		writes:      newOwnWrites(),
		metrics:     newInstruments(),
		announced:   newAnnouncements(),
	}, s, recorder
}

// noClient fails the test, by a nil pointer, for whatever the reconciler has no business to do.
type noClient struct {
	client.WithWatch
	scheme *runtime.Scheme
}

func (c noClient) Scheme() *runtime.Scheme { return c.scheme }

func (s *server) reader(where string, objects map[string]client.Object) func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
	return func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
		kind := kindOf(into)
		if err := s.fails[where+" "+kind]; err != nil {
			return err
		}
		object, found := objects[kind]
		if !found || key != webKey {
			return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
		}
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(object.DeepCopyObject()).Elem())
		return nil
	}
}

// write notes the request down. Unless it is to fail, the answer goes into object, as from a client.
func (s *server) write(request string, object *unstructured.Unstructured) error {
	s.requests = append(s.requests, request)
	if err := s.fails[request]; err != nil {
		return err
	}
	if object != nil {
		s.uids[request], s.versions[request] = object.GetUID(), object.GetResourceVersion()
		object.SetResourceVersion(fmt.Sprint(1000 + len(s.requests)))
		if object.GetUID() == "" {
			object.SetUID("new-uid")
		}
	}
	return nil
}

// has makes both the cache and the API server hold an object.
func (s *server) has(objects ...client.Object) {
	for _, object := range objects {
		s.cached[kindOf(object)], s.stored[kindOf(object)] = object, object
	}
}

func (s *server) asked(request string) bool { return slices.Contains(s.requests, request) }

func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }

func applied(t testing.TB, config runtime.ApplyConfiguration) *unstructured.Unstructured {
	t.Helper()
	content, ok := config.(runtime.Unstructured)
	if !ok {
		t.Fatalf("applied %T", config)
	}
	return &unstructured.Unstructured{Object: content.UnstructuredContent()}
}

func reconcileWeb(t testing.TB, r *Reconciler) error {
	t.Helper()
	result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: webKey})
	if result != (ctrl.Result{}) {
		t.Errorf("got %+v: the operator waits for events, not for time", result)
	}
	return err
}
