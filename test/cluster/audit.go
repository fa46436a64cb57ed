package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// AuditLog reads what kube-apiserver recorded about the requests it served.
//
// An event is in the log before its response is complete, so a test finds each
// request that a client call has returned from. A watch has two events, when it
// starts and when it ends. A crash of the API server may lose the events of
// requests that it was serving.
type AuditLog struct {
	path string
}

// Mark is a point in an audit log. The zero Mark is its beginning.
type Mark int64

// Audit returns the cluster's audit log. That of an existing cluster can't be
// read; its methods return an error.
func (c *Cluster) Audit() *AuditLog {
	if c.existing {
		return &AuditLog{}
	}
	return &AuditLog{path: c.layout.auditLog()}
}

// Mark returns the end of the log, for Since to start from. Requests that are
// being served just now may end up on either side of it.
func (l *AuditLog) Mark() (Mark, error) {
	if l.path == "" {
		return 0, errNoAuditLog
	}
	info, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // nothing was logged yet
	}
	if err != nil {
		return 0, fmt.Errorf("read the audit log: %w", err)
	}
	return Mark(info.Size()), nil
}

// Since returns the events after the mark that pass all filters, in the order
// they were recorded: by the end of the request, not its beginning.
func (l *AuditLog) Since(mark Mark, filters ...Filter) (Events, error) {
	if l.path == "" {
		return nil, errNoAuditLog
	}
	content, err := l.linesSince(mark)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	var events Events
	for line := range bytes.Lines(content) {
		if bytes.HasSuffix(line, cutOff) {
			continue
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("read the audit log: %w in line %q", err, line)
		}
		if e := (Event{event}); all(filters, e) {
			events = append(events, e)
		}
	}
	return events, nil
}

// All returns every event that passes all filters.
func (l *AuditLog) All(filters ...Filter) (Events, error) {
	return l.Since(0, filters...)
}

// linesSince returns the complete lines after the mark. The API server may be
// writing one while this reads, or while Mark looked.
func (l *AuditLog) linesSince(mark Mark) ([]byte, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()

	// One byte earlier, to see whether the mark is at the beginning of a line.
	from := max(0, int64(mark)-1)
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	if mark > 0 {
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	return content[:bytes.LastIndexByte(content, '\n')+1], nil
}

// cutOff ends a line that a crash of the API server left unfinished. A NUL can't
// be in JSON.
var cutOff = []byte("\x00\n")

// endCutLine makes the next event start a line of its own, whatever the API
// server that wrote the last one was in the middle of. None may be running.
func (l *AuditLog) endCutLine() error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	last := make([]byte, 1)
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size > 0 {
		_, err = f.ReadAt(last, size-1)
	}
	if err == nil && size > 0 && last[0] != '\n' {
		_, err = f.Write(cutOff)
	}
	return errors.Join(err, f.Close())
}

var errNoAuditLog = errors.New("the audit log of an existing cluster can't be read; start one of our own to use it")
