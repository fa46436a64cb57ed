package controllers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordinationv1ac "k8s.io/client-go/applyconfigurations/coordination/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// TestAnnounceScopeGoesOn: whatever the API server says to the scope, the operator does not end by it.
func TestAnnounceScopeGoesOn(t *testing.T) {
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	conflict := apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict}}, `conflict with "kubectl-annotate"`)
	for _, c := range []struct {
		name    string
		answers []error
		logged  []string
	}{
		{"accepted", []error{nil}, nil},
		{"contested", []error{conflict, conflict, conflict, nil}, []string{"Remove the annotation application.mycompany.io/scope"}},
		{"forbidden", []error{apierrors.NewForbidden(leases, "operator", errors.New("no right")), nil}, []string{"Grant the right to patch the Lease"}},
		{"contested for long", slices.Concat(slices.Repeat([]error{conflict}, 9), []error{nil}), []string{"Remove the annotation"}},
		{"unavailable, then contested", []error{errors.New("connection refused"), conflict, nil}, []string{"It is tried again", "Remove the annotation"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(start)
			tried := make(chan error)
			a := &announceScope{lease: client.ObjectKey{Namespace: "ops", Name: v1alpha1.LeaseName}, scope: scopeOf(t, "", "shop"), clock: clock}
			a.client = interceptor.NewClient(noClient{}, interceptor.Funcs{
				Apply: func(ctx context.Context, _ client.WithWatch, config runtime.ApplyConfiguration, options ...client.ApplyOption) error {
					if as := new(client.ApplyOptions).ApplyOptions(options); as.FieldManager != v1alpha1.FieldManagerScope || as.Force != nil {
						t.Errorf("applied as %q, force %v", as.FieldManager, as.Force)
					}
					lease := config.(*coordinationv1ac.LeaseApplyConfiguration)
					if diff := cmp.Diff(map[string]string{v1alpha1.AnnotationScope: `{"namespaces":["shop"]}`}, lease.Annotations); diff != "" || *lease.Namespace != "ops" {
						t.Errorf("the Lease of %s gets (-want +got):\n%s", *lease.Namespace, diff)
					}
					select {
					case err := <-tried:
						return err
					case <-ctx.Done():
						return ctx.Err()
					}
				},
			})
			var logged []string
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			ctx = logr.NewContext(ctx, funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
			ended := make(chan error, 1)
			go func() { ended <- a.Start(ctx) }()
			for i, answer := range c.answers {
				tried <- answer
				if i == len(c.answers)-1 {
					break
				}
				for !clock.HasWaiters() {
					time.Sleep(time.Millisecond)
				}
				clock.Step(min(time.Second<<i, time.Minute))
			}
			if err := <-ended; err != nil {
				t.Errorf("it ended with %v", err)
			}
			if ctx.Err() != nil {
				t.Error("it went on after it had succeeded")
			}
			if len(logged) != len(c.logged) {
				t.Fatalf("logged %q", logged)
			}
			for i, part := range c.logged {
				if !strings.Contains(logged[i], part) {
					t.Errorf("logged %s, want %s", logged[i], part)
				}
			}
		})
	}
}

func TestAnnounceScopeStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &announceScope{clock: clocktesting.NewFakeClock(start)}
	a.client = interceptor.NewClient(noClient{}, interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			time.AfterFunc(time.Millisecond, cancel)
			return errors.New("connection refused")
		},
	})
	if err := a.Start(ctx); err != nil {
		t.Errorf("it ended with %v", err)
	}

	// An apply that was cut off by the end is no news.
	ctx = logr.NewContext(ctx, funcr.New(func(_, args string) { t.Errorf("logged %s", args) }, funcr.Options{}))
	if err := a.Start(ctx); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
