package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errNotLeading is returned for a write that a process may not send any more: another may lead by now.
var errNotLeading = errors.New("not sent: the Lease was not renewed in time, so another replica may lead by now")

// fence lets writes through only while the Lease is known to be held. Leader election ends a process that has lost its Lease,
// but not before that process runs again: one that was frozen, or whose machine slept, would first go on with what it was
// doing. So each write looks at the time itself.
type fence struct {
	lease client.ObjectKey
	// valid is how long after the begin of a renewal its Lease is certainly held. It is shorter than the Lease, which leaves
	// time for the write to arrive.
	valid time.Duration
	now   func() instant

	mu       sync.Mutex
	renewed  *instant // nil: never
	released bool     // the Lease was given up, which only a process that ends does
}

// instant is a point in time on two clocks: the wall clock may be set, and the monotonic one may stop while the machine sleeps.
type instant struct {
	wall      time.Time
	monotonic time.Duration
}

// since returns the longer of the times that have passed on the two clocks.
func (i instant) since(earlier instant) time.Duration {
	return max(i.wall.Sub(earlier.wall), i.monotonic-earlier.monotonic)
}

func newFence(lease client.ObjectKey, valid time.Duration) *fence {
	start := time.Now()
	return &fence{lease: lease, valid: valid, now: func() instant {
		now := time.Now()
		return instant{wall: now.Round(0), monotonic: now.Sub(start)}
	}}
}

// open reports whether a write may be sent now.
func (f *fence) open() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.released && f.renewed != nil && f.now().since(*f.renewed) < f.valid
}

// observeRenewals returns the configuration for leader election alone, by whose requests the fence learns of renewals. Leader
// election sends its Events with it, too: these say nothing about who holds the Lease.
func (f *fence) observeRenewals(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeJSON // the fence reads what is sent
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			holder, written := f.holderIn(request)
			if written && holder == "" {
				f.release() // before it arrives: another replica may lead from then on, whatever the answer
			}
			begin := f.now()
			response, err := next.RoundTrip(request)
			if err == nil && holder != "" && response.StatusCode < http.StatusMultipleChoices {
				f.renew(begin)
			}
			return response, err
		})
	})
	return config
}

func (f *fence) renew(begin instant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renewed = &begin
}

func (f *fence) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released = true
}

// holderIn returns the holder that a request writes to the Lease. Other requests write none.
func (f *fence) holderIn(request *http.Request) (holder string, written bool) {
	collection := "/apis/coordination.k8s.io/v1/namespaces/" + f.lease.Namespace + "/leases"
	switch request.Method {
	case http.MethodPost:
		written = strings.HasSuffix(request.URL.Path, collection)
	case http.MethodPut:
		written = strings.HasSuffix(request.URL.Path, collection+"/"+f.lease.Name)
	}
	if !written || request.GetBody == nil {
		return "", false
	}
	body, err := request.GetBody()
	if err != nil {
		return "", false
	}
	defer body.Close()
	lease := &coordinationv1.Lease{}
	if err := json.NewDecoder(body).Decode(lease); err != nil || lease.Name != f.lease.Name {
		return "", false
	}
	return ptr.Deref(lease.Spec.HolderIdentity, ""), true
}

// newClient makes clients whose writes pass the fence. It implements client.NewClientFunc.
func (f *fence) newClient(config *rest.Config, options client.Options) (client.Client, error) {
	if options.HTTPClient == nil {
		httpClient, err := rest.HTTPClientFor(config)
		if err != nil {
			return nil, err
		}
		options.HTTPClient = httpClient
	}
	fenced := *options.HTTPClient
	next := fenced.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	fenced.Transport = roundTripper(func(request *http.Request) (*http.Response, error) {
		if isWrite(request) && !f.open() {
			return nil, errNotLeading
		}
		return next.RoundTrip(request)
	})
	options.HTTPClient = &fenced
	return client.New(config, options)
}

func isWrite(request *http.Request) bool {
	return request.Method != http.MethodGet && request.Method != http.MethodHead
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
