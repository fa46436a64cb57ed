package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// seenTimeout is how long the operator may take to look at every Application once.
const seenTimeout = 2 * time.Minute

// Metric sums up all series of the named metrics of the running operator.
func (e *Environment) Metric(ctx context.Context, names ...string) (float64, error) {
	if e.operator == nil {
		return 0, errors.New("the operator does not run")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.metrics+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()

	sum, found := 0.0, false
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		for _, name := range names {
			if !strings.HasPrefix(series, name+"{") {
				continue
			}
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			sum += number
			found = true
		}
	}
	if !found {
		return 0, fmt.Errorf("the operator has no metric %s", strings.Join(names, " or "))
	}
	return sum, nil
}

// Reconciles returns how often the running operator has reconciled so far.
func (e *Environment) Reconciles(ctx context.Context) (float64, error) {
	return e.Metric(ctx, "controller_runtime_reconcile_total")
}

// Queued returns how many Applications the running operator is busy with or has still to look at.
func (e *Environment) Queued(ctx context.Context) (float64, error) {
	return e.Metric(ctx, "workqueue_depth", "controller_runtime_active_workers")
}

// AwaitEverythingSeen waits until an operator that has just been started has reconciled every Application.
func (e *Environment) AwaitEverythingSeen(ctx context.Context) error {
	applications := &v1alpha1.ApplicationList{}
	if err := e.Client.List(ctx, applications); err != nil {
		return err
	}
	var last error // there are no such metrics before the first reconcile
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, seenTimeout, true, func(ctx context.Context) (seen bool, _ error) {
		seen, last = e.everythingSeen(ctx, len(applications.Items))
		return seen, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to look at %d Applications: %w", len(applications.Items), errors.Join(err, last))
	}
	return nil
}

func (e *Environment) everythingSeen(ctx context.Context, applications int) (bool, error) {
	reconciles, err := e.Reconciles(ctx)
	if err != nil || reconciles < float64(applications) {
		return false, err
	}
	queued, err := e.Queued(ctx)
	return err == nil && queued == 0, err
}
