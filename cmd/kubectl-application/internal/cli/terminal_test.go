package cli

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestTerminal(t *testing.T) {
	for _, test := range []struct {
		name   string
		env    map[string]string
		colour Colour
		want   Terminal
	}{
		{name: "no terminal", want: Terminal{}},
		{name: "columns", env: map[string]string{"COLUMNS": "90"}, want: Terminal{Width: 90}},
		{name: "senseless columns", env: map[string]string{"COLUMNS": "-1"}, want: Terminal{}},
		{name: "always", colour: ColourAlways, env: map[string]string{"NO_COLOR": "1"}, want: Terminal{Colour: true}},
		{name: "never", colour: ColourNever, want: Terminal{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("COLUMNS", "")
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			f := NewFactory(genericiooptions.NewTestIOStreamsDiscard())
			if test.colour != "" {
				f.Colour = test.colour
			}
			if got := f.Terminal(); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// On a terminal there are colours, unless the environment forbids them, and questions can be asked.
func TestTerminalOfItsOwn(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be had: %v", err)
	}
	defer terminal.Close()
	t.Setenv("COLUMNS", "")
	f := NewFactory(genericiooptions.IOStreams{In: terminal, Out: terminal, ErrOut: terminal})
	for _, test := range []struct {
		noColor, term string
		want          bool
	}{
		{term: "xterm", want: true},
		{term: "dumb"},
		{term: "xterm", noColor: "1"},
	} {
		t.Setenv("NO_COLOR", test.noColor)
		t.Setenv("TERM", test.term)
		if got := f.Terminal().Colour; got != test.want {
			t.Errorf("%+v: coloured: %v", test, got)
		}
	}
	if !f.Interactive() {
		t.Error("a terminal is said to have nobody before it")
	}
	f.In = nil
	if f.Interactive() {
		t.Error("nothing is said to be a terminal")
	}
}

func TestExitCode(t *testing.T) {
	plain := &cobra.Command{Use: "plain"}
	answers := AnswersByExitCode(&cobra.Command{Use: "answers"})
	failure := errors.New("failure")
	for _, test := range []struct {
		command *cobra.Command
		err     error
		want    int
	}{
		{command: plain, want: 0},
		{command: answers, want: 0},
		{command: plain, err: failure, want: 1},
		{command: answers, err: failure, want: 2},
		{command: answers, err: Found(), want: 1},
		{command: answers, err: fmt.Errorf("wrapped: %w", Found()), want: 1},
		{command: nil, err: failure, want: 1},
	} {
		if got := ExitCode(test.command, test.err); got != test.want {
			t.Errorf("%v of %v: %d, not %d", test.err, test.command, got, test.want)
		}
	}
	if Found().Error() != "" {
		t.Errorf("a found answer prints %q", Found())
	}
}

func TestObjectFlag(t *testing.T) {
	for _, name := range []string{"deployment", "service", "application", "status"} {
		var object Object
		if err := object.Set(name); err != nil || object.String() != name {
			t.Errorf("%s: %q, %v", name, object, err)
		}
	}
	var object Object
	if err := object.Set("pod"); err == nil || err.Error() != "must be one of deployment, service, application, status" {
		t.Errorf("pod: %v", err)
	}
}
