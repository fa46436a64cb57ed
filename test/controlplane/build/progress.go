package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// reportInterval keeps the display alive without filling a log.
const reportInterval = 15 * time.Second

// progress turns the output of `go build -v`, one line for each compiled
// package, into a line every reportInterval. Anything else, such as a compile
// error or a download, passes through.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	total    int
	started  time.Time
	compiled int
	partial  []byte

	stop chan struct{}
	done chan struct{}
}

func newProgress(out io.Writer, total int) *progress {
	p := &progress{out: out, total: total, started: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
	go p.report()
	return p
}

// Write implements io.Writer.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partial = append(p.partial, b...)
	for {
		end := bytes.IndexByte(p.partial, '\n')
		if end < 0 {
			return len(b), nil
		}
		p.line(string(p.partial[:end]))
		p.partial = p.partial[end+1:]
	}
}

func (p *progress) line(line string) {
	if line != "" && !strings.HasPrefix(line, "#") && !strings.ContainsAny(line, " \t:") {
		p.compiled++
		return
	}
	fmt.Fprintln(p.out, line)
}

func (p *progress) report() {
	defer close(p.done)
	ticker := time.NewTicker(reportInterval)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.mu.Lock()
			fmt.Fprintf(p.out, "control plane: %4s  compiled %d packages of %d (the rest may be cached); linking comes last\n",
				time.Since(p.started).Round(time.Second), p.compiled, max(p.total, p.compiled))
			p.mu.Unlock()
		}
	}
}

// Close stops the display and passes on an unfinished line.
func (p *progress) Close() {
	close(p.stop)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.partial) > 0 {
		fmt.Fprintln(p.out, string(p.partial))
		p.partial = nil
	}
}
