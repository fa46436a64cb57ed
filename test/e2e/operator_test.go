package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func startOperator(ctx context.Context) {
	GinkgoHelper()
	Expect(env.StartOperator(ctx)).To(Succeed())
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
	Expect(env.AwaitEverythingSeen(ctx)).To(Succeed())
}

func expectNothingQueued(ctx context.Context) {
	GinkgoHelper()
	Eventually(env.Queued).WithContext(ctx).Should(BeZero())
}

// reconciles is how often the running operator has reconciled so far.
func reconciles(ctx context.Context) (float64, error) {
	return env.Reconciles(ctx)
}
