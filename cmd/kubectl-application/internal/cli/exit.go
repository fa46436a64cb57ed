package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// Exit codes. Commands that answer a question by their exit code keep 1 for "yes, something was found", as diff does, and
// report trouble with 2.
const (
	ExitSuccess = 0
	ExitFound   = 1
	ExitFailure = 1
	ExitTrouble = 2
)

// ExitError ends the plugin with a code. Without Err nothing more is printed: the output has said it all.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Found ends a command that answers by its exit code with "yes".
func Found() error { return &ExitError{Code: ExitFound} }

const troubleAnnotation = "application.mycompany.io/answers-by-exit-code"

// AnswersByExitCode makes every error of the command, wrong flags included, end with ExitTrouble.
func AnswersByExitCode(command *cobra.Command) *cobra.Command {
	if command.Annotations == nil {
		command.Annotations = map[string]string{}
	}
	command.Annotations[troubleAnnotation] = ""
	return command
}

// ExitCode returns the code for what the command returned. The command may be nil if none was found.
func ExitCode(command *cobra.Command, err error) int {
	if err == nil {
		return ExitSuccess
	}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return exit.Code
	}
	if command != nil {
		if _, ok := command.Annotations[troubleAnnotation]; ok {
			return ExitTrouble
		}
	}
	return ExitFailure
}
