package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// contract is what users, other controllers and live objects rely on. A change of a literal here breaks them: children
// get a stranger for an owner, selectors miss their pods, alerts and scripts wait for a word that never comes.
var contract = map[string]struct{ got, want string }{
	"GroupName": {v1alpha1.GroupName, "application.mycompany.io"},
	"Kind":      {v1alpha1.Kind, "Application"},
	"Resource":  {v1alpha1.Resource, "applications"},

	"FieldManager":          {v1alpha1.FieldManager, "application-operator"},
	"FieldManagerStatus":    {v1alpha1.FieldManagerStatus, "application-operator-status"},
	"FieldManagerHandover":  {v1alpha1.FieldManagerHandover, "application-operator-handover"},
	"FieldManagerFinalizer": {v1alpha1.FieldManagerFinalizer, "application-operator-finalizer"},
	"FieldManagerScope":     {v1alpha1.FieldManagerScope, "application-operator-scope"},

	// Two releases that disagree on it would both write.
	"LeaseName":       {v1alpha1.LeaseName, "application-operator.application.mycompany.io"},
	"AnnotationScope": {v1alpha1.AnnotationScope, "application.mycompany.io/scope"},

	"Finalizer":       {v1alpha1.Finalizer, "application.mycompany.io/orphan"},
	"AnnotationAdopt": {v1alpha1.AnnotationAdopt, "application.mycompany.io/adopt"},

	"LabelApp":        {v1alpha1.LabelApp, "app"},
	"LabelOwner":      {v1alpha1.LabelOwner, "owner"},
	"LabelOwnerValue": {v1alpha1.LabelOwnerValue, "application-operator"},
	"LabelName":       {v1alpha1.LabelName, "app.kubernetes.io/name"},
	"LabelInstance":   {v1alpha1.LabelInstance, "app.kubernetes.io/instance"},
	"LabelManagedBy":  {v1alpha1.LabelManagedBy, "app.kubernetes.io/managed-by"},

	"ContainerName": {v1alpha1.ContainerName, "app"},
	"PortName":      {v1alpha1.PortName, "app"},

	"ExposeClusterIP":    {string(v1alpha1.ExposeClusterIP), "ClusterIP"},
	"ExposeNodePort":     {string(v1alpha1.ExposeNodePort), "NodePort"},
	"ExposeLoadBalancer": {string(v1alpha1.ExposeLoadBalancer), "LoadBalancer"},

	"ConflictAbort":  {string(v1alpha1.ConflictAbort), "Abort"},
	"ConflictYield":  {string(v1alpha1.ConflictYield), "Yield"},
	"DeletionDelete": {string(v1alpha1.DeletionDelete), "Delete"},
	"DeletionOrphan": {string(v1alpha1.DeletionOrphan), "Orphan"},

	"PhasePending": {string(v1alpha1.PhasePending), "Pending"},
	"PhaseRunning": {string(v1alpha1.PhaseRunning), "Running"},
	"PhaseFailed":  {string(v1alpha1.PhaseFailed), "Failed"},

	"ConditionReady":     {v1alpha1.ConditionReady, "Ready"},
	"ConditionSynced":    {v1alpha1.ConditionSynced, "Synced"},
	"ConditionAvailable": {v1alpha1.ConditionAvailable, "Available"},
	"ConditionStalled":   {v1alpha1.ConditionStalled, "Stalled"},

	"ReasonSynced":                   {v1alpha1.ReasonSynced, "Synced"},
	"ReasonFieldConflict":            {v1alpha1.ReasonFieldConflict, "FieldConflict"},
	"ReasonFieldsYielded":            {v1alpha1.ReasonFieldsYielded, "FieldsYielded"},
	"ReasonFieldsMutated":            {v1alpha1.ReasonFieldsMutated, "FieldsMutated"},
	"ReasonOwnershipLost":            {v1alpha1.ReasonOwnershipLost, "OwnershipLost"},
	"ReasonStatusContested":          {v1alpha1.ReasonStatusContested, "StatusContested"},
	"ReasonResourceExists":           {v1alpha1.ReasonResourceExists, "ResourceExists"},
	"ReasonInvalid":                  {v1alpha1.ReasonInvalid, "Invalid"},
	"ReasonForbidden":                {v1alpha1.ReasonForbidden, "Forbidden"},
	"ReasonApplyFailed":              {v1alpha1.ReasonApplyFailed, "ApplyFailed"},
	"ReasonChildrenLost":             {v1alpha1.ReasonChildrenLost, "ChildrenLost"},
	"ReasonVersionDropped":           {v1alpha1.ReasonVersionDropped, "VersionDropped"},
	"ReasonTerminating":              {v1alpha1.ReasonTerminating, "Terminating"},
	"ReasonPaused":                   {v1alpha1.ReasonPaused, "Paused"},
	"ReasonRolledOut":                {v1alpha1.ReasonRolledOut, "RolledOut"},
	"ReasonProgressing":              {v1alpha1.ReasonProgressing, "Progressing"},
	"ReasonProgressDeadlineExceeded": {v1alpha1.ReasonProgressDeadlineExceeded, "ProgressDeadlineExceeded"},
	"ReasonReplicaFailure":           {v1alpha1.ReasonReplicaFailure, "ReplicaFailure"},
	"ReasonDeploymentMissing":        {v1alpha1.ReasonDeploymentMissing, "DeploymentMissing"},
	"ReasonDeploymentUnknown":        {v1alpha1.ReasonDeploymentUnknown, "DeploymentUnknown"},
	"ReasonAvailabilityUnknown":      {v1alpha1.ReasonAvailabilityUnknown, "AvailabilityUnknown"},
}

