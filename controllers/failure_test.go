package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// failureCases has what the API server and the way to it can answer to the apply of a child.
var failureCases = []struct {
	name string
	err  error
	want failure
}{
	{"409, stale resourceVersion", staleVersion(), failurePassing},
	{"409, uid", uidMismatch(), failurePassing},
	{"409, exists", apierrors.NewAlreadyExists(deployments, "web"), failurePassing},
	{"429", apierrors.NewTooManyRequestsError("slow down"), failurePassing},
	{"429, from a proxy", answered(http.StatusTooManyRequests, "", "slow down"), failurePassing},
	{"503", apierrors.NewServiceUnavailable("the apiserver is shutting down"), failurePassing},
	{"502, from a proxy", answered(http.StatusBadGateway, "", "bad gateway"), failurePassing},
	{"504", apierrors.NewTimeoutError("etcd did not answer", 1), failurePassing},
	{"401", apierrors.NewUnauthorized("token expired"), failurePassing},
	{"connection refused", &url.Error{Op: "Patch", URL: "https://api", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}, failurePassing},
	{"connection lost", &url.Error{Op: "Patch", URL: "https://api", Err: io.ErrUnexpectedEOF}, failurePassing},
	{"no such host", &net.DNSError{Err: "no such host", Name: "api"}, failurePassing},
	{"deadline", fmt.Errorf("client rate limiter: %w", context.DeadlineExceeded), failurePassing},
	{"deadline, while the server answers", errors.Join(invalid(), context.DeadlineExceeded), failurePassing},
	{"cancelled", context.Canceled, failurePassing},
	{"unknown", errors.New("surprise"), failurePassing},

	{"500, webhook", webhookFailed(40522), failureServer},
	{"500, etcd", answered(http.StatusInternalServerError, "", "etcdserver: request timed out"), failureServer},

	{"422", invalid(), failureInvalid},
	{"400", apierrors.NewBadRequest("Deployment in version v1 cannot be handled as a Deployment"), failureInvalid},
	{"413", apierrors.NewRequestEntityTooLargeError("limit is 3145728"), failureInvalid},
	{"500, typed patch", untyped(), failureInvalid},
	{"does not fit the schema here", fmt.Errorf("%w: Deployment: duplicate", ownership.ErrInvalid), failureInvalid},

	{"403, RBAC", deniedByRBAC(), failureForbidden},
	{"403, quota", overQuota(), failureForbidden},
	{"403, webhook", answered(http.StatusForbidden, "", `admission webhook "check.example.com" denied the request: no`), failureForbidden},
	{"422, admission policy", deniedByAdmissionPolicy(), failureForbidden},

	{"403, namespace terminating", namespaceTerminating(), failureTerminating},
	{"404, no namespace", apierrors.NewNotFound(namespaces, "shop"), failureTerminating},
}

func TestClassify(t *testing.T) {
	for _, c := range failureCases {
		t.Run(c.name, func(t *testing.T) {
			for _, err := range []error{c.err, fmt.Errorf("applying: %w", c.err)} {
				if got := classify(err); got != c.want {
					t.Errorf("classify(%v) = %d, want %d", err, got, c.want)
				}
				// None of these is about ownership, though some are 409.
				if conflicts, is := ownership.FromErrorAndLive(err, nil, applier); is {
					t.Errorf("%v is taken for a field conflict: %v", err, conflicts)
				}
			}
		})
	}
	if _, is := ownership.FromErrorAndLive(fieldConflict(), nil, applier); !is {
		t.Error("a field conflict is not recognised")
	}
}

