package main

import (
	"context"
	"fmt"
	"strings"
)

const (
	// waitLimit bounds each wait; a ready cluster needs a second or two.
	waitLimit = "--timeout=3m"

	namespaceFlag = "--namespace=" + sampleNamespace
	application   = "application/" + sampleName
	deployment    = "deployment/" + sampleName

	managersPath  = `-o=jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} {.subresource}{"\n"}    {.fieldsV1}{"\n"}{end}`
	conflictsPath = `-o=jsonpath={range .status.conflicts[*]}{.kind} {.name}: {.field} belongs to {.manager} ({.operation} {.subresource}){"\n"}{end}`
	syncedPath    = `-o=jsonpath={.status.conditions[?(@.type=="Synced")]}`
	replicasPath  = `-o=jsonpath={.spec.replicas}`
)

func showDeployment(ctx context.Context, t *terminal, i *installation) error {
	t.say("1. An Application becomes a Deployment and a Service.")
	if err := i.applySamples(ctx, t); err != nil {
		return err
	}
	return t.all(ctx,
		[]string{namespaceFlag, "wait", application, "--for=condition=Ready", waitLimit},
		[]string{namespaceFlag, "rollout", "status", deployment, waitLimit},
		[]string{namespaceFlag, "get", "application,deployment,service,pods"},
	)
}

func showOwnership(ctx context.Context, t *terminal, _ *installation) error {
	t.say("2. The operator owns only the fields that it applied, and says so.")
	managers, err := t.kubectl(ctx, namespaceFlag, "get", deployment, "--show-managed-fields", managersPath)
	if err != nil {
		return err
	}
	return expectContains(managers, "application-operator Apply")
}

func showConflict(ctx context.Context, t *terminal, _ *installation) error {
	t.say("3. Someone scales the Deployment. The operator leaves it at that and names the conflict.")
	if err := t.all(ctx,
		[]string{namespaceFlag, "scale", deployment, "--replicas=5"},
		[]string{namespaceFlag, "wait", application, "--for=condition=Synced=False", waitLimit},
		[]string{namespaceFlag, "get", application},
	); err != nil {
		return err
	}
	synced, err := t.kubectl(ctx, namespaceFlag, "get", application, syncedPath)
	if err != nil {
		return err
	}
	conflicts, err := t.kubectl(ctx, namespaceFlag, "get", application, conflictsPath)
	if err != nil {
		return err
	}
	live, err := t.kubectl(ctx, namespaceFlag, "get", deployment, replicasPath)
	if err != nil {
		return err
	}
	if err := expectContains(synced, "FieldConflict"); err != nil {
		return err
	}
	if err := expectContains(conflicts, "spec.replicas belongs to kubectl (Update scale)"); err != nil {
		return err
	}
	return expectEqual("replicas of the Deployment", live, "5")
}

func showResolution(ctx context.Context, t *terminal, _ *installation) error {
	t.say("4. The Application agrees to that number, so nothing is contested any more.")
	if err := t.all(ctx,
		[]string{namespaceFlag, "patch", application, "--type=merge", `--patch={"spec":{"replicas":5}}`},
		[]string{namespaceFlag, "wait", application, "--for=condition=Ready", waitLimit},
		[]string{namespaceFlag, "get", "application,deployment,service,pods"},
	); err != nil {
		return err
	}
	conflicts, err := t.kubectl(ctx, namespaceFlag, "get", application, conflictsPath)
	if err != nil {
		return err
	}
	live, err := t.kubectl(ctx, namespaceFlag, "get", deployment, replicasPath)
	if err != nil {
		return err
	}
	if err := expectEqual("conflicts of the Application", conflicts, ""); err != nil {
		return err
	}
	return expectEqual("replicas of the Deployment", live, "5")
}

func expectEqual(what, got, want string) error {
	if got != want {
		return fmt.Errorf("%s: got %q, want %q", what, got, want)
	}
	return nil
}

func expectContains(got, want string) error {
	if !strings.Contains(got, want) {
		return fmt.Errorf("the output above should contain %q", want)
	}
	return nil
}
