package oracle

import (
	"encoding/json"
	"sync"
	"time"

	"mycompany.io/application-operator/test/cluster"
	"mycompany.io/application-operator/test/harness"
)

// request is one request of the operator, as the audit log tells it.
type request struct {
	event    cluster.Event
	resource string
	code     int
	// number and uid are those of the answer, of a write that succeeded.
	number uint64
	uid    string
	// received and answered frame the time at which the API server acted.
	received, answered time.Time
}

func (r *request) String() string { return r.event.String() }

// requests follows the audit log and sorts the operator's requests by namespace. Watches and Leases are left out, as
// they go on at rest.
type requests struct {
	log *cluster.AuditLog

	mu          sync.Mutex
	mark        cluster.Mark
	seen        map[string]bool
	byNamespace map[string][]*request
}

func newRequests(log *cluster.AuditLog) *requests {
	return &requests{log: log, seen: map[string]bool{}, byNamespace: map[string][]*request{}}
}

var ofOperator = []cluster.Filter{
	cluster.ByUser(harness.OperatorUser),
	cluster.Complete(),
	cluster.Except(cluster.WithVerb("watch")),
	cluster.Except(cluster.OnResource("leases")),
}

// in returns the operator's requests in a namespace so far.
func (r *requests) in(namespace string) ([]*request, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.byNamespace[namespace], nil
}

func (r *requests) read() error {
	end, err := r.log.Mark()
	if err != nil || end == r.mark {
		return err
	}
	events, err := r.log.Since(r.mark, ofOperator...)
	if err != nil {
		return err
	}
	r.mark = end
	for _, event := range events {
		// What is being written while the mark is taken is read twice.
		if id := string(event.AuditID); event.ObjectRef != nil && !r.seen[id] {
			r.seen[id] = true
			namespace := event.ObjectRef.Namespace
			r.byNamespace[namespace] = append(r.byNamespace[namespace], newRequest(event))
		}
	}
	return nil
}

// forget drops what is known of a namespace.
func (r *requests) forget(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byNamespace, namespace)
}

func newRequest(event cluster.Event) *request {
	r := &request{
		event:    event,
		resource: event.ObjectRef.Resource,
		code:     event.Code(),
		received: event.RequestReceivedTimestamp.Time,
		answered: event.StageTimestamp.Time,
	}
	var answer struct {
		Metadata struct{ ResourceVersion, UID string }
	}
	if event.ResponseObject != nil && json.Unmarshal(event.ResponseObject.Raw, &answer) == nil && answer.Metadata.ResourceVersion != "" {
		r.number, r.uid = number(answer.Metadata.ResourceVersion), answer.Metadata.UID
	}
	return r
}

// writes reports whether a request may have changed a child.
func (r *request) writes() bool {
	switch r.event.Verb {
	case "patch", "create", "update", "delete", "deletecollection":
		return r.code/100 == 2
	default:
		return false
	}
}