// TestFailed: what becomes of a child whose apply failed.
func TestFailed(t *testing.T) {
	for _, c := range failureCases {
		t.Run(c.name, func(t *testing.T) {
			got := (&childResult{kind: "Deployment", name: "web", conflicts: []ownership.Conflict{replicasConflict}}).failed(c.err)
			if len(got.conflicts) != 1 {
				t.Error("what is contested must be reported, whatever the API server says to the rest")
			}
			terminal := errors.Is(got.err, reconcile.TerminalError(nil))
			switch c.want {
			case failurePassing:
				if got.outcome != outcomeDeferred || !errors.Is(got.err, c.err) || terminal || got.message != "" {
					t.Errorf("got %+v, want the error and a retry, and nothing for users", got)
				}
				return
			case failureTerminating:
				if got.outcome != outcomeTerminating || got.err != nil {
					t.Errorf("got %+v, want neither error nor retry", got)
				}
				return
			case failureInvalid:
				if !terminal {
					t.Errorf("%v would be tried again, though only a change of the spec helps", got.err)
				}
			default:
				if terminal {
					t.Errorf("%v would not be tried again", got.err)
				}
			}
			if got.outcome != outcomeRejected || !errors.Is(got.err, c.err) {
				t.Errorf("got %+v, want a rejection with its error", got)
			}
			words, _, _ := strings.Cut(c.err.Error(), ": read tcp ") // see TestFailedMessageIsStable
			if !strings.Contains(got.message, "Deployment web") || !strings.Contains(got.message, words) {
				t.Errorf("message %q lacks the child or the server's words %q", got.message, words)
			}
		})
	}
}

func TestFailureReason(t *testing.T) {
	for f, want := range map[failure]string{
		failurePassing:     v1alpha1.ReasonApplyFailed,
		failureServer:      v1alpha1.ReasonApplyFailed,
		failureInvalid:     v1alpha1.ReasonInvalid,
		failureForbidden:   v1alpha1.ReasonForbidden,
		failureTerminating: v1alpha1.ReasonTerminating,
	} {
		if got := f.reason(); got != want {
			t.Errorf("%d: %s, want %s", f, got, want)
		}
	}
}

// TestServerWords: what was wrapped around them on the way says nothing to users.
func TestServerWords(t *testing.T) {
	if got, want := serverWords(fmt.Errorf("applying: %w", overQuota())), overQuota().Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := serverWords(answered(http.StatusInternalServerError, "", "")); got != answered(http.StatusInternalServerError, "", "").Error() {
		t.Errorf("an answer without words: %q", got)
	}
	if got := serverWords(errors.New("plain")); got != "plain" {
		t.Errorf("got %q", got)
	}
}

// TestFailedMessageIsStable: a condition that changes with each try is written with each try, and the event of that write
// brings on the next try at once, past the back-off.
func TestFailedMessageIsStable(t *testing.T) {
	once := (&childResult{kind: "Deployment", name: "web"}).failed(webhookFailed(40522))
	again := (&childResult{kind: "Deployment", name: "web"}).failed(webhookFailed(51877))
	if once.message != again.message {
		t.Errorf("the message changes with the source port of the connection:\n%s\n%s", once.message, again.message)
	}
	for _, part := range []string{"check.example.com", "connection reset by peer"} {
		if !strings.Contains(once.message, part) {
			t.Errorf("the message lacks %q: %s", part, once.message)
		}
	}
}

func TestRetryError(t *testing.T) {
	one, other := errors.New("one"), overQuota()
	for _, c := range []struct {
		name     string
		errs     []error
		terminal bool
		holds    []error
	}{
		{"none", []error{nil, nil}, false, nil},
		{"one passing", []error{one, nil}, false, []error{one}},
		{"two passing", []error{one, other}, false, []error{one, other}},
		{"one terminal", []error{nil, reconcile.TerminalError(one)}, true, []error{one}},
		{"two terminal", []error{reconcile.TerminalError(other), reconcile.TerminalError(one)}, true, []error{one, other}},
		{"terminal first", []error{reconcile.TerminalError(one), other}, false, []error{one, other}},
		{"terminal last", []error{other, reconcile.TerminalError(one)}, false, []error{one, other}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := retryError(&childResult{err: c.errs[0]}, &childResult{err: c.errs[1]})
			if (err == nil) != (len(c.holds) == 0) {
				t.Fatalf("got %v", err)
			}
			if got := errors.Is(err, reconcile.TerminalError(nil)); got != c.terminal {
				t.Errorf("terminal: %t, want %t", got, c.terminal)
			}
			for _, want := range c.holds {
				if !errors.Is(err, want) {
					t.Errorf("%v does not hold %v", err, want)
				}
				status := apierrors.APIStatus(nil)
				if errors.As(want, &status) && !errors.As(err, &status) {
					t.Errorf("%v does not show that it is an API status", err)
				}
			}
		})
	}
}