func TestContract(t *testing.T) {
	for name, c := range contract {
		if c.got != c.want {
			t.Errorf("%s is %q; the contract says %q", name, c.got, c.want)
		}
	}
}

// TestContractIsComplete: a constant that is not in the table could change unnoticed.
func TestContractIsComplete(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(maps.Keys(contract)), exportedConstants(t)); diff != "" {
		t.Errorf("constants of the package (-in the table +in the source):\n%s", diff)
	}
}

func TestSelectorLabels(t *testing.T) {
	labels := v1alpha1.SelectorLabels("web")
	if diff := cmp.Diff(map[string]string{"app": "web", "owner": "application-operator"}, labels); diff != "" {
		t.Errorf("selectors are immutable in a cluster, so these must stay (-want +got):\n%s", diff)
	}
	labels["app"] = "changed"
	if again := v1alpha1.SelectorLabels("web"); again["app"] != "web" {
		t.Error("the map is shared between callers")
	}
}

// TestJSONNames: these are what manifests, JSON paths and printer columns say.
func TestJSONNames(t *testing.T) {
	for _, c := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[v1alpha1.ApplicationSpec](), "image imagePullPolicy command args env envFrom resources livenessProbe readinessProbe startupProbe replicas port expose conflictPolicy deletionPolicy paused deployment service"},
		{reflect.TypeFor[v1alpha1.ApplicationStatus](), "observedGeneration phase message selector deploymentStatus serviceStatus conditions conflicts"},
		{reflect.TypeFor[v1alpha1.FieldConflict](), "kind name field manager operation subresource apiVersion"},
	} {
		var names []string
		for field := range c.of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			names = append(names, name)
		}
		if diff := cmp.Diff(strings.Fields(c.want), names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.of.Name(), diff)
		}
	}
}

func TestScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for kind, object := range map[string]runtime.Object{"Application": &v1alpha1.Application{}, "ApplicationList": &v1alpha1.ApplicationList{}} {
		kinds, _, err := scheme.ObjectKinds(object)
		if err != nil {
			t.Fatal(err)
		}
		if len(kinds) != 1 || kinds[0].String() != "application.mycompany.io/v1alpha1, Kind="+kind {
			t.Errorf("%T is known as %v", object, kinds)
		}
	}
}

// exportedConstants reads the names of the package's exported constants from its source, sorted.
func exportedConstants(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			constants, ok := declaration.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if name.IsExported() {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	slices.Sort(names)
	return names
}
