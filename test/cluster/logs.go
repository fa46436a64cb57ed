package cluster

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailLines = 20
	tailBytes = 16 << 10
)

// LogTail returns the end of the process's log, indented, for an error message:
// the log itself may be gone by the time that someone reads the message.
func (p *Process) LogTail() string {
	tail, err := fileTail(p.log)
	switch {
	case err != nil:
		return fmt.Sprintf("  (its log can't be read: %v)", err)
	case tail == "":
		return "  (it printed nothing)"
	}
	return "  " + strings.ReplaceAll(tail, "\n", "\n  ")
}

func fileTail(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tailBytes), tailBytes))
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n"), nil
}
