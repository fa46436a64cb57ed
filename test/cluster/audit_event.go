package cluster

import (
	"fmt"
	"net/url"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Event is one recorded request.
type Event struct {
	auditv1.Event
}

// Events are recorded requests, in the order they ended.
type Events []Event

// Query returns the query parameters of the request.
func (e Event) Query() url.Values {
	uri, err := url.ParseRequestURI(e.RequestURI)
	if err != nil {
		return nil
	}
	return uri.Query()
}

// FieldManager returns the field manager that the request named, if any.
func (e Event) FieldManager() string { return e.Query().Get("fieldManager") }

// Forced reports whether the request was a forced apply: to the API server, any value means that but false and 0.
func (e Event) Forced() bool {
	values := e.Query()["force"]
	return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
}

// Code returns the HTTP status code of the response, 0 for one that never came.
func (e Event) Code() int {
	if e.ResponseStatus == nil {
		return 0
	}
	return int(e.ResponseStatus.Code)
}

// RequestBody returns the body as JSON: an object, a patch or delete options. It
// is empty if the policy records none for this kind of request.
func (e Event) RequestBody() string {
	if e.RequestObject == nil {
		return ""
	}
	return string(e.RequestObject.Raw)
}

// ResponseBody returns the object or Status that was sent back, as RequestBody.
func (e Event) ResponseBody() string {
	if e.ResponseObject == nil {
		return ""
	}
	return string(e.ResponseObject.Raw)
}

// String is one line for failure messages: who asked for what, and what came.
func (e Event) String() string {
	line := fmt.Sprintf("%s %s %s by %s (%s): %d", e.RequestReceivedTimestamp.Format("15:04:05.000"),
		e.Verb, e.RequestURI, e.User.Username, e.UserAgent, e.Code())
	if body := e.RequestBody(); body != "" {
		line += " " + body
	}
	return line
}

// String lists the events, one a line.
func (es Events) String() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.String()
	}
	return strings.Join(lines, "\n")
}
