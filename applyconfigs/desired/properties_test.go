package desired_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
)

// TestProperties checks, for many random specs, what holds for all of them.
func TestProperties(t *testing.T) {
	for seed := range uint64(200) {
		if checkProperties(t, application(newDice(seed).spec())); t.Failed() {
			t.Fatalf("first failure with seed %d", seed)
		}
	}
}

// FuzzProperties goes on where TestProperties ends.
func FuzzProperties(f *testing.F) {
	f.Add(uint64(1) << 40)
	f.Fuzz(func(t *testing.T, seed uint64) { checkProperties(t, application(newDice(seed).spec())) })
}

func checkProperties(t *testing.T, app *v1alpha1.Application) {
	t.Helper()
	before := app.DeepCopy()

	deployment, service := deploymentOf(t, app), serviceOf(t, app)
	noEmptyValues(t, "Deployment", deployment)
	noEmptyValues(t, "Service", service)
	canonicalQuantities(t, containerOf(t, app))
	if diff := cmp.Diff(expectedContainer(t, app), containerOf(t, app)); diff != "" {
		t.Errorf("the container differs from what the spec says (-want +got):\n%s", diff)
	}
	replicas, present := descend(t, deployment, "spec")["replicas"]
	if present != (app.Spec.Replicas != nil) || present && replicas != float64(*app.Spec.Replicas) {
		t.Errorf("replicas: %v, want %v", replicas, app.Spec.Replicas)
	}
	if (service != nil) != (app.Spec.Expose != "") {
		t.Errorf("a Service: %t, although spec.expose is %q", service != nil, app.Spec.Expose)
	}

	// Results are fresh: scribbling over all that one holds changes neither the next nor the Application.
	first, err := desired.Deployment(app)
	if err != nil {
		t.Fatal(err)
	}
	scribble(reflect.ValueOf(first))
	if service != nil {
		scribble(reflect.ValueOf(desired.Service(app)))
	}
	if !reflect.DeepEqual(before, app) {
		t.Errorf("the Application was changed (-before +after):\n%s", cmp.Diff(wire(t, before), wire(t, app)))
	}
	if diff := cmp.Diff(deployment, deploymentOf(t, app)); diff != "" {
		t.Errorf("the next Deployment differs (-first +next):\n%s", diff)
	}
	if diff := cmp.Diff(service, serviceOf(t, app)); diff != "" {
		t.Errorf("the next Service differs (-first +next):\n%s", diff)
	}
}

// expectedContainer says independently of the product what the container has to be: the spec's fields of the same
// names, as the API server stores them, without what is empty there or defaulted anyway.
func expectedContainer(t *testing.T, app *v1alpha1.Application) map[string]any {
	t.Helper()
	container := wire(t, app.Spec)
	for _, notOfTheContainer := range []string{"replicas", "port", "expose", "paused"} {
		delete(container, notOfTheContainer)
	}
	container["name"] = "app"
	if app.Spec.Port != nil {
		container["ports"] = []any{map[string]any{"name": "app", "containerPort": float64(*app.Spec.Port)}}
	}
	prune(container)
	completeAtomic(container)
	return container
}

// completeAtomic adds what the API server adds to the selectors that are owned as a whole.
func completeAtomic(container map[string]any) {
	env, _ := container["env"].([]any)
	for _, item := range env {
		source, _ := item.(map[string]any)["valueFrom"].(map[string]any)
		for selector, byDefault := range map[string]struct {
			field string
			value any
		}{"fieldRef": {"apiVersion", "v1"}, "resourceFieldRef": {"divisor", "0"}, "fileKeyRef": {"optional", false}} {
			ref, found := source[selector].(map[string]any)
			if _, set := ref[byDefault.field]; found && !set {
				ref[byDefault.field] = byDefault.value
			}
		}
	}
}

// prune removes from content what is empty and what the API server would default to just that value.
func prune(content map[string]any) {
	for name, v := range content {
		switch v := v.(type) {
		case nil:
			delete(content, name)
		case map[string]any:
			if prune(v); len(v) == 0 {
				delete(content, name)
			}
		case []any:
			for _, item := range v {
				if item, ok := item.(map[string]any); ok {
					prune(item)
				}
			}
			if len(v) == 0 {
				delete(content, name)
			}
		case string:
			if v == "" || name == "divisor" && v == "0" {
				delete(content, name)
			}
		case bool:
			if !v {
				delete(content, name)
			}
		}
	}
}

// noEmptyValues fails for each field without content. Only replicas means something when it is zero, and the selector of
// a file's key is owned as a whole, with its defaults. An item of a list
// of strings may be empty: it is an argument like any other.
func noEmptyValues(t *testing.T, path string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			here := path + "." + name
			if (child == nil || reflect.ValueOf(child).IsZero()) && here != "Deployment.spec.replicas" && !strings.HasSuffix(here, ".fileKeyRef.optional") {
				t.Errorf("%s is %#v: it should be absent", here, child)
			}
			switch child := child.(type) {
			case map[string]any:
				if len(child) == 0 {
					t.Errorf("%s is an empty map: it should be absent", here)
				}
			case []any:
				if len(child) == 0 {
					t.Errorf("%s is an empty list: it should be absent", here)
				}
			}
			noEmptyValues(t, here, child)
		}
	case []any:
		for i, item := range v {
			noEmptyValues(t, fmt.Sprintf("%s[%d]", path, i), item)
		}
	}
}

// canonicalQuantities fails for each quantity that the API server would write otherwise.
func canonicalQuantities(t *testing.T, container map[string]any) {
	t.Helper()
	var check func(path string, v any, inside bool)
	check = func(path string, v any, inside bool) {
		switch v := v.(type) {
		case map[string]any:
			for name, child := range v {
				quantity := name == "limits" || name == "requests" || name == "divisor"
				check(path+"."+name, child, inside || quantity)
			}
		case []any:
			for _, item := range v {
				check(path+"[]", item, false)
			}
		case string:
			if !inside {
				return
			}
			if q, err := resource.ParseQuantity(v); err != nil || q.String() != v {
				t.Errorf("%s is %q, not canonical (%v)", path, v, err)
			}
		}
	}
	check("container", container, false)
}

// scribble overwrites everything that can be reached from v.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				scribble(field)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
		v.SetMapIndex(reflect.ValueOf("scribble").Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	case reflect.String:
		v.SetString(strings.ToUpper(v.String()) + " scribbled over")
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	}
}
