package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// metricsAddress is where the running operator serves its metrics.
var metricsAddress string

func startOperator(ctx context.Context) {
	GinkgoHelper()
	metricsAddress = freeAddress()
	Expect(env.StartOperator(ctx, "--metrics-bind-address="+metricsAddress)).To(Succeed())
}

// restartOperator stops the operator gracefully and starts it again, then waits until it has looked at everything.
func restartOperator(ctx context.Context) {
	GinkgoHelper()
	Expect(env.StopOperator()).To(Succeed())
	startOperator(ctx)
	expectEverythingSeen(ctx)
}

// expectEverythingSeen waits until an operator that has just been started has reconciled every Application.
func expectEverythingSeen(ctx context.Context) {
	GinkgoHelper()
	applications := &v1alpha1.ApplicationList{}
	Expect(env.Client.List(ctx, applications)).To(Succeed())
	Eventually(reconciles).WithContext(ctx).Should(BeNumerically(">=", len(applications.Items)))
	expectNothingQueued(ctx)
}

func expectNothingQueued(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) (float64, error) {
		return metric(ctx, "workqueue_depth", "controller_runtime_active_workers")
	}).WithContext(ctx).Should(BeZero())
}

// reconciles is how often the running operator has reconciled so far.
func reconciles(ctx context.Context) (float64, error) {
	return metric(ctx, "controller_runtime_reconcile_total")
}

// metric sums up all series of the named metrics of the operator.
func metric(ctx context.Context, names ...string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+metricsAddress+"/metrics", nil)
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

func freeAddress() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	return listener.Addr().String()
}
